"""ranx: prints every measure of every topic that it has, under trec_eval's names."""

from __future__ import annotations

import sys
from pathlib import Path

from ranx import Qrels, Run, evaluate

# Without bpref, which is no number in ranx where every judged document is relevant.
MEASURES = {
    **{"map": "map", "r-precision": "Rprec", "mrr": "recip_rank"},
    **{"ndcg": "ndcg", "hits": "num_rel_ret"},
    **{f"precision@{k}": f"P_{k}" for k in (5, 10, 20, 100)},
    **{f"recall@{k}": f"recall_{k}" for k in (10, 100, 1000)},
    **{f"ndcg@{k}": f"ndcg_cut_{k}" for k in (5, 10, 20, 100, 1000)},
    **{f"hit_rate@{k}": f"success_{k}" for k in (1, 5, 10)},
    **{f"map@{k}": f"map_cut_{k}" for k in (10, 100, 1000)},
}


def main(qrels: Path, run: Path) -> None:
    judgments = Qrels.from_file(str(qrels), kind="trec")
    rankings = Run.from_file(str(run), kind="trec")
    evaluate(judgments, rankings, list(MEASURES), make_comparable=True)
    for metric, name in MEASURES.items():
        for topic, value in rankings.scores[metric].items():
            print(f"{name}\t{topic}\t{value:.4f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
