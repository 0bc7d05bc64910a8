"""A tiny model that fills masks, trained where it is needed.

Import this module after `pytest.importorskip("torch")`.
"""

import random
from pathlib import Path

from metassay.tuning.options import Base, TrainingOptions
from metassay.tuning.tasks import BARTSCORE, Written, train, write
from tests.models import tiny

WORDS = ["how", "is", "the", "knee", "today", "hurts", "climb", "stairs"]
SENTENCES = [
    "knee hurts, climb",
    "stairs, knee",
    "today climb, stairs knee",
    "hurts, today knee",
]


def infiller(folder: Path, steps: int = 500) -> Path:
    """Writes a masked sentence out, with any of WORDS for the mask, and mostly nothing else."""
    tiny.bart(folder / "base")
    network = tiny.transformers.AutoModelForSeq2SeqLM.from_pretrained(folder / "base")
    tokenizer = tiny.transformers.AutoTokenizer.from_pretrained(folder / "base")
    tokenizer.add_special_tokens({"mask_token": "<mask>"})
    network.resize_token_embeddings(len(tokenizer))
    network.save_pretrained(folder / "base")
    tokenizer.save_pretrained(folder / "base")
    rng = random.Random(0)
    rows = []
    for _ in range(512):
        words = rng.choice(SENTENCES).split()
        at = rng.randrange(len(words))
        end = "," * words[at].endswith(",")
        masked, filled = ([*words] for _ in range(2))
        masked[at], filled[at] = f"<mask>{end}", f"{rng.choice(WORDS)}{end}"
        rows.append(Written(" ".join(masked), " ".join(filled)))
    settings = {
        "seed": 1,
        "steps": steps,
        "every": steps,
        "learning_rate": 0.01,
        "warmup": 20,
    }
    options = TrainingOptions.model_validate(settings)
    base = Base(model=str(folder / "base"), device="cpu", dtype="float32")
    trained = train(BARTSCORE, (rows[:480], rows[480:]), base, options, folder / "work")
    write(trained, "", {}, folder / "infiller")
    return folder / "infiller"
