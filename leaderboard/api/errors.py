"""All API errors have the shape `{code, message, problems: []}`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import wraps
from typing import Any

from django.core.exceptions import (
    BadRequest,
    RequestDataTooBig,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from evaluation.problems import Problem, Refused, shown
from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.infrastructure.logs import request_number
from leaderboard.infrastructure.outages import find_outage

log = logging.getLogger(__name__)

STATUSES = {"E_SIZE": 413, "E_FULL": 507, "E_CONFLICT": 409, "E_FIELD": 422, "E_TRACK": 422}
MOST_PROBLEMS = 50
MALFORMED = (
    BadRequest,
    HttpError,
    MultiPartParserError,
    TooManyFieldsSent,
    TooManyFilesSent,
    UnreadablePostError,
)


class ApiError(Exception):
    """A refused request, with the status and the message of the answer."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        problems: Iterable[Problem] = (),
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.problems = list(problems)
        self.retry_after = retry_after

    def answer(self) -> JsonResponse:
        body = {
            "code": self.code,
            "message": self.message,
            "problems": [asdict(problem) for problem in self.problems],
        }
        headers = {"Retry-After": str(self.retry_after)} if self.retry_after is not None else None
        return JsonResponse(body, status=self.status, headers=headers)


def field_error(name: str, message: str, found: str = "", hint: str = "") -> ApiError:
    """Build the error of an invalid field; the message begins with its name."""
    problem = field_problem(name, message, found, hint)
    return ApiError(422, "E_FIELD", problem.message, [problem])


def field_problem(name: str, message: str, found: str = "", hint: str = "") -> Problem:
    return Problem("E_FIELD", "error", None, f"{name}: {message}", shown(found), hint)


def answers_error(refusal: Refused) -> ApiError:
    """Build the error of a machine's answers that were rejected, with the first problems."""
    problems = list(refusal.problems)[:MOST_PROBLEMS]
    first = next(refusal.problems.of("error"))
    return ApiError(422, first.code, f"No answer was imported. {refusal}", problems)


def permission_error(message: str) -> ApiError:
    return ApiError(403, "E_PERM", message)


def register_error_handlers(api: NinjaAPI) -> None:
    """Make `api` answer every exception in the same shape."""
    api.add_exception_handler(ApiError, lambda request, error: error.answer())
    api.add_exception_handler(NotAccepted, lambda request, error: upload_error(error).answer())
    api.add_exception_handler(ActionError, lambda request, error: state_error(error).answer())
    api.add_exception_handler(
        ValidationError, lambda request, error: validation_error(error).answer()
    )
    api.add_exception_handler(AuthenticationError, answer_unauthenticated)
    api.add_exception_handler(Http404, answer_not_found)
    api.add_exception_handler(RequestDataTooBig, answer_too_large)
    for malformed in MALFORMED:
        api.add_exception_handler(malformed, answer_malformed)
    api.add_exception_handler(Exception, answer_failure)


def upload_error(error: NotAccepted) -> ApiError:
    status = 429 if error.retry_after is not None else STATUSES.get(error.code, 403)
    return ApiError(status, error.code, error.message, retry_after=error.retry_after)


def state_error(error: ActionError) -> ApiError:
    return ApiError(409, "E_CONFLICT", str(error))


def validation_error(error: ValidationError) -> ApiError:
    problems = [
        field_problem(field_name(found["loc"]), describe_validation_error(found))
        for found in error.errors
    ]
    return ApiError(422, "E_FIELD", problems[0].message, problems)


def field_name(place: tuple[Any, ...]) -> str:
    """Return the field of pydantic's location: ("body", "body", "depth") is "depth".

    >>> [field_name(place) for place in [("body", "body", "measures", 2), ("form", "slug")]]
    ['measures.2', 'slug']
    >>> field_name(("body",))
    'body'
    """
    words = [str(word) for word in place[1:]]
    if len(words) > 1 and words[0] in ("body", "form", "paging"):
        words = words[1:]
    return ".".join(words) or str(place[0])


def describe_validation_error(error: dict[str, Any]) -> str:
    """Return pydantic's message in lower case and without its prefix."""
    if error["type"] == "missing":
        return "is missing"
    words = str(error["msg"]).removeprefix("Value error, ")
    return words[:1].lower() + words[1:]


def answer_unauthenticated(request: HttpRequest, error: Exception) -> HttpResponse:
    message = "Send a valid token: `Authorization: Bearer rf_...`."
    response = ApiError(401, "E_TOKEN", message).answer()
    response["WWW-Authenticate"] = "Bearer"
    return response


def answer_not_found(request: HttpRequest, error: Exception) -> HttpResponse:
    return ApiError(404, "E_NOT_FOUND", "Not found, or you do not have access.").answer()


def answer_too_large(request: HttpRequest, error: Exception) -> HttpResponse:
    return ApiError(413, "E_SIZE", "The request fields are too long.").answer()


def answer_malformed(request: HttpRequest, error: Exception) -> HttpResponse:
    message = "The request body is invalid or does not match its Content-Type."
    return ApiError(400, "E_FIELD", message).answer()


def with_api_errors(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answer in our format where Ninja itself rejects a request: a wrong method or path."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response = view(request, *args, **kwargs)
        except Http404 as error:
            return answer_not_found(request, error)
        if response.status_code != 405:
            return response
        allowed = response["Allow"]
        response = ApiError(405, "E_METHOD", f"Allowed methods: {allowed}.").answer()
        response["Allow"] = allowed
        return response

    return answer


def answer_failure(request: HttpRequest, error: Exception) -> HttpResponse:
    """Answer an unexpected exception; after an outage, say when to retry."""
    if outage := find_outage(error):
        log.warning("%s %s: %s", request.method, request.path, str(error).strip())
        return ApiError(
            outage.status, outage.code, outage.message, retry_after=outage.retry_after
        ).answer()
    log.error("%s %s failed", request.method, request.path, exc_info=error)
    message = f"Something went wrong on our side (request {request_number.get()})."
    return ApiError(500, "E_FAILED", message).answer()
