"""Battles: two answers or two rankings side by side, votes on which is better, and strengths."""

from evaluation.battles.boards import BattleBoard, make_board
from evaluation.battles.drawing import DrawnPair, draw_pair, weigh_by_information
from evaluation.battles.strengths import Effect, Strengths, fit_strengths
from evaluation.battles.voters import SideVoter, find_side_voters
from evaluation.battles.votes import CHOICES, KINDS, Choice, Games, Kind, Vote, count_games

__all__ = [
    "CHOICES",
    "KINDS",
    "BattleBoard",
    "Choice",
    "DrawnPair",
    "Effect",
    "Games",
    "Kind",
    "SideVoter",
    "Strengths",
    "Vote",
    "count_games",
    "draw_pair",
    "find_side_voters",
    "fit_strengths",
    "make_board",
    "weigh_by_information",
]
