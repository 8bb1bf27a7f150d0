"""Answer runs beside what the public tools and the specification give for the same files."""

import gzip
import json
import os
import re
import zipfile
from collections import Counter
from dataclasses import replace
from io import BytesIO
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from evaluation.agreement import cohen_kappa, kendall_tau, overlap, tau_ap
from evaluation.answers.agreement import ORIGIN, grades_of_nuggets
from evaluation.answers.assignment_files import read_assignments
from evaluation.answers.drafts import numbers_in_brackets
from evaluation.answers.findings import Findings
from evaluation.answers.judged import AnswerMarks, topics_of
from evaluation.answers.labels import NAMES
from evaluation.answers.lengths import UNITS
from evaluation.answers.line_drafts import read_passages
from evaluation.answers.marks import bank_of_marks
from evaluation.answers.nugget_files import read_nuggets
from evaluation.answers.objects import open_answers
from evaluation.answers.rankings import ranking_run, trec_lines
from evaluation.answers.reading import check_answers, read_answers
from evaluation.answers.reported import read_reported
from evaluation.answers.rules import PRESETS
from evaluation.answers.runs import AnswerRun
from evaluation.answers.scoring import AnswerScorer, ask, grades_of
from evaluation.answers.support_files import read_support
from evaluation.answers.topics import read_answer_topics
from evaluation.answers.verdicts import SentenceVerdict, read_verdicts
from evaluation.judging import judge, prepare
from evaluation.measures import parse_measure
from evaluation.problems import Problems, Refused
from evaluation.reading.judging.qrels import read_qrels

FOLDER = Path(os.environ.get("RANKFIELD_DATA", "nowhere"))
CASES, REAL = FOLDER / "answers", FOLDER / "data" / "answers"
pytestmark = pytest.mark.data


def expected(name):
    return json.loads((CASES / f"expected_{name}.json").read_bytes())


def opened(path):
    """Open a file, or a folder as an archive of its files."""
    if path.is_file():
        return open_answers(BytesIO(path.read_bytes()))
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        for each in sorted(path.iterdir()):
            files.writestr(each.name, each.read_bytes())
    archive.seek(0)
    return archive


def as_recorded(answer, recorded):
    """What the file of expectations has of an answer."""
    found = {
        "topic": answer.topic,
        "sentences": [],
        "references": answer.references and [list(each) for each in answer.references],
        "confidence": answer.confidence,
        "nuggets": [list(each) for each in answer.quoted],
        "status": answer.status,
    }
    if answer.references == ():
        found["references"] = []
    for sentence in answer.sentences:
        parts = {"text": sentence.text, "existing": list(sentence.existing)}
        parts["citations"] = [list(each) for each in sentence.citations]
        parts["contradicted"] = [list(each) for each in sentence.contradicted]
        found["sentences"].append(parts)
    for parts, wanted in zip(found["sentences"], recorded["sentences"], strict=True):
        for name in parts.keys() - wanted.keys():
            del parts[name]
    return {name: found[name] for name in recorded}


def test_every_dialect_is_read_as_expected():
    lines = enumerate((CASES / "inputs/r2c2_pr.txt").read_bytes().splitlines(), 1)
    rules = replace(PRESETS["common"], passages=read_passages(lines, Findings()))
    for name, recorded in expected("reading").items():
        run = read_answers(opened(CASES / name), rules)
        assert (run.dialect, run.name or None) == (recorded["dialect"], recorded["run"]), name
        pairs = zip(run.answers.values(), recorded["answers"], strict=True)
        assert all(as_recorded(answer, wanted) == wanted for answer, wanted in pairs), name


def topics_for(case):
    """The topics of the collection in the form that a track of this preset has."""
    if case["preset"] in ("biogen-a", "r2c2"):
        return None
    name = {"ikat25": "topics_ikat.json", "ragtime": "topics_limit.jsonl"}.get(case["preset"])
    return read_answer_topics(BytesIO((CASES / "collection" / (name or "topics.tsv")).read_bytes()))


def problems_of(path, rules):
    try:
        return check_answers(opened(path), rules).problems
    except Refused as refusal:
        return refusal.problems


