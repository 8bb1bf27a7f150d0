"""The pool and the assessment of the tests of assessments, for files ready for prompting."""

from tests.assessments.conftest import assessment, pool, unjudged_track

__all__ = ["assessment", "pool", "unjudged_track"]
