"""`metassay meta-eval --example DIR`: an invented study to start from, the same bytes each time."""

from pathlib import Path

import numpy as np
import pandas as pd

from metassay.core.atomic import whole_folder

ARGUMENTS = (
    "scores.csv ratings.csv --lower errors --scale faithful=ordinal,errors=count"
)

_SYSTEMS = ("anchor", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath")
_RATERS = ("ann", "bob", "cem")
_DOCUMENTS = 30
_SEED = 20


def write_example(folder: Path) -> str:
    """Write scores.csv, ratings.csv and README.md; return the command to run in `folder`.

    Raises BadInput where `folder` is not empty or cannot be made.
    """
    command = f"metassay meta-eval {ARGUMENTS} --out results"
    scores, ratings = (
        frame.to_csv(index=False, lineterminator="\n") for frame in example()
    )
    readme = (
        Path(__file__).with_suffix(".md").read_text("utf-8").format(command=command)
    )
    contents = {"scores.csv": scores, "ratings.csv": ratings, "README.md": readme}
    with whole_folder(folder, "--example") as partial:
        for name, text in contents.items():
            (partial / name).write_text(text, encoding="utf-8", newline="\n")
    return command


def example() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw the scores and the ratings, with a fixed seed."""
    rng = np.random.default_rng(_SEED)
    shape = (_DOCUMENTS, len(_SYSTEMS))
    strength = np.linspace(-0.9, 0.9, len(_SYSTEMS))
    of_document = 0.4 * rng.standard_normal(_DOCUMENTS)[:, None]
    quality = strength + of_document + 0.8 * rng.standard_normal(shape)
    words = np.rint(60 + 12 * quality + 25 * rng.standard_normal(shape)).clip(15)
    metrics = {
        "entails": 0.5 + 0.15 * quality + 0.08 * rng.standard_normal(shape),
        "fluency": 0.6 + 0.1 * strength + 0.02 * rng.standard_normal(shape),
        "recall": 0.004 * words + 0.03 * rng.standard_normal(shape),
        "readability": 8 + 2 * rng.standard_normal(shape),
        "binary": (quality + 0.6 * rng.standard_normal(shape) > 0).astype(float),
        "words": words,
    }
    keys = pd.DataFrame(
        [
            (f"doc{d:02}", system)
            for d in range(1, _DOCUMENTS + 1)
            for system in _SYSTEMS
        ],
        columns=["doc_id", "system"],
    )
    scores = keys.assign(
        **{name: values.ravel().round(3) for name, values in metrics.items()}
    )
    scores = scores.astype({"binary": int, "words": int})
    frames = []
    for rater, severity in zip(_RATERS, (0.0, -0.4, 0.2), strict=True):
        perceived = quality + severity + 0.5 * rng.standard_normal(shape)
        of_rater = keys.assign(
            rater=rater,
            faithful=np.rint(3 + 1.1 * perceived).clip(1, 5).ravel().astype(int),
            errors=rng.poisson(np.exp(0.4 - 0.9 * perceived)).ravel(),
        )
        frames.append(of_rater[rng.random(len(keys)) < 2 / 3])
    ratings = pd.concat(frames).sort_values(["doc_id", "system", "rater"])
    return scores, ratings
