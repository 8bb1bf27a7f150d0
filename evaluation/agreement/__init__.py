"""Agreement: of orders of runs, of measures or of documents, and of the grades of assessors."""

from evaluation.agreement.assessors import (
    LEVELS,
    STATISTICS,
    WEIGHTS,
    Agreement,
    agreement_of_assessors,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    overlap,
    specific_agreement,
)
from evaluation.agreement.bootstrap import Estimate
from evaluation.agreement.mixtures import MIXTURES, RankRanges, mix_judges, summarise_mixtures
from evaluation.agreement.opinions import GradeAgreement, OpinionPairs, count_opinions
from evaluation.agreement.orders import (
    BoardAgreement,
    VerdictChanges,
    compare_boards,
    kendall_tau,
    kendall_tau_b,
    ranks,
    rbo,
    tau_ap,
    tau_ap_matrix,
    tau_matrix,
    top_tau_b,
    verdict_changes,
)

__all__ = [
    "LEVELS",
    "MIXTURES",
    "STATISTICS",
    "WEIGHTS",
    "Agreement",
    "BoardAgreement",
    "Estimate",
    "GradeAgreement",
    "OpinionPairs",
    "RankRanges",
    "VerdictChanges",
    "agreement_of_assessors",
    "cohen_kappa",
    "compare_boards",
    "count_opinions",
    "fleiss_kappa",
    "kendall_tau",
    "kendall_tau_b",
    "krippendorff_alpha",
    "mix_judges",
    "overlap",
    "ranks",
    "rbo",
    "specific_agreement",
    "summarise_mixtures",
    "tau_ap",
    "tau_ap_matrix",
    "tau_matrix",
    "top_tau_b",
    "verdict_changes",
]
