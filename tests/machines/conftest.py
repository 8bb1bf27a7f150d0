"""The pool and the assessment of the tests of assessments, for files ready for prompting."""

from tests.assessments.conftest import assessment, dan, pool, unjudged_track

__all__ = ["assessment", "dan", "pool", "unjudged_track"]
