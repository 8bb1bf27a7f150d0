"""Endpoints for runs: submit, poll and read scores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated, Any

from django.http import FileResponse, Http404, HttpRequest, StreamingHttpResponse
from django.urls import reverse
from ninja import File, Form, Header, Query, Router, Status, UploadedFile

from evaluation.answers.any_measure import parse_measure
from evaluation.answers.runs import Answer
from evaluation.measures import MeasureError
from leaderboard.actions import runs as run_actions
from leaderboard.actions import submissions
from leaderboard.actions.partial_uploads import finish_uploads, open_upload
from leaderboard.actions.submissions import RunDetails
from leaderboard.analysis import RunPair, read_scores
from leaderboard.analysis.history import compare_with_main_branch, compare_with_previous_best
from leaderboard.analysis.origins import score_command
from leaderboard.analysis.runs import build_run_breakdown
from leaderboard.analysis.topic_choice import choose_topics
from leaderboard.analysis.topic_groups import TopicGroups, describe_part
from leaderboard.api.auth import PUBLIC, SUBMIT, SUBMIT_RUN, viewer
from leaderboard.api.errors import field_error, permission_error
from leaderboard.api.fields import Key, Label, only_file, refuse_truncated_body
from leaderboard.api.listing import page_newest_first
from leaderboard.api.schemas import (
    AnswerOut,
    Paging,
    RepairIn,
    RunIn,
    RunList,
    RunOut,
    RunPatch,
    RunReceipt,
    TopicFieldsIn,
    TopicGroupsOut,
    TopicScoresOut,
    Withdrawal,
    response_schemas,
)
from leaderboard.api.uploads import find_uploads
from leaderboard.boards import receipts
from leaderboard.boards.disclosure import Sight, VisibleRun, run_or_404, track_or_404
from leaderboard.boards.receipts import Receipt
from leaderboard.boards.standings import BoardChoice, find_visible_board_with, name_of_test
from leaderboard.infrastructure.downloads import stored_file
from leaderboard.infrastructure.request_slots import received_at
from leaderboard.models import Edition, Run, Score, Team, Track
from leaderboard.models.people import team_key
from leaderboard.runs.answers import load_answer
from leaderboard.runs.fact_changes import change_description, change_facts
from leaderboard.runs.facts import OF_COMMITS, all_facts
from leaderboard.scoring.families import match_measure
from leaderboard.scoring.judgments import resolve_measure
from leaderboard.scoring.kinds import kind_of

router = Router(tags=["runs"])

# The fields of a test of two runs.
TEST_FIELDS = (
    *("difference", "low", "high", "p", "p_adjusted", "effect_size"),
    *("changed", "wins", "losses", "ties"),
)


@router.post(
    "/tracks/{slug:slug}/runs",
    auth=SUBMIT_RUN,
    response=response_schemas(RunReceipt, 201, 200),
    exclude_unset=True,
)
def create_run(
    request: HttpRequest,
    slug: str,
    form: Form[RunIn],
    idempotency_key: Annotated[Key, Header("", alias="Idempotency-Key")],
    file: File[UploadedFile | None] = None,
) -> Status[dict[str, Any]]:
    """Submit a run: plain, .gz, or a .zip of one file. Returns 201; a worker then reads it.

    Send it as `file`, or in pieces and then name its `upload`.

    The same file again, or the same `Idempotency-Key` within a day, returns the same run with
    200, even after the deadline. `message` then names who uploaded it first, and when.
    `fix` repairs the file while it is read: see `fix` of a problem. `replaces` names a run of
    your team, which is withdrawn once this one has passed its checks; the quota counts both once.
    """
    user = viewer(request)
    sight = track_or_404(user, slug)
    with open_run_file(request, form.upload) as sent:
        accepted = submissions.accept_run(
            sight.track,
            user,
            sent,
            run_details(sight.track, form, idempotency_key),
            team=find_team(request, sight, form.team),
            received_at=received_at(request),
        )
    receipt = serialise_receipt(sight, accepted.run)
    if accepted.is_new:
        return Status(201, receipt)
    return Status(200, receipt | {"message": accepted.repeated_by(user)})


@contextmanager
def open_run_file(request: HttpRequest, upload_id: str) -> Iterator[UploadedFile]:
    """Open the file of a form, or the upload that the form names instead."""
    file = only_file(request, "file")
    if (file is None) == (not upload_id):
        raise field_error("file", "is missing" if file is None else "goes without an upload")
    refuse_truncated_body(request)
    if file is not None:
        yield file
        return
    [upload] = find_uploads(request, "upload", [upload_id])
    with open_upload(upload) as joined:
        yield joined
    finish_uploads([upload])


def run_details(track: Track, form: RunIn, key: str) -> RunDetails:
    accepted = kind_of(track).formats_of(track)
    if form.format and form.format not in accepted:
        raise field_error("format", f"is one of {', '.join(accepted)}", form.format)
    return RunDetails(
        tag=form.tag,
        format=form.format,
        description=form.description,
        facts=form.facts | {name: said for name in OF_COMMITS if (said := getattr(form, name))},
        idempotency_key=key,
        fixes=form.fix,
        replaces=form.replaces,
    )


def find_team(request: HttpRequest, sight: Sight, name: str) -> Team | None:
    """Return the team for which an organiser submits a run; for others the field is ignored."""
    if not name or not sight.is_organiser or not request.auth.has_scope("organise"):
        return None
    team = sight.track.benchmark.teams.filter(key=team_key(name)).first()
    if team is None:
        raise field_error("team", "is not a team of this track", name)
    return team


@router.get(
    "/tracks/{slug:slug}/runs", auth=PUBLIC, response=response_schemas(RunList), exclude_unset=True
)
def list_runs(request: HttpRequest, slug: str, paging: Query[Paging]) -> dict[str, Any]:
    """List the runs you can see in a track, newest first."""
    sight = track_or_404(viewer(request), slug)
    page = page_newest_first(sight.with_arrival(sight.runs()), paging)
    runs = [sight.with_shown_name(run) for run in page.items]
    means = read_means(sight, runs)
    seen = receipts.build_receipts(sight, runs)
    return {"items": [serialise_run(sight, receipt, means) for receipt in seen], "next": page.next}


@router.get(
    "/runs/{slug:run_id}", auth=PUBLIC, response=response_schemas(RunOut), exclude_unset=True
)
def get_run(request: HttpRequest, run_id: str) -> dict[str, Any]:
    seen = run_or_404(viewer(request), run_id)
    receipt = receipts.build_receipt(seen.sight, seen.run)
    answer = serialise_run(seen.sight, receipt, read_means(seen.sight, [seen.run]))
    if seen.sight.is_organiser:
        answer["same_rankings"] = receipts.find_twins_of_other_teams(seen.sight, seen.run)
    if not seen.sight.can_see_scores_of(seen.run):
        return answer
    return answer | serialise_verdict(seen) | serialise_main(seen)


def serialise_main(seen: VisibleRun) -> dict[str, Any]:
    """Compare a run with the main branch of its team, on tracks that have one."""
    sight, edition = seen.sight, seen.sight.edition
    if edition is None or not sight.track.benchmark.main_branch:
        return {}
    edition.track = sight.track
    found = compare_with_main_branch(sight, seen.run, edition, sight.primary_measure)
    return {"main": found}


def serialise_verdict(seen: VisibleRun) -> dict[str, Any]:
    """Compare a run with its team's previous best."""
    pair = compare_with_previous_best(seen.sight, seen.run)
    if pair is None:
        return {"verdict": None}
    return {
        "verdict": {
            "previous": pair.a.pk,
            "previous_tag": pair.a.tag,
            **serialise_test(seen.sight, pair),
        }
    }


