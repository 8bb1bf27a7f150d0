"""Seeded random judgments and runs: ties, gaps, holes, negative grades, topics left out."""

from __future__ import annotations

import random
from dataclasses import dataclass
from io import BytesIO

from evaluation.judging import JudgedRun, judge, prepare
from evaluation.reading.judging.qrels import Qrels, read_qrels_leniently
from evaluation.reading.runs.reader import Run, read_run_leniently

GRADES = (-2, -1, 0, 0, 0, 1, 1, 2, 3, 5)
SCORES = (0.0, 0.25, 0.5, 1.0, 1e-9, -3.0, 7.5)


@dataclass(frozen=True)
class Sample:
    """The same judgments and run as text lines and as Python values."""

    grades: dict[bytes, dict[bytes, int]]
    scores: dict[bytes, list[tuple[bytes, float]]]
    qrels_lines: list[bytes]
    run_lines: list[bytes]

    def qrels(self) -> Qrels:
        return read_qrels_leniently(BytesIO(b"".join(self.qrels_lines)))

    def run(self) -> Run:
        return read_run_leniently(BytesIO(b"".join(self.run_lines)))

    def judged(self, depth: int | None = None) -> JudgedRun:
        return judge(self.run(), prepare(self.qrels()), depth)


def sample(seed: int, topics: int = 60) -> Sample:
    """Many small topics; one in eight is not answered, some are shallow, some have R = 0."""
    rng = random.Random(seed)
    grades: dict[bytes, dict[bytes, int]] = {}
    scores: dict[bytes, list[tuple[bytes, float]]] = {}
    for number in range(topics):
        topic = b"t%d" % number
        documents = [b"d%d" % n for n in range(rng.randint(1, 30))]
        highest = rng.choice((0, 1, 2, 5))
        judged = rng.sample(documents, rng.randint(1, len(documents)))
        grades[topic] = {docno: min(highest, rng.choice(GRADES)) for docno in judged}
        if rng.random() < 7 / 8:
            found = rng.sample(documents, rng.randint(1, len(documents)))
            scores[topic] = [(docno, rng.choice(SCORES)) for docno in found]
    qrels_lines = [b"%b 0 %b %d\n" % (t, d, g) for t in grades for d, g in grades[t].items()]
    run_lines = [
        b"%b Q0 %b 1 %b tag\n" % (t, d, repr(s).encode()) for t in scores for d, s in scores[t]
    ]
    rng.shuffle(qrels_lines)
    rng.shuffle(run_lines)
    return Sample(grades, scores, qrels_lines, run_lines)


TRIED = """
P@1 P@5 P(rel=2)@10 P(rel=0)@3 R@5 R(rel=3)@10 RCap@2 RCap(rel=2)@10 F@5 F(beta=2)@10
F(rel=2,beta=0.5)@5 SetP SetR SetF SetF(beta=2) SetF(rel=2,beta=0.5) SetAP SetRelP SetRelP(rel=2)
Success@1 Success(rel=2)@5 Utility Utility(a=2,b=-0.5,c=-1,d=0.25) NumQ NumRet NumRel
NumRel(rel=2) NumRelRet NumRelRet(rel=0) NumNonrelRet NumNonrelRet(rel=3) AP AP@5 AP(rel=2)
AP(norm=cap)@3 AP(norm=hits) AP(norm=hits)@5 GMAP RR RR@2 RR(rel=2) MR MR(rel=3) Rprec
Rprec(rel=2) RprecMult(x=0.2) RprecMult(x=1.6) RprecMult(x=0) IPrec@0 IPrec@0.1 IPrec@0.35
IPrec@0.5 IPrec@1 IPrec(rel=2)@0.7 IPrec11 IPrec11(rel=2) binG binG(rel=2) yaap yaap(rel=2) CG@1
CG@10 DCG DCG@5 DCG(gain=exp)@10 DCG(discount=jk)@5 DCG(discount=jk,base=3) IDCG IDCG@3 nDCG
nDCG@1 nDCG@10 nDCG(gain=exp)@10 nDCG(discount=jk,base=10) nDCG(ideal=retrieved)@3
nDCG(ideal=retrieved) nDCG(gains={1:3,2:9}) nDCG(gains={0:-1,1:-2,2:5})@10 nDCG(gains={0:1.5})@5
nDCGRel nDCGRel(gains={1:3}) nDCGRel(gains={0:-1}) Rndcg Rndcg(rel=2) Rndcg(rel=0)
Rndcg(gains={1:0,3:7}) G G(gains={1:3,2:9,5:0.5}) ERR@1 ERR@20 nERR@5 nERR@20 ERR(top=topic)@5
nERR(top=topic)@10 ERR nERR Success INST INST(T=2.5) INST(rel=2,T=3) RBP RBP(p=0.5)
RBP(rel=2,p=0.95) RBP(gain=graded) RBPResidual RBPResidual(p=0.5) Bpref Bpref(rel=2) Bpref(rel=0)
GMBpref infAP infAP(rel=2) xinfAP xinfAP(rel=2)
infNDCG alpha-nDCG@5 alpha-nDCG(alpha=0.2)@10 ERR-IA@5 nERR-IA@5 P-IA@5 AP-IA strec@5
D-nDCG@5 D#-nDCG@5 AUC AUC(rel=2) Judged Judged@1 Judged@10 Grade Grade@5 Unjudged@5
Unjudged@100
AP(holes=condensed) nDCG(holes=condensed)@5 P(holes=condensed)@5 RBPResidual(holes=condensed)
infAP(holes=condensed) IPrec11(holes=condensed)
"""
MEASURES_TRIED = TRIED.split()