def test_every_violation_has_its_code_at_its_place():
    documents = (CASES / "collection/documents.jsonl").read_bytes().splitlines()
    docnos = {json.loads(line)["docno"].encode() for line in documents}
    for case in expected("checks")["violations"]:
        rules = replace(PRESETS[case["preset"]], topics=topics_for(case))
        if case["code"] == "E_UNKNOWN_DOC":
            rules = replace(rules, docnos=docnos)
        problems = problems_of(CASES / case["file"], rules)
        found = {(p.code, p.severity, p.line, p.sentence) for p in problems}
        wanted = (case["code"], case["severity"], case["line"], case["sentence"])
        assert wanted in found if case["code"] else not found, case["file"]


def test_real_baselines_are_accepted_without_a_problem():
    recorded = json.loads((REAL / "expected.json").read_bytes())["rag24-runs"]
    topics = read_answer_topics(
        open_answers(BytesIO((REAL / "rag24-runs/topics.tsv.gz").read_bytes()))
    )
    for name, facts in recorded.items():
        rules = replace(PRESETS["rag24"], topics=topics)
        run = read_answers(opened(REAL / f"rag24-runs/{name}.jsonl.gz"), rules)
        answers = list(run.answers.values())
        assert list(run.problems) == []
        assert len(answers) == facts["answers"]
        assert sum(len(a.sentences) for a in answers) == facts["sentences"]
        assert sum(len([*a.cited()]) for a in answers) == facts["citations"]


def test_other_real_runs_are_read_and_a_wrong_one_is_not():
    dragun = opened(REAL / "dragun/organizer-gpt-oss-t2.jsonl.gz")
    assert len(read_answers(dragun, PRESETS["dragun"]).answers) == 30
    kiddie = read_answers(opened(REAL / "kiddie/runs/repgen/run1.jsonl"))
    assert kiddie.problems.totals() == {"W_DOCUMENTS": 1}
    assert read_answers(opened(REAL / "ikat/sample_run_2024.json.gz")).dialect == "ikat24"
    problems = problems_of(REAL / "ikat/sample_run_invalid_scores.json.gz", PRESETS["common"])
    assert problems.totals() == {"E_WEIGHT": 1}


def test_rankings_are_those_of_the_files():
    """iKAT's script keeps scores and the run name, so only the order is compared."""
    for path in sorted((CASES / "ranking").iterdir()):
        name, view, _ = path.name.split(".")
        run = read_answers(opened(CASES / f"inputs/{name}.jsonl"), PRESETS["common"])
        lines = b"".join(trec_lines(ranking_run(run, view))).split(b"\n")
        recorded = path.read_bytes().split(b"\n")
        columns = 4 if path.name == "ikat25.references.run" else 5
        cells = [[line.split()[:columns] for line in each] for each in (lines, recorded)]
        assert cells[0] == cells[1], path.name


def test_rankings_of_real_answers_have_the_recorded_scores():
    recorded = json.loads((REAL / "expected.json").read_bytes())["rag24-runs"]
    judgments = prepare(read_qrels(opened(REAL / "rag24-runs/qrels.gz")))
    for name, facts in recorded.items():
        run = read_answers(opened(REAL / f"rag24-runs/{name}.jsonl.gz"))
        views = facts["ranking views (pytrec_eval, mean over all judged topics)"]
        for view, values in views.items():
            judged = judge(ranking_run(run, view), judgments)
            for text, theirs in {"nDCG@20": "ndcg_cut_20", "P@5": "P_5", "AP": "map"}.items():
                measure = parse_measure(text)
                assert measure.aggregate(measure.scores(judged)) == pytest.approx(values[theirs])


def nuggets_of(name):
    path = CASES / "nuggets" / name
    return read_nuggets(opened(path), name=path.name)


def assignments_of(name, bank=None, **options):
    return read_assignments(opened(CASES / "nuggets" / name), bank, **options)


def scores_of(run, marks, measures, answers=None):
    """The scores of a run by measure; without answers by its marks alone."""
    answered = AnswerRun(run, "", answers or {}, Problems())
    topics = topics_of(marks, answered.answers)
    return AnswerScorer(marks, topics, tuple(map(ask, measures))).score(answered).scores


