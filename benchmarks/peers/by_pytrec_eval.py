"""pytrec_eval: prints every measure of every topic; with a number behind the files it repeats
reading and scoring inside the process so often and prints how long each took."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytrec_eval
from measures import MEASURES


def main(qrels: Path, run: Path, times: int = 0) -> None:
    with open(qrels) as file:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), set(MEASURES))
    if times:
        print(json.dumps([repeated(evaluator, run) for _ in range(times)]))
        return
    with open(run) as file:
        scores = evaluator.evaluate(pytrec_eval.parse_run(file))
    for topic, values in scores.items():
        for name, value in values.items():
            print(f"{name}\t{topic}\t{value:.4f}")


def repeated(evaluator: pytrec_eval.RelevanceEvaluator, run: Path) -> dict[str, float]:
    start = time.perf_counter()
    with open(run) as file:
        rankings = pytrec_eval.parse_run(file)
    read = time.perf_counter()
    evaluator.evaluate(rankings)
    return {"read": read - start, "score": time.perf_counter() - read}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:]))
