"""Words that the guide for our English rules out appear on no page, in no email and no message.

Read are the texts of templates, the strings of the code that have a space, what the browser adds,
and docstrings where people read them: measures, commands, the reference of the API.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_house import ROOT, python_files

# A pattern that no text may contain, and what to write instead.
INSTEAD = {
    r"\bstands? (on|in|under|beside)\b": "is on, appears in",
    r"\bheld to\b|\bholds (a|an|no) ": "compared with, contains",
    r"\b(runs?|files?) (is |are |was |were |be )?(not )?taken\b|\btakes no runs\b": "accepted",
    r"\btold\b(?! apart)|\b(?<!not )said\b|\bsays\b": "notified, shown, reports",
    r"\bwhoever\b": "anyone who",
    r"\bwhatever\b": "any, regardless of",
    r"\bso (many|few)\b": "this many, up to",
    r"\bof which\b": "the … of",
    r"\bas (it is|they are)(?=[.,;:]|$)": "unchanged",
    r"\bby (itself|themselves)\b": "automatically",
    r"\b(lies|lie) (in|on|between)\b": "is in, is between",
    r"\bmend(s|ed|ing)?\b|\banew\b": "fixed, again",
    r"\bbecomes? of\b": "happens to",
    r"\bleft out\b": "excluded, ignored",
    r"\w in all(?=[.,;:)]|$)": "in total",
    r"\bmake (an account|a token)\b": "create",
    r"\blook again\b": "reload",
    r"\b(nobody|somebody|one[’']s own)\b": "unjudged, no one, you",
    r"\b(please|successfully)\b": "nothing",
    r"n[’']t\b|\b(it|that|there|here|what|let)[’']s\b|[’'](re|ve|ll)\b": "the full form",
    r"[a-z]!( |$)": "a full stop",
    r"\bdocument numbers?\b": "docno",
    r"\be-mails?\b|\bmails\b|\bmail address": "email",
    r"\brefused?\b|\brefuses\b": "rejected",
    r"\bsubmissions?\b": "run",
    r"\bcompetitions?\b": "track",
    r"(?<!shared )\btasks?\b": "benchmark, track; overview for the page of a track",
    r"\btak(e|es|en|ing) (it |them |runs? )?off the\b": "remove",
    r"\b(bring|brings|bringing|brought) (it |them |runs? )?back\b": "restore",
    r"\bsen(d|ds|ding|t) (a |the |your |another )?(\w+ )?(runs?|files?)\b": "submit, upload",
    r"\bwas sent\b(?! \W)|\bwere sent\b": "submitted, uploaded",
    r"\bruns a (day|team)\b|\ba team and day\b|\ba topic, median": "per",
    r"\bparted by\b|\bby lot\b": "separated by, at random",
}
PATTERNS = {re.compile(pattern, re.IGNORECASE): word for pattern, word in INSTEAD.items()}
# What a reader of a page, an email or the terminal reads of the code.
READ = [
    *("api", "actions", "analysis", "boards", "collections", "display", "jobs", "management"),
    *("models", "notifications", "pages", "runs", "scoring"),
]
DOCSTRINGS_READ = ("evaluation/measures", "leaderboard/api")
# Texts that name what the code or the API calls so.
NAMES = {"bring back"}


def texts_of_template(path: Path) -> Iterator[str]:
    """Yield the text between tags, and what tags and attributes show or read aloud."""
    source = re.sub(r"{% comment %}.*?{% endcomment %}", "", path.read_text(), flags=re.S)
    # What tags say: headings of empty states, labels of fields.
    yield from re.findall(r'{% (?:empty|crumbs) .*?"([^"]* [^"]*)"', source)
    yield from re.findall(r'{% include .*?label="([^"]*)"', source)
    source = re.sub(r"{{.*?}}|{%.*?%}", "", source, flags=re.S)
    yield from re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]+)"', source)
    source = re.sub(r"</?(b|i|bdi|span|a|code|time|small|cite)\b[^>]*>", "", source)
    yield from (" ".join(text.split()) for text in re.sub(r"<[^>]*>", "\n", source).split("\n"))


def texts_of_code(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text())
    kept = {id(text) for text in docstrings_of(path, tree)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and " " in text.strip() and id(node) not in kept:
            yield " ".join(text.split())


def docstrings_of(path: Path, tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the docstrings that only readers of the code read."""
    is_read = str(path.relative_to(ROOT)).startswith(DOCSTRINGS_READ)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for node in ast.walk(tree):
        answers = isinstance(node, ast.FunctionDef) and node.decorator_list
        if isinstance(node, documented) and ast.get_docstring(node) and not (is_read and answers):
            yield node.body[0].value


def texts_of_script(path: Path) -> Iterator[str]:
    """Yield the quoted texts of a script that begin with a letter, without code in between."""
    lines = (line for line in path.read_text().splitlines() if not line.strip().startswith("//"))
    for line in lines:
        line = re.sub(r"\${[^}]*}", "…", line)
        yield from re.findall(r'["`]([A-Za-z…][^"`;=(]* [^"`;=(]*)["`]', line)


def find_ruled_out(texts: Iterator[str]) -> list[str]:
    return [
        f"{match[0]!r} in {text[:200]!r}: write {instead}"
        for text in texts
        for pattern, instead in PATTERNS.items()
        if text not in NAMES and (match := pattern.search(text))
    ]


TEMPLATES = sorted((ROOT / "templates").rglob("*.html")) + sorted(
    (ROOT / "templates").rglob("*.txt")
)
CODE = [path for name in READ for path in python_files(f"leaderboard/{name}")]
CODE += [*python_files("evaluation"), *python_files("rankfield")]


def test_templates_have_no_word_that_the_guide_rules_out():
    found = {path.name: find_ruled_out(texts_of_template(path)) for path in TEMPLATES}
    assert not {name: texts for name, texts in found.items() if texts}


def test_code_shows_no_word_that_the_guide_rules_out():
    found = {str(path.relative_to(ROOT)): find_ruled_out(texts_of_code(path)) for path in CODE}
    assert not {name: texts for name, texts in found.items() if texts}


def test_scripts_show_no_word_that_the_guide_rules_out():
    found = {
        path.name: find_ruled_out(texts_of_script(path)) for path in (ROOT / "static").glob("*.js")
    }
    assert not {name: texts for name, texts in found.items() if texts}


@pytest.mark.parametrize(
    "text", ["Your run was not taken.", "It’s ready!", "Send your run", "anew"]
)
def test_a_ruled_out_word_is_found(text):
    assert find_ruled_out(iter([text]))


@pytest.mark.parametrize(
    "text", ["The name Oats is taken.", "cannot be told apart", "the mailto link"]
)
def test_plain_words_are_not(text):
    assert not find_ruled_out(iter([text]))