def nugget_as_recorded(nugget, wanted):
    found = {name: getattr(nugget, name, None) for name in wanted}
    found["answers"] = {each.text: list(each.documents) for each in nugget.answers}
    found["documents"], found["relevance"] = list(nugget.documents), nugget.grade
    return {name: found[name] for name in wanted}


def test_nuggets_and_marks_are_read_as_expected():
    recorded = expected("nuggets")
    for name in ("nuggetbank_v3.json", "annotation/nuggets_t1.json", "argue_texts.jsonl"):
        ours = [nugget for of in nuggets_of(name).topics.values() for nugget in of]
        pairs = list(zip(ours, recorded[name], strict=True))
        assert [nugget_as_recorded(*pair) for pair in pairs] == recorded[name], name
    cone = nuggets_of("cone.json").topics["1_2"]
    pairs = list(zip(cone, recorded["cone.json"], strict=True))
    assert [nugget_as_recorded(*pair) for pair in pairs] == recorded["cone.json"]
    bank = nuggets_of("nuggetizer_assigned.jsonl")
    layer = assignments_of("columns.txt", bank)
    assert {
        " ".join(pair): [NAMES[code] for code in layer.codes(*pair, bank).tolist()]
        for pair in layer.marks
    } == recorded["columns.txt"]
    for name in ("columns_bad_label.txt", "columns_twice.txt"):
        with pytest.raises(Refused) as refused:
            assignments_of(name, bank)
        (problem,) = refused.value.problems
        assert f"{problem.code} line {problem.line}" == recorded[name]


def test_nuggets_score_as_nuggetizer_scores_them():
    recorded = expected("measures")
    bank = nuggets_of("nuggetizer_assigned.jsonl")
    marks = AnswerMarks(bank, assignments_of("nuggetizer_assigned.jsonl", bank))
    weighted = ["WNuggets(vital=2,okay=1)", "WNuggets(vital=2,okay=1,partial=0)"]
    values = recorded["nuggetizer"]
    scores = scores_of("lake", marks, [*values["mean"], *weighted, "Groups", "GroupMean"])
    for name, mean in values["mean"].items():
        assert scores[name].overall == pytest.approx(mean)
        theirs = {topic: by_name[name] for topic, by_name in values["per_topic"].items()}
        assert scores[name].by_topic == pytest.approx(theirs)
    for name in (*weighted, "Groups", "GroupMean"):
        wanted = recorded["weighted"][name]
        wanted = wanted["t1"] if isinstance(wanted, dict) else wanted
        assert scores[name].by_topic["t1"] == pytest.approx(wanted)


def test_rubrics_score_as_the_script_of_dragun_scores_them():
    recorded, bank = expected("measures"), nuggets_of("dragun_rubrics")
    marks = AnswerMarks(bank, assignments_of("dragun_marks.csv", bank))
    names = ["supportive_score", "contradictory_score"]
    by_run = {run: scores_of(run, marks, names) for run in ("lake", "tarn")}
    for row in recorded["dragun"]["per_topic"]:
        for name in names:
            ours = by_run[row["run_tag"]][name].by_topic[row["topic_id"]]
            assert ours == pytest.approx(row[name])
    for run, means in recorded["dragun"]["rankfield_per_run"].items():
        assert {n: by_run[run][n].overall for n in names} == pytest.approx(means)
    compound = opened(CASES / "nuggets/dragun_compound.csv")
    questions = AnswerMarks(bank, assignments_of("dragun_questions.csv", compound=compound))
    (row,) = recorded["dragun_questions"]["per_topic"]
    scores = scores_of("lake", questions, ["RubricQuestions"])
    assert scores["RubricQuestions"].by_topic["t1"] == pytest.approx(row["score"])


def test_a_rubric_judged_in_part_has_the_bounds_of_the_specification():
    bank = nuggets_of("dragun_rubrics")
    layer = read_assignments(BytesIO(b"lake t1 na-1 supports\n"), bank)
    names = ["RubricSupport", "RubricSupport(n=judged)"]
    scores = scores_of("lake", AnswerMarks(bank, layer), names)
    assert scores["RubricSupport"].by_topic["t1"] == pytest.approx(2 / 7)
    assert scores["RubricSupport"].bounds["t1"] == pytest.approx((2 / 7, 1))
    assert scores["RubricSupport(n=judged)"].by_topic["t1"] == pytest.approx(4 / 7)