def serialise_test(sight: Sight, pair: RunPair) -> dict[str, Any]:
    test = name_of_test(sight.track, pair.question)
    said = {"measure": pair.measure, "family": pair.question, "test": test}
    said |= {"verdict": pair.verdict or None, "unit": pair.against.unit}
    return said | {name: getattr(pair.against, name) for name in TEST_FIELDS}


Means = dict[str, dict[str, float | None]]


def read_means(sight: Sight, runs: list[Run]) -> Means:
    """Return the visible mean scores by measure."""
    scored = [run.pk for run in runs if sight.can_see_means_of(run)]
    rows = Score.objects.filter(score_set__edition=sight.shown_edition, score_set__run__in=scored)
    means: Means = {run_id: dict.fromkeys(sight.track.measures) for run_id in scored}
    for run_id, measure, mean in rows.values_list("score_set__run_id", "measure", "mean"):
        if measure in means[run_id]:
            means[run_id][measure] = sight.round_mean(measure, mean)
    return means


def serialise_receipt(sight: Sight, run: Run) -> dict[str, Any]:
    return {
        "id": run.pk,
        "state": sight.state_of(run),
        "done": sight.is_finished(run),
        "url": reverse("api-1:get_run", args=[run.pk]),
    }


def serialise_run(sight: Sight, receipt: Receipt, means: Means) -> dict[str, Any]:
    """Serialise a run for this viewer; only team and organisers see its progress and facts."""
    run = receipt.run
    answer = {
        **serialise_receipt(sight, run),
        "tag": run.tag,
        "team": run.team.name,
        "received_at": run.received_at,
        "late": run.is_late,
        "topics": {"answered": run.num_answered if run.checked_at else None},
    }
    if run.pk in means and sight.shown_edition is not None:
        answer["scores"] = means[run.pk]
        answer["topics"]["judged"] = sight.shown_edition.num_evaluated
    if sight.can_see_file(run):
        answer |= serialise_progress(receipt)
        answer["description"] = run.description
        answer["format"] = run.format
        answer["metadata"] = run.metadata
        answer["fixes"] = run.fixes
    if sight.can_see_file(run) or run.pk in means:
        answer["facts"] = all_facts(run)
        answer["provenance"] = provenance_of(sight, run)
    return answer


