"""The client reads what the contract of the API promises, and nothing else."""

from __future__ import annotations

from dataclasses import fields

import pytest

from evaluation.problems import Problem
from rankfield import answers
from tests.client.conftest import schema_of

READ = {
    answers.Track: "TrackOut",
    answers.AnswerSettings: "TrackOut",
    answers.Pool: "PoolOut",
    answers.Assessment: "AssessmentOut",
    answers.Disagreement: "DisagreementOut",
    answers.Registration: "RegistrationRules",
    answers.Run: "RunOut",
    answers.PreviousBest: "VerdictOut",
    answers.MainBranch: "MainOut",
    answers.Benchmark: "BenchmarkOut",
    answers.Receipt: "SystemReceipt",
    answers.Version: "VersionOut",
    answers.VersionRun: "VersionRunOut",
    answers.VersionVerdict: "VersionVerdictOut",
    answers.BenchmarkVerdict: "BenchmarkVerdictOut",
    answers.TrackVerdict: "TrackVerdictOut",
    answers.Board: "BoardOut",
    answers.Standing: "StandingOut",
    answers.Comparison: "ComparisonOut",
    answers.GateAnswer: "GateOut",
    answers.TopicMove: "MovedTopicOut",
    answers.TopicPair: "TopicPairOut",
    answers.TopicScore: "TopicScoreOut",
    Problem: "ProblemOut",
}


@pytest.mark.parametrize(("kind", "schema"), READ.items(), ids=READ.values())
def test_every_field_that_is_read_is_promised(db, kind, schema):
    names = {field.name for field in fields(kind)}
    assert names <= schema_of(schema)["properties"].keys()