def test_support_scores_and_bounds_are_those_of_the_tool():
    recorded = expected("measures")
    layers = [read_support(opened(CASES / "support" / n)) for n in ("support.jsonl", "columns.txt")]
    own = {
        topic: {name.removesuffix(", cited only"): value for name, value in values.items()}
        for topic, values in recorded["support_own"]["values"].items()
    }
    names = [*recorded["support"]["values"]["paper"], *own["paper"]]
    for layer in layers:
        answers = layers[0].runs["lake"]
        scores = scores_of("lake", AnswerMarks(support=layer), names, answers)
        for topic, values in recorded["support"]["values"].items():
            wanted = values | own[topic]
            assert {n: scores[n].by_topic[topic] for n in wanted} == pytest.approx(wanted)
        for topic, bounds in recorded["support_bounds"]["values"].items():
            for name, pair in bounds.items():
                assert scores[name].bounds[topic] == pytest.approx(tuple(pair))


def test_sets_of_biogen_are_scored_by_sentence_and_by_topic():
    recorded = expected("measures")["biogen_a"]
    layer = read_support(opened(CASES / "support/biogen_labels.jsonl"))
    columns = {"SetP": "precision", "SetR": "recall", "SetF1": "f1"}
    for (name, column), kind in product(columns.items(), ("supports", "contradicts")):
        texts = [f"{name}(class={kind})", f"{name}(class={kind},over=sentences)"]
        scores = scores_of("lake", AnswerMarks(support=layer), texts, layer.runs["lake"])
        by_topic = recorded["by_topic_then_mean"][kind][column]
        over_sentences = recorded["macro_over_sentences_percent"][kind][column]
        assert scores[texts[0]].overall == pytest.approx(by_topic)
        assert round(scores[texts[1]].overall * 100, 2) == over_sentences


def test_weighted_rubrics_may_be_negative():
    bank = nuggets_of("rubric.jsonl")
    marks = AnswerMarks(bank, assignments_of("rubric.jsonl", bank))
    wanted = expected("measures")["rubric"]["values"]
    assert scores_of("lake", marks, ["Rubric"])["Rubric"].by_topic == pytest.approx(wanted)


def test_a_report_scores_as_the_evaluator_of_argue_scores_it():
    recorded, bank = expected("measures")["argue"], nuggets_of("argue.jsonl")
    table = json.loads((CASES / "support/argue_marks.json").read_bytes())
    answers = read_answers(opened(CASES / "support/argue_report.jsonl")).answers
    verdicts = [verdict_of(sentence, table) for sentence in answers["t1"].sentences]
    known = {(n.text, answer.text) for n in bank.topics["t1"] for answer in n.answers}
    assert [each.score(known) for each in verdicts] == recorded["sentence_scores"]
    marks = AnswerMarks(bank, verdicts={("lake", "t1"): verdicts})
    scores = scores_of("lake", marks, ["ArgueP", "ArgueR"], answers)
    assert scores["ArgueP"].overall == recorded["metrics"]["precision"]
    assert scores["ArgueR"].overall == recorded["metrics"]["recall"]


def verdict_of(sentence, table):
    """What the replaced model says of a sentence."""
    text, related = sentence.text, [tuple(pair) for pair in table["rel"]]
    return SentenceVerdict(
        is_cited=bool(sentence.citations),
        fails=any((text, each.docno) not in related for each in sentence.citations),
        is_negative=text in table["neg"],
        needs_citation=text in table["req"],
        is_first=text in table["first"],
        pairs=frozenset((q, answer) for each, q, answer in table["nug"] if each == text),
    )