def serialise_progress(receipt: Receipt) -> dict[str, Any]:
    """Get a run's state and problems."""
    run = receipt.run
    return {
        "attempts": receipt.attempts,
        "queue_position": receipt.queue_position,
        "reason": run.reason,
        "withdrawn_at": run.withdrawn_at,
        "withdrawn_reason": run.withdrawn_reason,
        **({"replaces": run.replaces_id} if run.replaces_id else {}),
        "problems": run.problems,
        "problem_totals": run.problem_totals,
        "problems_url": reverse("api-1:get_problems", args=[run.pk]),
    }


def provenance_of(sight: Sight, run: Run) -> dict[str, Any]:
    """Return the file for team and organisers, and judgments and edition if scores are visible."""
    provenance: dict[str, Any] = {"sha256": run.sha256} if run.sha256 else {}
    if sight.can_see_file(run):
        provenance |= {
            "filename": run.filename,
            "size": run.size,
            "submitted_by": run.submitted_by.username,
            "checked_at": run.checked_at,
        }
    edition = sight.shown_edition
    if edition is not None and sight.can_see_means_of(run):
        provenance |= describe_edition(edition, sight, run)
    return provenance


def describe_edition(edition: Edition, sight: Sight, run: Run) -> dict[str, Any]:
    track, shown = sight.track, sight.with_shown_name(run)
    measures = {text: str(resolve_measure(track, text)) for text in track.measures}
    return {
        "edition": str(edition.pk),
        "judgments": edition.judgment_set.version,
        "judged_by": sight.who_judged.text or None,
        "convention": edition.convention,
        "scoring_version": edition.scoring_version,
        "relevance_threshold": track.relevance_threshold,
        "depth": track.depth,
        "top_grade": edition.judgment_set.top_grade,
        "measures": measures,
        "command": score_command(edition, list(measures.values()), [shown]) or None,
    }


@router.get("/runs/{slug:run_id}/topics", auth=PUBLIC, response=response_schemas(TopicScoresOut))
def get_topics(
    request: HttpRequest, run_id: str, fields: Query[TopicFieldsIn], measure: Label = ""
) -> dict[str, Any]:
    """List scores by topic. Null means the measure is undefined."""
    seen = run_or_404(viewer(request), run_id)
    edition = seen.sight.edition
    if edition is None or not seen.sight.can_see_scores_of(seen.run):
        raise Http404("no scores to see")
    measure = find_measure(seen.sight, measure)
    edition.track = seen.sight.track
    scores = read_scores(edition, measure, [seen.run])
    chosen = choose_topics(edition.track.collection, fields.wanted)
    values = zip(scores.topics, scores.of(seen.run), strict=True)
    topics = [
        {"number": topic.number, "score": score} for topic, score in values if chosen.has(topic)
    ]
    return {"measure": measure, "topics": topics}


@router.get("/runs/{slug:run_id}/groups", auth=PUBLIC, response=response_schemas(TopicGroupsOut))
def get_topic_groups(
    request: HttpRequest, run_id: str, fields: Query[TopicFieldsIn], measure: Label = ""
) -> dict[str, Any]:
    """List scores by group of topics and by depth of turn; empty where topics have no groups."""
    seen = run_or_404(viewer(request), run_id)
    if not seen.sight.can_see_scores:
        raise Http404("no scores to see")
    measure = find_measure(seen.sight, measure)
    board = find_visible_board_with(seen.sight, BoardChoice(measure=measure), seen.run.pk)
    if board is None or board.standing_of(seen.run) is None:
        raise Http404("no scores to see")
    chosen = choose_topics(seen.sight.track.collection, fields.wanted)
    found = TopicGroups(build_run_breakdown(board, seen.run).of(chosen))
    return {
        "measure": measure,
        "groups": [describe_part(part) for part in found.groups],
        "depths": [describe_part(part) for part in found.depths],
    }


@router.get("/runs/{slug:run_id}/answer", auth=PUBLIC, response=response_schemas(AnswerOut))
def get_answer(request: HttpRequest, run_id: str, topic: Label) -> dict[str, Any]:
    """Read the answer of a run to a topic, once you may see its scores by topic."""
    seen = run_or_404(viewer(request), run_id)
    if not seen.sight.can_see_text_of(seen.run) or not seen.run.answer_file:
        raise Http404("no answer to see")
    answer = load_answer(seen.run, topic)
    if answer is None:
        raise Http404("no answer to this topic")
    return serialise_answer(answer)


