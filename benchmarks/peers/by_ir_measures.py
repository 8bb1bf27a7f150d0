"""ir_measures: prints every measure of every topic, under trec_eval's names."""

from __future__ import annotations

import sys
from pathlib import Path

import ir_measures
from ir_measures import AP, RR, Bpref, NumRelRet, P, R, Rprec, Success, infAP, nDCG

MEASURES = {
    **{AP: "map", Rprec: "Rprec", Bpref: "bpref", RR: "recip_rank", nDCG: "ndcg"},
    **{infAP: "infAP", NumRelRet: "num_rel_ret"},
    **{P @ k: f"P_{k}" for k in (5, 10, 20, 100)},
    **{R @ k: f"recall_{k}" for k in (10, 100, 1000)},
    **{nDCG @ k: f"ndcg_cut_{k}" for k in (5, 10, 20, 100, 1000)},
    **{Success @ k: f"success_{k}" for k in (1, 5, 10)},
    **{AP @ k: f"map_cut_{k}" for k in (10, 100, 1000)},
}


def main(qrels: Path, run: Path) -> None:
    judgments = ir_measures.read_trec_qrels(str(qrels))
    rankings = ir_measures.read_trec_run(str(run))
    for score in ir_measures.iter_calc(list(MEASURES), judgments, rankings):
        print(f"{MEASURES[score.measure]}\t{score.query_id}\t{score.value:.4f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
