"""Every measure again in plain Python, one short function each, for one topic at a time.

Written from the definitions in words and from the papers, never from the numpy formulas: what
agrees here was thought twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

EPSILON = 0.00001


@dataclass(frozen=True)
class Case:
    """One topic: the judged grades, the retrieved documents in order, the top of the scale."""

    grades: dict[bytes, int]
    ranking: list[bytes]
    top_grade: int
    depth: int = 1000
    recall_rounding: float = 0.5

    def condensed(self) -> Case:
        kept = [docno for docno in self.ranking if self.grades.get(docno, -1) >= 0]
        return replace(self, ranking=kept)

    def grade(self, docno: bytes) -> int | None:
        """The grade of a judged document; None for one that is unjudged or negative."""
        grade = self.grades.get(docno)
        return None if grade is None or grade < 0 else grade

    def is_judged(self, docno: bytes) -> bool:
        """Whether somebody looked; -1 means in the pool, but not judged."""
        return self.grades.get(docno, -1) != -1

    def is_relevant(self, docno: bytes, rel: int) -> bool:
        grade = self.grade(docno)
        return grade is not None and grade >= rel

    def is_nonrelevant(self, docno: bytes, rel: int) -> bool:
        grade = self.grade(docno)
        return grade is not None and grade < rel

    def num_relevant(self, rel: int) -> int:
        return sum(self.is_relevant(docno, rel) for docno in self.grades)

    def num_nonrelevant(self, rel: int) -> int:
        return sum(self.is_nonrelevant(docno, rel) for docno in self.grades)

    def hits(self, rel: int, k: int | None = None) -> int:
        return sum(self.is_relevant(docno, rel) for docno in self.ranking[:k])

    def relevant_ranks(self, rel: int, k: int | None = None) -> list[int]:
        ranked = enumerate(self.ranking[:k], 1)
        return [rank for rank, docno in ranked if self.is_relevant(docno, rel)]


def divided(share: float, whole: float) -> float:
    return share / whole if whole else 0.0


def precision(case, k, rel):
    return case.hits(rel, k) / k


def recall(case, k, rel):
    return divided(case.hits(rel, k), case.num_relevant(rel))


def capped_recall(case, k, rel):
    return divided(case.hits(rel, k), min(k, case.num_relevant(rel)))


def weighted_harmonic_mean(precision, recall, beta):
    if precision == 0 or recall == 0:
        return 0.0
    weight = beta * beta / (1 + beta * beta)
    return 1 / ((1 - weight) / precision + weight / recall)


def f_at_k(case, k, rel, beta):
    return weighted_harmonic_mean(precision(case, k, rel), recall(case, k, rel), beta)


def set_precision(case, rel):
    return divided(case.hits(rel), len(case.ranking))


def set_recall(case, rel):
    return divided(case.hits(rel), case.num_relevant(rel))


def set_f(case, rel, beta):
    return weighted_harmonic_mean(set_precision(case, rel), set_recall(case, rel), beta)


def set_average_precision(case, rel):
    return set_precision(case, rel) * set_recall(case, rel)


def set_relative_precision(case, rel):
    return divided(case.hits(rel), min(len(case.ranking), case.num_relevant(rel)))


def success(case, k, rel):
    return 1.0 if case.hits(rel, k) else 0.0


def utility(case, rel, a, b, c, d):
    found, retrieved, relevant = case.hits(rel), len(case.ranking), case.num_relevant(rel)
    false_hits, misses = retrieved - found, relevant - found
    outside = -(found + false_hits + misses)
    return a * found + b * false_hits + c * misses + d * outside


def num_topics(case):
    return 1


def num_retrieved(case):
    return len(case.ranking)


def num_relevant(case, rel):
    return case.num_relevant(rel)


def num_relevant_retrieved(case, rel):
    return case.hits(rel)


def num_nonrelevant_retrieved(case, rel):
    return sum(case.is_nonrelevant(docno, rel) for docno in case.ranking)


def average_precision(case, k, rel, norm):
    ranks = case.relevant_ranks(rel, k)
    total = sum(count / rank for count, rank in enumerate(ranks, 1))
    relevant = case.num_relevant(rel)
    divisor = {"R": relevant, "hits": len(ranks), "cap": min(relevant, k or relevant)}[norm]
    return divided(total, divisor)


def geometric_average_precision(case, rel):
    return average_precision(case, None, rel, "R")


def reciprocal_rank(case, k, rel):
    ranks = case.relevant_ranks(rel, k)
    return 1 / ranks[0] if ranks else 0.0


def mean_rank(case, rel):
    ranks = case.relevant_ranks(rel, case.depth)
    return ranks[0] if ranks else case.depth + 1


def r_precision(case, rel):
    relevant = case.num_relevant(rel)
    return divided(case.hits(rel, relevant), relevant)


def r_precision_at_multiple(case, rel, x):
    cutoff = math.floor(x * case.num_relevant(rel) + 0.9)
    return divided(case.hits(rel, cutoff), cutoff)


def interpolated_precision(case, r, rel):
    needed = math.floor(r * case.num_relevant(rel) + case.recall_rounding)
    counts = [(case.hits(rel, rank), rank) for rank in range(1, len(case.ranking) + 1)]
    return max((count / rank for count, rank in counts if count >= needed), default=0.0)


def eleven_point_average(case, rel):
    return sum(interpolated_precision(case, level / 10, rel) for level in range(11)) / 11


def binary_g(case, rel):
    ranks = case.relevant_ranks(rel)
    values = [1 / math.log2(2 + rank - count) for count, rank in enumerate(ranks, 1)]
    return divided(sum(values), case.num_relevant(rel))


def yet_another_average_precision(case, rel):
    ranks = case.relevant_ranks(rel)
    total = sum(count / rank for count, rank in enumerate(ranks, 1))
    return math.log((1 + total) / (1 + case.num_relevant(rel) - total))


def gain_of(grade, gain, gains):
    if grade is None:
        return 0.0
    return 2.0**grade - 1 if gain == "exp" else float(dict(gains).get(grade, grade))


def discount_at(rank, discount, base):
    if discount == "log2":
        return math.log2(rank + 1)
    return 1.0 if rank < base else math.log(rank, base)


def retrieved_gains(case, gain="linear", gains=()):
    return [gain_of(case.grade(docno), gain, gains) for docno in case.ranking]


def ideal_gains(case, gain="linear", gains=()):
    every = [gain_of(case.grade(docno), gain, gains) for docno in case.grades]
    return sorted((value for value in every if value > 0), reverse=True)


def discounted_sum(values, discount="log2", base=2):
    return sum(value / discount_at(rank, discount, base) for rank, value in enumerate(values, 1))


def cumulative_gain(case, k):
    return sum(retrieved_gains(case)[:k])


def dcg(case, k, gain, discount, base, gains):
    return discounted_sum(retrieved_gains(case, gain, gains)[:k], discount, base)


def ideal_dcg(case, k, gain, discount, base, gains):
    return discounted_sum(ideal_gains(case, gain, gains)[:k], discount, base)


def ndcg(case, k, gain, discount, base, ideal, gains):
    best = ideal_gains(case, gain, gains)
    if ideal == "retrieved":
        positive = [value for value in retrieved_gains(case, gain, gains) if value > 0]
        best = sorted(positive, reverse=True)
    value = dcg(case, k, gain, discount, base, gains)
    return divided(value, discounted_sum(best[:k], discount, base))


def ndcg_to_rank(case, rank, gains):
    best = discounted_sum(ideal_gains(case, gains=gains)[:rank])
    return divided(discounted_sum(retrieved_gains(case, gains=gains)[:rank]), best)


def ndcg_at_relevant(case, gains):
    best = ideal_gains(case, gains=gains)
    ranks = [i for i, value in enumerate(retrieved_gains(case, gains=gains), 1) if value > 0]
    missing = len(best) - len(ranks)
    final = divided(discounted_sum(retrieved_gains(case, gains=gains)), discounted_sum(best))
    total = sum(ndcg_to_rank(case, rank, gains) for rank in ranks) + missing * final
    return divided(total, len(best))


def ndcg_at_steps(case, rel, gains):
    best = ideal_gains(case, gains=gains)
    if not best or not case.num_relevant(rel):
        return 0.0
    ends = [i for i in range(1, len(best) + 1) if i == len(best) or best[i] != best[i - 1]]
    if len(case.ranking) > len(best) + 1:
        ends.append(len(case.ranking))
    return sum(ndcg_to_rank(case, rank, gains) for rank in ends) / len(ends)


def g(case, gains):
    best = ideal_gains(case, gains=gains)
    values = retrieved_gains(case, gains=gains)
    total = 0.0
    for rank, value in enumerate(values, 1):
        if value > 0:
            reachable = [best[i] if i < len(best) else 0.0 for i in range(rank)]
            missed = sum(max(gain, 1.0) for gain in reachable) - sum(values[:rank])
            total += value / math.log2(2 + missed)
    return divided(total, sum(best))


def cascade(grades, top_grade):
    """The expected reciprocal rank of stopping; None is a document that stops nobody."""
    total, going_on = 0.0, 1.0
    for rank, grade in enumerate(grades, 1):
        stops = (2**grade - 1) / 2**top_grade if grade is not None else 0.0
        total += going_on * stops / rank
        going_on *= 1 - stops
    return total


def top_of(case, top):
    return case.top_grade if top == "scale" else max(0, *case.grades.values())


def err(case, k, top):
    return cascade([case.grade(docno) for docno in case.ranking[:k]], top_of(case, top))


def nerr(case, k, top):
    grades = sorted((g for g in case.grades.values() if g >= 0), reverse=True)
    return divided(err(case, k, top), cascade(grades[:k], top_of(case, top)))


def rank_biased_precision(case, rel, p, gain):
    total = 0.0
    for rank, docno in enumerate(case.ranking, 1):
        worth = float(case.is_relevant(docno, rel))
        if gain == "graded":
            worth = divided(case.grade(docno) or 0, case.top_grade)
        total += (1 - p) * worth * p ** (rank - 1)
    return total


def inst(case, rel, T):
    shown, total, weights, found = 1.0, 0.0, 0.0, 0
    ranks = set(case.relevant_ranks(rel, 1000))
    for rank in range(1, 1001):
        found += rank in ranks
        total += shown * (rank in ranks)
        weights += shown
        shown *= ((rank + T + T - found - 1) / (rank + T + T - found)) ** 2
    return total / weights


def rank_biased_residual(case, p):
    ranked = enumerate(case.ranking, 1)
    holes = sum(p ** (rank - 1) for rank, docno in ranked if not case.is_judged(docno))
    return (1 - p) * holes + p ** len(case.ranking)


def bpref(case, rel):
    relevant, nonrelevant = case.num_relevant(rel), case.num_nonrelevant(rel)
    total = 0.0
    for place, docno in enumerate(case.ranking):
        if case.is_relevant(docno, rel):
            above = sum(case.is_nonrelevant(other, rel) for other in case.ranking[:place])
            total += 1 - min(above, relevant) / min(nonrelevant, relevant) if above else 1.0
    return divided(total, relevant)


def inferred_average_precision(case, rel):
    total = 0.0
    for place, docno in enumerate(case.ranking):
        if not case.is_relevant(docno, rel):
            continue
        above = case.ranking[:place]
        found = sum(case.is_relevant(other, rel) for other in above)
        judged = found + sum(case.is_nonrelevant(other, rel) for other in above)
        pooled = sum(other in case.grades for other in above)
        expected = (found + EPSILON) / (judged + 2 * EPSILON)
        second = place / (place + 1) * (pooled / place) * expected if place else 0
        total += 1 / (place + 1) + second
    return divided(total, case.num_relevant(rel))


def area_under_roc(case, rel):
    bottom = len(case.ranking)
    place = {docno: i for i, docno in enumerate(case.ranking)}
    good = [place.get(d, bottom) for d in case.grades if case.is_relevant(d, rel)]
    bad = [place.get(d, bottom) for d in case.grades if case.is_nonrelevant(d, rel)]
    if not good or not bad:
        return math.nan
    wins = sum(1.0 if x < y else 0.5 if x == y else 0.0 for x in good for y in bad)
    return wins / (len(good) * len(bad))


def unjudged(case, k):
    return sum(not case.is_judged(docno) for docno in case.ranking[:k]) / k


def judged(case, k):
    if k is None:
        return 1 - unjudged(case, len(case.ranking)) if case.ranking else 1
    return 1 - unjudged(case, k)


def mean_grade(case, k):
    grades = [case.grade(docno) for docno in case.ranking[:k]]
    known = [grade for grade in grades if grade is not None]
    return sum(known) / len(known) if known else math.nan


def extended_inferred_average_precision(case, rel):
    """Of one stratum."""
    drawn = [d for d in case.grades if case.grade(d) is not None]
    total = 0.0
    for place, docno in enumerate(case.ranking):
        if not case.is_relevant(docno, rel):
            continue
        above = [d for d in case.ranking[:place] if d in case.grades]
        found = sum(case.is_relevant(d, rel) for d in above)
        share = (found + EPSILON) / (sum(d in drawn for d in above) + 3 * EPSILON)
        total += (1 + len(above) * share) / (place + 1)
    return divided(total, case.num_relevant(rel))


def inferred_ndcg(case):
    """Of one stratum."""
    drawn = sum(case.grade(d) is not None for d in case.grades)
    worth = divided(len(case.grades), drawn)
    ideal, before, estimated = 0.0, 0, 0.0
    for grade in sorted({g for g in case.grades.values() if g > 0}, reverse=True):
        estimated += worth * sum(g == grade for g in case.grades.values())
        end = math.floor(estimated + 0.5)
        ideal += sum(grade / math.log2(rank + 1) for rank in range(before + 1, end + 1))
        before = end
    return divided(worth * discounted_sum(retrieved_gains(case)), ideal)


def alpha_ndcg(case, rel, alpha, k):
    """Of one subtopic, as the other measures of diversity here."""
    ranks = case.relevant_ranks(rel, k)
    gain = sum((1 - alpha) ** n / math.log2(rank + 1) for n, rank in enumerate(ranks))
    best = range(min(k, case.num_relevant(rel)))
    return divided(gain, sum((1 - alpha) ** n / math.log2(n + 2) for n in best))


def repeated_reciprocal_ranks(case, rel, alpha, k):
    return sum((1 - alpha) ** n / rank for n, rank in enumerate(case.relevant_ranks(rel, k)))


def err_ia(case, rel, alpha, k):
    highest = sum((1 - alpha) ** (rank - 1) / rank for rank in range(1, k + 1))
    return repeated_reciprocal_ranks(case, rel, alpha, k) / highest


def nerr_ia(case, rel, alpha, k):
    best = range(min(k, case.num_relevant(rel)))
    ideal = sum((1 - alpha) ** n / (n + 1) for n in best)
    return divided(repeated_reciprocal_ranks(case, rel, alpha, k), ideal)


def average_precision_ia(case, rel):
    return average_precision(case, None, rel, "R")


def subtopic_recall(case, rel, k):
    return success(case, k, rel)


def d_ndcg(case, k):
    return ndcg(case, k, "linear", "log2", 2, "judged", ())


def d_sharp_ndcg(case, rel, k):
    return (subtopic_recall(case, rel, k) + d_ndcg(case, k)) / 2


PLAIN: dict[str, Callable[..., float]] = {
    "P": precision,
    "R": recall,
    "RCap": capped_recall,
    "F": f_at_k,
    "SetP": set_precision,
    "SetR": set_recall,
    "SetF": set_f,
    "SetAP": set_average_precision,
    "SetRelP": set_relative_precision,
    "Success": success,
    "Utility": utility,
    "NumQ": num_topics,
    "NumRet": num_retrieved,
    "NumRel": num_relevant,
    "NumRelRet": num_relevant_retrieved,
    "NumNonrelRet": num_nonrelevant_retrieved,
    "AP": average_precision,
    "GMAP": geometric_average_precision,
    "RR": reciprocal_rank,
    "MR": mean_rank,
    "Rprec": r_precision,
    "RprecMult": r_precision_at_multiple,
    "IPrec": interpolated_precision,
    "IPrec11": eleven_point_average,
    "binG": binary_g,
    "yaap": yet_another_average_precision,
    "CG": cumulative_gain,
    "DCG": dcg,
    "IDCG": ideal_dcg,
    "nDCG": ndcg,
    "nDCGRel": ndcg_at_relevant,
    "Rndcg": ndcg_at_steps,
    "G": g,
    "ERR": err,
    "nERR": nerr,
    "RBP": rank_biased_precision,
    "RBPResidual": rank_biased_residual,
    "INST": inst,
    "Bpref": bpref,
    "GMBpref": bpref,
    "infAP": inferred_average_precision,
    "xinfAP": extended_inferred_average_precision,
    "infNDCG": inferred_ndcg,
    "AUC": area_under_roc,
    "Judged": judged,
    "Grade": mean_grade,
    "Unjudged": unjudged,
    "alpha-nDCG": alpha_ndcg,
    "ERR-IA": err_ia,
    "nERR-IA": nerr_ia,
    "P-IA": precision,
    "AP-IA": average_precision_ia,
    "strec": subtopic_recall,
    "D-nDCG": d_ndcg,
    "D#-nDCG": d_sharp_ndcg,
}


def plain_score(measure, case: Case) -> float:
    """The value of a measure on one topic, by the functions of this file."""
    values = dict(measure.parameters)
    if values.pop("holes") == "condensed":
        case = case.condensed()
    if "rel" in values:
        values["rel"] = 1 if values["rel"] is None else values["rel"]
    return PLAIN[measure.name](case, **values)


def scoring_order(lines: list[tuple[bytes, float]]) -> list[bytes]:
    """Docnos by score descending, equal scores by docno descending."""
    return [docno for docno, _ in sorted(lines, key=lambda line: (line[1], line[0]), reverse=True)]
