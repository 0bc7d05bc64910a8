"""Tiny trainings whose answer is known: what their rows are, and the settings that learn it.

    python -m tests.tuning.trainings TASK FOLDER

trains TASK with the base model and into the checkpoints of FOLDER, and writes
FOLDER/out. Import this module after `pytest.importorskip("torch")`.
"""

import random
import sys
from pathlib import Path
from typing import Any

from metassay.tuning.options import Base, parse_block
from metassay.tuning.tasks import (
    BARTSCORE,
    CTC,
    DISTILL,
    QUALITY,
    Marked,
    Trained,
    Valued,
    Written,
    train,
    write,
)
from tests.models import tiny

TASKS = {task.name: task for task in (BARTSCORE, CTC, DISTILL, QUALITY)}
TRUE = ["how", "is", "the", "knee", "today"]
FAKE = ["it", "hurts", "when", "i", "climb"]
QUICK: dict[str, Any] = {
    "seed": 1,
    "steps": 60,
    "epochs": None,
    "every": 20,
    "batch": 8,
    "warmup": 4,
    "patience": None,
    "smoothing": 0.0,
    "learning_rate": 0.01,
}


def rows(name: str, count: int) -> list[Any]:
    """To copy the passage; to tell words of FAKE; to give the share of these, from 1 to -1."""
    rng, drawn = random.Random(0), []
    for _ in range(count):
        words = rng.sample([*TRUE, *FAKE], 3)
        fake = [int(word in FAKE) for word in words]
        context, text = " ".join(rng.sample(TRUE, 3)), " ".join(words)
        row = {
            "bartscore": Written(text, text),
            "ctc": Marked(context, words, fake),
            "distill": Valued(context, text, 1 - 2 * sum(fake) / 3),
            "quality": Valued(context, text, 1 - 2 * sum(fake) / 3),
        }
        drawn.append(row[name])
    return drawn


def base_model(name: str, folder: Path) -> Base:
    if name == "bartscore":
        tiny.bart(folder)
    else:
        tiny.classifier(folder, "bert", ["unused"])
    return Base(model=str(folder), device="cpu", dtype="float32")


def trained(name: str, folder: Path, count: int = 64, **changes: Any) -> Trained:
    """Train on three quarters of so many rows; checkpoints are in `work` of the folder."""
    every, task = rows(name, count), TASKS[name]
    base = Base(model=str(folder / "base"), device="cpu", dtype="float32")
    options = parse_block(name, "training", QUICK | changes, where="test")
    cut = count * 3 // 4
    return train(task, (every[:cut], every[cut:]), base, options, folder / "work")


def finish(name: str, folder: Path, **changes: Any) -> dict[str, bytes]:
    """The bytes of the finished model's files, by name."""
    write(trained(name, folder, **changes), "# card\n", {"tune": name}, folder / "out")
    return {file.name: file.read_bytes() for file in sorted((folder / "out").iterdir())}


if __name__ == "__main__":
    finish(sys.argv[1], Path(sys.argv[2]))
