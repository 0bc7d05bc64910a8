"""Invented files of FRANK's form."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from metassay.datasets.scored_texts import FRANK_ERRORS as ERRORS
from metassay.datasets.scored_texts import FRANK_HUMAN as HUMAN
from metassay.datasets.scored_texts import FRANK_METRICS as METRICS
from metassay.datasets.scored_texts import FRANK_SCORES as SCORES

SYSTEMS = {"cnndm": ("pgn", "bart", "s2s"), "bbc": ("PtGen", "BERTS2S")}


def records(
    seed: int = 7, articles: int = 12
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """People's records and the scores', of all systems on so many articles of each corpus.

    The share of right sentences hangs on system and article; each metric sees it with
    noise of its own, a kind of error that is forgiven moves it up. DAE lacks a score
    now and then.
    """
    rng = np.random.default_rng(seed)
    human, scores = [], []
    for corpus, systems in SYSTEMS.items():
        for number in range(articles):
            about = {"hash": f"{corpus}{number}", "dataset": corpus}
            about["split"] = "valid" if number < articles // 3 else "test"
            level = rng.normal()
            for place, system in enumerate(systems):
                right = float(
                    np.clip(np.round(rng.normal(2 + place + level, 1)), 0, 5) / 5
                )
                key = about | {"model_name": system}
                errors = {column: float(rng.integers(0, 6) / 5) for column in ERRORS}
                flips = {
                    f"Flip_{column}": min(1.0, right + float(rng.integers(0, 3) / 5))
                    for column in ERRORS
                }
                human.append(key | {"Factuality": right} | errors | flips)
                seen = {
                    metric: float(right + rng.normal(0, 0.2 + 0.1 * n) + 0.3 * place)
                    for n, metric in enumerate(METRICS)
                }
                scores.append(
                    key | seen | ({"Dep Entail": None} if number == 3 else {})
                )
    return human, scores


def put(
    folder: Path, human: list[dict[str, Any]], scores: list[dict[str, Any]]
) -> Path:
    (folder / HUMAN).write_text(json.dumps(human), encoding="utf-8")
    (folder / SCORES).write_text(json.dumps(scores), encoding="utf-8")
    return folder
