"""What can go wrong between a program and a site."""

from __future__ import annotations

from collections.abc import Iterable

from evaluation.problems import Problem

SHOWN = 50


class SiteError(Exception):
    """A call to a site failed. `retry_after` says in how many seconds another may succeed."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after = retry_after


class UnreachableError(SiteError):
    """The site cannot be reached, is not ready in time, or is not Rankfield."""


class RejectedError(SiteError):
    """A request or a file was rejected; printed, it lists the problems as the page of a run does.

    `code` and `status` are those of the answer, empty and 0 if it is the file that was rejected.

    >>> score = Problem("E_SCORE", "error", 12, "the score is not a number", "1,5", "Use a point.")
    >>> print(RejectedError("my.run was rejected.", [score]))
    my.run was rejected.
    Line 12: the score is not a number: "1,5". Use a point.
    """

    def __init__(
        self,
        message: str,
        problems: Iterable[Problem] = (),
        code: str = "",
        status: int = 0,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, retry_after)
        self.problems = tuple(problems)
        self.code = code
        self.status = status

    def __str__(self) -> str:
        # A wrong field is both the message and the only problem.
        listed = [problem for problem in self.problems if problem.message != self.message]
        lines = [self.message, *map(describe_problem, listed[:SHOWN])]
        if len(listed) > SHOWN:
            lines.append(f"And {len(listed) - SHOWN:,} more.")
        return "\n".join(lines)


def describe_error(error: SiteError | OSError) -> str:
    """Return what went wrong as a line of text, with the name of the file that could not be read.

    >>> describe_error(FileNotFoundError(2, "No such file or directory", "my.run"))
    'my.run: No such file or directory'
    """
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def describe_problem(problem: Problem) -> str:
    """Return a problem as a sentence with its line and its hint.

    >>> describe_problem(Problem("E_EMPTY", "error", None, "the file is empty"))
    'The file is empty.'
    """
    found = f': "{problem.found}"' if problem.found else ""
    words = f"{problem.message}{found}"
    if problem.line is None:
        words = words[:1].upper() + words[1:]
    else:
        words = f"Line {problem.line:,}: {words}"
    return f"{words}. {problem.hint}".rstrip()
