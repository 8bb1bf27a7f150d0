"""The command line beside what trec_eval 10.0 and 9.0.8 printed for the same bytes."""

import gzip
import json
import os
from itertools import product
from pathlib import Path

import pytest

from evaluation.__main__ import main
from evaluation.commands import files, printing, score
from evaluation.judging import prepare
from evaluation.reading import paths
from evaluation.reading.runs.reader import Run, read_run
from evaluation.scoring import score_run

FOLDER = Path(os.environ.get("RANKFIELD_DATA", "nowhere"))
CASES = sorted(path.name for path in FOLDER.glob("conformance/cases/*"))
CRANFIELD = sorted(path.name for path in FOLDER.glob("data/cranfield/runs/*"))
ACORDAR = sorted(path.name for path in FOLDER.glob("data/acordar/runs/*"))
CONVENTIONS = {"10.0": "house", "9.0.8": "trec_eval-9"}

# Known differences, as MEASURES.md lists them at its end: not built, or decided otherwise.
ANOTHER_MEASURE = ("runid", "relstring", "11pt_avg_", "ndcg_cut_23")
ANOTHER_VARIANT = ("util", "gainfrac")
REFUSED_HERE = ("relstring.20", "11pt_avg..25,.5,.75")
ORDERED_BY_CHANCE = ("score_nan",)
# trec_eval refuses or fails on these; here they are read.
READ_HERE = (
    "topic_all_negative_first",
    "topic_all_minus2",
    "topic_missing_in_run",
    "topic_no_overlap",
    "topic_id_spacing",
    "bom",
)


def recorded(folder: Path, engine: str) -> dict:
    return json.loads(gzip.decompress((folder / "expected.json.gz").read_bytes()))[engine]


def our_arguments(argv: list[str], engine: str) -> list[str]:
    """trec_eval's arguments as we take them, without what is refused on purpose."""
    text = " ".join(argv).replace(",23.4", "")
    for name in REFUSED_HERE:
        text = text.replace(f"-m {name} ", "")
    mean = [] if "-c" in argv else ["--intersection"]
    convention = ["--convention", CONVENTIONS[engine]]
    return ["score", "--lenient", "--digits", "17", *convention, *mean, *text.split()]


def printed(out: bytes) -> dict[str, dict[str, str]]:
    """Measure, then topic, then the text of the value."""
    values: dict[str, dict[str, str]] = {}
    for line in out.decode("utf-8", "surrogateescape").split("\n")[:-1]:
        name, topic, value = line.split("\t")
        values.setdefault(name.strip(), {})[topic] = value
    return values


def expected(record: dict) -> dict[tuple[str, str], float]:
    """The recorded values that ours must equal.

    Where -J leaves no document trec_eval divides 0 by 0; a topic is 0 here, its mean differs.
    """
    values = {}
    for measure, by_topic in record["values"].items():
        if measure.startswith(ANOTHER_MEASURE):
            continue
        for topic, text in by_topic.items():
            counted_without_threshold = (measure, topic) == ("num_rel", "all") and any(
                word.startswith("-l") for word in record["argv"]
            )
            undefined = text.endswith("nan")
            if not counted_without_threshold and not (undefined and topic == "all"):
                values[measure, topic] = 0.0 if undefined else float(text)
    return values


@pytest.mark.data
@pytest.mark.parametrize("engine", CONVENTIONS)
@pytest.mark.parametrize("case", [case for case in CASES if case not in ORDERED_BY_CHANCE])
def test_recorded_values_come_out_the_same(case, engine, data, monkeypatch, capfdbinary):
    monkeypatch.chdir(data / "conformance" / "cases" / case)
    for variant, record in recorded(Path(), engine).items():
        if record["exit"] == 0 and variant not in ANOTHER_VARIANT:
            assert main(our_arguments(record["argv"], engine)) == 0
            values = printed(capfdbinary.readouterr().out)
            for (measure, topic), value in expected(record).items():
                found = float(values[measure][topic])
                assert abs(found - value) <= 1e-9, (variant, measure, topic, value, found)
                assert f"{found:.4f}" == f"{value:.4f}", (variant, measure, topic, value, found)