def test_confidence_documents_and_lengths_score_as_recorded():
    recorded = expected("measures")
    for size in ("100", "250"):
        path = CASES / f"confidence/{size}.jsonl"
        layer = read_assignments(opened(path), run="lake")
        for last in ("kept", "dropped"):
            name = f"CalibrationError(last={last})"
            score = scores_of("lake", AnswerMarks(assignments=layer), [name])[name]
            assert score.overall == pytest.approx(
                recorded["calibration"]["values"][size][f"last_{last}"]
            )
    for name, text in recorded["browsecomp_citations"]["texts"].items():
        found = recorded["browsecomp_citations"]["values"][name]
        assert sorted(numbers_in_brackets(text)) == sorted(found)
    for case in recorded["lengths"]["cases"]:
        assert {unit: count([case["text"]]) for unit, count in UNITS.items()} == {
            unit: case[unit] for unit in UNITS
        }
    answers = read_answers(opened(CASES / "inputs/common_list.jsonl")).answers
    grades = grades_of(read_qrels(opened(CASES / "collection/qrels.txt")))
    for name in ("Cited(grade)", "CitedP(rel=1)"):
        ours = scores_of("lake", AnswerMarks(grades=grades), [name], answers)[name].by_topic
        wanted = recorded["cited_grade"][name]
        assert ours == pytest.approx({t: v for t, v in wanted.items() if v is not None})


def test_real_nuggets_and_marks_are_read_whole():
    recorded = json.loads((REAL / "expected.json").read_bytes())
    bank = read_nuggets(opened(REAL / "rag26-dev/nuggets.jsonl.gz"))
    nuggets = [nugget for of in bank.topics.values() for nugget in of]
    facts = recorded["rag26_nuggets"]
    assert (len(bank.topics), len(nuggets)) == (facts["topics"], facts["nuggets"])
    assert Counter(each.importance for each in nuggets) == facts["importance"]
    assert len({(each.topic, each.group) for each in nuggets}) == facts["groups"]
    rubrics = read_nuggets(opened(REAL / "rag26-dev/rubrics.jsonl.gz"))
    weights = [each.weight for of in rubrics.topics.values() for each in of]
    assert (len(weights), sum(weight < 0 for weight in weights)) == (755, 97)
    cone = read_nuggets(opened(REAL / "cone-rag/gold_nuggets_human_deduplicated.json.gz"))
    assert (len(cone.topics), cone.count) == (116, 1201)
    matches = read_assignments(opened(REAL / "cone-rag/human-study-matching-labels.txt.gz"))
    labels = Counter(m.code for marks in matches.marks.values() for m in marks.values())
    assert labels == {0: 932, 2: 154}


def grades_of_marks(file):
    """The grades of every pair of a layer about nuggets, in the order of the file."""
    found = grades_of_nuggets(read_assignments(open_answers(BytesIO(file)))).grades
    return np.array([grade - ORIGIN for of in found.values() for grade in of.values()], np.float64)


def test_the_use_of_labels_of_dragun_is_as_recorded():
    recorded = json.loads((REAL / "expected.json").read_bytes())["dragun_marks"]["labels"]
    file = (REAL / "dragun/auto_report_assessments.csv.gz").read_bytes()
    used = Counter(grades_of_marks(file).tolist())
    words = {0: "none", 2: "supports", 1: "partial", -1: "contradicts"}
    assert {word: used[grade] for grade, word in words.items()} == recorded


def test_matching_labels_of_cone_rag_have_a_kappa():
    """The file has one label of each pair; the second assessor here finds one match in three."""
    labels = gzip.decompress((REAL / "cone-rag/human-study-matching-labels.txt.gz").read_bytes())
    matches = re.findall(rb"\S+\t1", labels)
    less = labels
    for match in matches[::3]:
        less = less.replace(match, match[:-1] + b"0")
    people, second = grades_of_marks(labels), grades_of_marks(less)
    assert (len(people), len(matches)) == (1086, 154)
    # By hand: they differ on 52 pairs, 102 are matches of both, and by chance 79.09 % agree.
    by_chance = (154 * 102 + 932 * 984) / 1086**2
    wanted = (1 - 52 / 1086 - by_chance) / (1 - by_chance)
    assert cohen_kappa(people, second) == pytest.approx(wanted)
    assert cohen_kappa(people, people) == 1


