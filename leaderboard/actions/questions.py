"""Ask the organisers of a benchmark, and answer."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from leaderboard.actions.refusals import ActionError
from leaderboard.models import AuditEvent, Benchmark, Question, User
from leaderboard.notifications import notices

MOST_A_DAY = 10


@transaction.atomic
def ask(benchmark: Benchmark, user: User, text: str, is_public: bool) -> Question:
    """Ask the organisers, who get a notice. Raises ActionError beyond ten questions in a day."""
    # Two at once would both be the tenth.
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    since = timezone.now() - timedelta(days=1)
    if Question.objects.filter(user=user, asked_at__gt=since).count() >= MOST_A_DAY:
        raise ActionError(f"You asked {MOST_A_DAY} questions in 24 hours. Ask again tomorrow.")
    asked = benchmark.questions.create(user=user, text=text, is_public=is_public)
    notices.notify_asked(asked)
    return asked


@transaction.atomic
def answer(question: Question, organiser: User, text: str, is_frequent: bool) -> None:
    """Answer a question or replace its answer; who asked gets a notice of the first one.

    Raises ActionError if a question to the organisers alone would be shown to everyone.
    """
    if is_frequent and not question.is_public:
        raise ActionError("This was asked of the organisers alone, so it cannot be listed.")
    is_first = not question.answer
    question.answer, question.is_frequent = text, is_frequent
    question.answered_by, question.answered_at = organiser, timezone.now()
    question.save(update_fields=["answer", "is_frequent", "answered_by", "answered_at"])
    AuditEvent.objects.record(organiser, "answer", question)
    if is_first:
        notices.notify_answered(question)