@pytest.mark.data
@pytest.mark.parametrize("case", [case for case in CASES if case not in READ_HERE])
def test_what_trec_eval_refuses_is_refused_too(case, data, monkeypatch):
    monkeypatch.chdir(data / "conformance" / "cases" / case)
    for variant, record in recorded(Path(), "10.0").items():
        if record["exit"] != 0:
            assert status_of(our_arguments(record["argv"], "10.0")) == 2, variant


def status_of(arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as stopped:
        return stopped.code


@pytest.mark.data
@pytest.mark.parametrize("name", CRANFIELD)
def test_cranfield_runs_agree_in_every_printed_digit(name, data):
    folder = data / "data" / "cranfield"
    with paths.open_input(str(folder / "runs" / name)) as file:
        run = read_run(file)
    for grades, version in product(("binary", "graded"), ("v10.0-c", "v9.0.8")):
        recording = name.replace(".gz", ".txt.gz")
        lines = gzip.decompress((folder / "expected" / grades / version / recording).read_bytes())
        lines_here = scored(run, folder / f"clean/qrels.{grades}.txt", version)
        assert_printed_alike(printed(lines), printed(lines_here))


def scored(run: Run, qrels: Path, version: str) -> bytes:
    """What the command line prints for a run that is already read."""
    house = version == "v10.0-c"
    convention = [] if house else ["--convention", "trec_eval-9", "--intersection"]
    options = score.parser().parse_args([str(qrels), "-", "-q", "-m", "all_trec", *convention])
    judgments = prepare(paths.read_judgments(str(qrels), lenient=False))
    asked, rules = score.requested_measures(options), files.rules_of(options)
    scores = score_run(run, judgments, asked, rules)
    return b"".join(printing.trec_lines(scores, printing.Printing(True, True, None)))


@pytest.mark.data
@pytest.mark.parametrize("run", ACORDAR)
def test_acordar_runs_agree_in_every_printed_digit(run, data, capfdbinary):
    folder = data / "data" / "acordar"
    files = [str(folder / "qrels.txt"), str(folder / "runs" / run)]
    main(["score", "--lenient", "-q", "-c", "-m", "all_trec", *files])
    lines = gzip.decompress((folder / f"expected/v10.0-c/{run}.txt.gz").read_bytes())
    assert_printed_alike(printed(lines), printed(capfdbinary.readouterr().out))


@pytest.mark.data
@pytest.mark.parametrize(
    ("recording", "engine", "arguments"),
    [
        ("v10.0/out.test", "10.0", "qrels.test results.test"),
        ("v10.0/out.test.a", "10.0", "-m all_trec qrels.test results.test"),
        ("v10.0/out.test.aqc", "10.0", "-m all_trec -q -c qrels.test results.trunc"),
        ("v10.0/out.test.aqcM", "10.0", "-m all_trec -q -c -M100 qrels.test results.trunc"),
        ("v10.0/out.test.aql", "10.0", "-m all_trec -q -l2 qrels.rel_level results.test"),
        ("v10.0/out.comment.test", "10.0", "qrels.comment.test results.comment.test"),
        ("v9.0.8/out.test.aq", "9.0.8", "-m all_trec -q qrels.test results.test"),
        ("v9.0.8/out.test.aql", "9.0.8", "-m all_trec -q -l2 qrels.rel_level results.test"),
    ],
)
def test_the_files_that_come_with_trec_eval(
    recording, engine, arguments, data, monkeypatch, capfdbinary
):
    monkeypatch.chdir(data / "data" / "trec_eval_tests")
    mean = [] if "-c" in arguments else ["--intersection"]
    main(["score", "--lenient", "--convention", CONVENTIONS[engine], *mean, *arguments.split()])
    theirs = printed(Path(recording).read_bytes())
    assert_printed_alike(theirs, printed(capfdbinary.readouterr().out))


def assert_printed_alike(
    theirs: dict[str, dict[str, str]], ours: dict[str, dict[str, str]]
) -> None:
    for measure, by_topic in theirs.items():
        if not measure.startswith(ANOTHER_MEASURE):
            assert {topic: ours[measure].get(topic) for topic in by_topic} == by_topic, measure