def test_real_marks_of_dragun_score_as_recorded():
    recorded = json.loads((REAL / "expected.json").read_bytes())["dragun_marks"]
    layer = read_assignments(opened(REAL / "dragun/auto_report_assessments.csv.gz"))
    marks = AnswerMarks(bank_of_marks(layer), layer)
    names = ["Nuggets", "Nuggets(partial=0)", "Contradicted"]
    assert (layer.origin, len(layer.runs)) == ("machine", recorded["runs"])
    for run, facts in recorded["per_run"].items():
        scores = scores_of(run, marks, names)
        wanted = {name: facts[name] for name in names}
        assert {name: scores[name].overall for name in names} == pytest.approx(wanted)


def test_a_real_report_has_the_published_precision_and_recall():
    recorded = json.loads((REAL / "expected.json").read_bytes())["argue_report"]
    bank = read_nuggets(opened(REAL / "argue/dev_nuggets.jsonl"))
    verdicts = read_verdicts(opened(REAL / "argue/results_dev_reports_one.jsonl.gz"))
    ((run, topic),) = verdicts
    scorer = AnswerScorer(AnswerMarks(bank, verdicts=verdicts), [topic], ARGUE)
    scores = scorer.score(AnswerRun(run, "", {}, Problems())).scores
    assert scores["ArgueP"].overall == pytest.approx(recorded["recomputed"]["precision"])
    assert scores["ArgueR"].overall == pytest.approx(recorded["recomputed"]["recall"])


ARGUE = (ask("ArgueP"), ask("ArgueR"))


def test_real_answers_have_the_recorded_lengths_and_grades():
    recorded = json.loads((REAL / "expected.json").read_bytes())["rag24-runs"]
    qrels = read_qrels(opened(REAL / "rag24-runs/qrels.gz"))
    names = {
        "Words": "Words mean",
        "Words(unit=words-nfkc)": "words-nfkc mean",
        "CitedP(rel=1)": "CitedP(rel=1) mean over judged topics",
    }
    for name, facts in recorded.items():
        answers = read_answers(opened(REAL / f"rag24-runs/{name}.jsonl.gz")).answers
        marks = AnswerMarks(grades=grades_of(qrels))
        scores = scores_of(name, marks, [*names, "Cited"], answers)
        wanted = {ours: facts[theirs] for ours, theirs in names.items()}
        assert {ours: scores[ours].overall for ours in names} == pytest.approx(wanted)
        assert scores["Cited"].overall == pytest.approx(facts["Cited(grade)"]["mean"])
        assert len(scores["Cited"].by_topic) == facts["Cited(grade)"]["topics"]


def test_the_kiddie_set_has_its_made_up_board_and_a_judge_that_agrees_in_part():
    recorded = expected("measures")
    truth = read_reported(opened(REAL / "kiddie/eval/kiddie_fake.eval.ir_measures.txt"))
    judge_of_runs = read_reported(opened(CASES / "kiddie/judge.eval.txt"))
    runs = ["run1", "run2", "run3", "run4"]
    means = np.array([truth.mean("RELEVANCE", run) for run in runs])
    assert means == pytest.approx([0.864, 0.692, 0.316, 0.088])
    assert means == pytest.approx([truth.overall["RELEVANCE"][run] for run in runs])
    judged = np.array([judge_of_runs.mean("SCORE", run) for run in runs])
    values = recorded["judge_against_truth"]["values"]
    assert kendall_tau(judged, means) == pytest.approx(values["kendall"])
    assert tau_ap(judged, means) == pytest.approx(values["tauap_b"])


def test_grades_of_the_kiddie_judge_agree_as_recorded():
    truth, judged = (
        read_qrels(opened(CASES / f"kiddie/{name}.qrels")).grades for name in ("truth", "judge")
    )
    for row in expected("measures")["judge_qrels"]["values"][:2]:
        topic = row["Topic"].encode()
        pairs = [(truth[topic][docno], judged[topic][docno]) for docno in truth[topic]]
        one, other = np.array(pairs, np.float64).T
        assert cohen_kappa(one, other) == pytest.approx(row["Kappa@1"])
        assert overlap(one, other) == pytest.approx(row["Jaccard"], abs=1e-4)