def serialise_answer(answer: Answer) -> dict[str, Any]:
    return {
        "topic": answer.topic,
        "sentences": [
            {
                "text": sentence.text,
                "citations": [cited.docno for cited in sentence.citations],
                "contradicted": [cited.docno for cited in sentence.contradicted],
            }
            for sentence in answer.sentences
        ],
        "references": answer.references and [each.docno for each in answer.references],
    }


def find_measure(sight: Sight, text: str) -> str:
    """Return the measure that `text` names in any spelling; by default, the ranking measure."""
    if not text:
        return sight.primary_measure
    found = match_measure(text, sight.measures)
    if found is None:
        try:
            parse_measure(text)
        except MeasureError as error:
            raise field_error("measure", str(error), text) from None
        raise field_error("measure", f"is one of {', '.join(sight.measures)}", text)
    return found


@router.get("/runs/{slug:run_id}/file", auth=PUBLIC)
def get_file(request: HttpRequest, run_id: str) -> FileResponse:
    """Download the original file (team and organisers only)."""
    run = managed_run_or_403(request, run_id).run
    return stored_file(run.file, run.saved_as)


@router.get("/runs/{slug:run_id}/problems", auth=PUBLIC)
def get_problems(request: HttpRequest, run_id: str) -> StreamingHttpResponse:
    """Stream all problems of a run as JSON Lines."""
    run = managed_run_or_403(request, run_id).run
    lines = (json.dumps(asdict(problem)) + "\n" for problem in receipts.load_problems(run))
    return StreamingHttpResponse(lines, content_type="application/jsonl")


@router.patch(
    "/runs/{slug:run_id}", auth=SUBMIT, response=response_schemas(RunOut), exclude_unset=True
)
def change_run(request: HttpRequest, run_id: str, body: RunPatch) -> dict[str, Any]:
    """Change tag or description of a run, and add or change facts. null removes a fact.

    Teams can do this until release, organisers at any time. Changes are recorded.
    """
    seen = own_run_or_403(request, run_id)
    if not seen.sight.can_state_facts(seen.run):
        raise permission_error("Scores are released. Ask the organisers to correct facts.")
    if body.tag is not None:
        run_actions.rename_run(seen.run, viewer(request), body.tag)
    change_facts(seen.run, viewer(request), body.facts)
    if body.description is not None:
        change_description(seen.run, viewer(request), body.description)
    return get_run(request, run_id)


@router.delete("/runs/{slug:run_id}", auth=SUBMIT, response=response_schemas(None, 204))
def withdraw_run(
    request: HttpRequest, run_id: str, body: Withdrawal = None, reason: Label = ""
) -> Status[None]:
    """Withdraw a run from the board. Its file and its URL are kept.

    The reason is shown on the page of the run.
    """
    run = own_run_or_403(request, run_id).run
    run_actions.withdraw_run(run, viewer(request), body.reason if body else reason)
    return Status(204, None)


@router.post(
    "/runs/{slug:run_id}/undo-withdrawal",
    auth=SUBMIT,
    response=response_schemas(RunOut),
    exclude_unset=True,
)
def undo_withdrawal(request: HttpRequest, run_id: str) -> dict[str, Any]:
    """Undo the withdrawal of a run.

    Teams can do this while the track accepts runs, organisers at any time. It fails if the same
    file or tag has been submitted again.
    """
    run_actions.undo_withdrawal(own_run_or_403(request, run_id).run, viewer(request))
    return get_run(request, run_id)


@router.post(
    "/runs/{slug:run_id}/repair",
    auth=SUBMIT,
    response=response_schemas(RunOut),
    exclude_unset=True,
)
def repair_run(request: HttpRequest, run_id: str, body: RepairIn) -> dict[str, Any]:
    """Check a rejected run again with repairs. The stored file does not change."""
    run = own_run_or_403(request, run_id).run
    if len(body.fix) != 1:
        raise field_error("fix", "must name a repair", ", ".join(body.fix))
    run_actions.repair_run(run, viewer(request), body.fix[0], body.tag)
    return get_run(request, run_id)


def own_run_or_403(request: HttpRequest, run_id: str) -> VisibleRun:
    """Return a run of the viewer's team, or of any team if the token may organise."""
    seen = managed_run_or_403(request, run_id)
    if not seen.sight.owns(seen.run) and not request.auth.has_scope("organise"):
        raise permission_error("This token lacks the scope organise.")
    return seen


def managed_run_or_403(request: HttpRequest, run_id: str) -> VisibleRun:
    seen = run_or_404(viewer(request), run_id)
    if not seen.sight.can_see_file(seen.run):
        raise permission_error("Only the run's team and the organisers can do this.")
    return seen
