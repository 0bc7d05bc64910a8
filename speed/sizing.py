"""What a text, a pair and a resample take, and what that makes of larger studies.

`python speed/sizing.py` prints the two tables of speed/README.md > How large, in
Markdown. Each cost is a slope: processor seconds of one thread for the texts of many
documents less those of a few, so that imports and loading of models are not in it.
Texts are invented: nine statements of ten words each, references too, sources of
fourteen. The judge `nli` has random weights, which cost what trained ones do.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import yaml

import metassay
from metassay.core.kinds import Chosen, choose
from metassay.executor.record import LOCAL
from metassay.judges import JUDGES
from metassay.judges.llm import requests
from metassay.judges.make import batch_of, instruments_of, make_judge
from metassay.judges.run import batches, judge_pairs
from metassay.llm.budget import count_request_tokens
from metassay.llm.ledger import Ledger
from metassay.llm.needs import Resources
from metassay.llm.prompts import Decoding
from metassay.metrics import METRICS
from metassay.metrics.measure import measure
from metassay.scoring.pairing.pairs import build_pairs
from metassay.scoring.pairing.questions import Questions
from metassay.units.alignment import ALIGNMENTS
from metassay.units.alignment.align import align_units
from speed import curves, llm_throughput, nli

ROOT = Path(__file__).resolve().parent.parent
SYSTEMS, FEW, MANY, LIGHT, ROUNDS, SEED = 10, 1, 4, 40, 2, 20261127
STUDY, RESAMPLES, METRICS_MORE, CALLS = 200, 200, 4, 320
QUICK = {
    "SYSTEMS": 2,
    "MANY": 2,
    "LIGHT": 2,
    "ROUNDS": 1,
    "STUDY": 8,
    "RESAMPLES": 20,
    "METRICS_MORE": 1,
    "CALLS": 2,
    "STATEMENTS": 2,
    "PASSAGES": 4,
}
STATEMENTS, PASSAGES, WORDS = 9, 14, 10
ASKED = Questions(
    measures=("claim_recall", "claim_precision", "faithfulness"),
    against="full",
    borrow=False,
)
READ_PRICE, WRITTEN_PRICE = 1.0, 4.0  # USD for a million tokens
SIZES = ((26, 10), (1_000, 10), (10_000, 10), (100_000, 10))


class Tables(NamedTuple):
    sources: pd.DataFrame
    parts: pd.DataFrame
    units: pd.DataFrame
    alignments: pd.DataFrame

    @property
    def pairs(self) -> pd.DataFrame:
        return build_pairs(*self[:3], {"top": self.alignments}, ASKED)


def invented(documents: int, seed: int) -> Tables:
    """Documents with a reference and a text by each system; statements are claims, too."""
    drawn = random.Random(f"{SEED} {seed}")
    syllables = product("bdfgklmprst", ("an", "el", "or", "in"), "aeiou")
    words = ["".join(letters) for letters in syllables]

    def said() -> str:
        return (
            " ".join(drawn.choices(words, k=WORDS - 1)).capitalize()
            + f" {drawn.randint(2, 99)}."
        )

    sources, parts, units, aligned = [], [], [], []
    for number in range(documents):
        doc = f"d{number:06}"
        passages = [said() for _ in range(PASSAGES)]
        sources.append((doc, passages, "note", "invented", [""] * PASSAGES))
        for author in ("reference", *(f"s{one}" for one in range(SYSTEMS))):
            texts = [said() for _ in range(STATEMENTS)]
            parts.append(
                (doc, author, "full", " ".join(texts), "yes", "ok", ["invented"])
            )
            for at, text in enumerate(texts):
                start = sum(len(one) + 1 for one in texts[:at])
                span = (text, start, start + len(text))
                units.append(
                    (doc, author, "full", "statement", at, text, "ok", [], *span)
                )
                units.append(
                    (doc, author, "full", "claim", at, text, "ok", [], None, None, None)
                )
                aligned.append((doc, author, "full", at, "top", [1, 2, 3]))
    of_part = ["doc_id", "author", "part", "text", "leaf", "status", "repeats"]
    key = ["doc_id", "author", "part"]
    of_unit = [
        *key,
        "kind",
        "position",
        "text",
        "status",
        "citations",
        "statement",
        "start",
        "end",
    ]
    return Tables(
        pd.DataFrame(
            sources, columns=["doc_id", "passages", "task", "dataset", "group"]
        ),
        pd.DataFrame(parts, columns=of_part),
        pd.DataFrame(units, columns=of_unit),
        pd.DataFrame(aligned, columns=[*key, "position", "method", "passages"]),
    )


def measured(*names: str) -> Callable[[Tables], object]:
    chosen = [_block(METRICS, name) for name in names]
    return lambda given: measure(
        given.sources, given.parts, chosen, segmentation="whole"
    )


def aligned(name: str) -> Callable[[Tables], object]:
    chosen = _block(ALIGNMENTS, name)
    return lambda given: align_units(given.sources, given.units, name, chosen)


def judged(
    name: str, block: dict[str, Any] | None = None
) -> Callable[[Tables], object]:
    chosen = choose(JUDGES, block, where=name) if block else _block(JUDGES, name)

    def run(given: Tables) -> object:
        judge = make_judge(chosen, lambda _: Resources(Path("data/raw")))
        kinds = instruments_of(chosen)
        return judge_pairs(
            given.pairs, name, judge, kinds, batch=batch_of(chosen, LOCAL)
        )

    return run


def _block(index: Any, name: str) -> Chosen:
    shared = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    blocks = {**shared["metrics"], **shared["costly_metrics"], **shared["alignments"]}
    return choose(index, {**blocks, **shared["judges"]}[name], where=name)


def classifier() -> Callable[[Tables], object]:
    """A judge `nli` of MiniLM's shape with random weights."""
    model = nli.made(Path("nli"))
    options = {
        "model": str(model),
        "device": "cpu",
        "dtype": "float32",
        "batch_tokens": 4096,
    }
    return judged(
        "nli", {"kind": "nli", "form": "classification", "window": 350, **options}
    )


def slope(work: Callable[[Tables], object], many: int) -> float:
    """Processor seconds for 1,000 texts."""
    work(invented(1, -1))  # imports
    found = []
    for each in range(ROUNDS):
        sizes = [
            invented(count, 2 * each + place)
            for place, count in enumerate((FEW, FEW + many))
        ]
        spent = []
        for given in sizes:
            start = time.process_time()
            work(given)
            spent.append(time.process_time() - start)
        found.append(max(0.0, spent[1] - spent[0]) / (many * SYSTEMS) * 1_000)
    return min(found)


class Asked(NamedTuple):
    """Of a language model, for 1,000 texts: questions, tokens, and the client's seconds."""

    calls: float
    read: float
    written: float
    seconds: float

    @property
    def money(self) -> float:
        return (self.read * READ_PRICE + self.written * WRITTEN_PRICE) / 1e6


def language_model() -> Asked:
    block = {
        "kind": "llm",
        "model": "m",
        "style": "json",
        "per_call": "part",
        "shots": 0,
    }
    chosen = choose(JUDGES, {**block, "rounds": 1}, where="llm")
    given = invented(MANY, 0)
    decoding, calls, read, written = Decoding("m", 0.0, None, 2_000), 0, 0.0, 0.0
    for batch in batches(given.pairs, chosen.record.batch):
        asked = requests(batch, chosen.options, decoding, prompts=ROOT / "prompts")
        calls += len(asked.requests)
        read += sum(
            count_request_tokens(one, structured=True) for one in asked.requests
        )
        written += asked.answer_length * len({pair.pair_id for pair in batch})
    share = 1_000 / (MANY * SYSTEMS)
    return Asked(calls * share, read * share, written * share, calls * share * client())


def client() -> float:
    """Processor seconds of the one who asks, for each call, the ledger included."""
    command = [sys.executable, str(llm_throughput.SERVER), "--latency", "0.1"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        port = int(server.stdout.readline())
        with Ledger(Path("ledger.sqlite")) as ledger:
            ask = llm_throughput.asking(port, 32, ledger)
            ask(llm_throughput.questions(8, -8))
            start = time.process_time()
            ask(llm_throughput.questions(CALLS, 0))
            spent = time.process_time() - start
        server.stdin.close()
    return spent / CALLS


def resample() -> float:
    """Processor seconds of `meta_evaluate` for 1,000 texts, one more metric, 1,000 resamples."""
    spent = []
    for metrics in (1, 1, 1 + METRICS_MORE):  # the first warms up
        study = curves.invented(curves.Study(SYSTEMS, STUDY // SYSTEMS, metrics))
        start = time.process_time()
        higher = [f"m{n}" for n in range(metrics)]
        metassay.meta_eval(
            *study, higher=higher, resamples=RESAMPLES, permutations=RESAMPLES
        )
        spent.append(time.process_time() - start)
    each = max(0.0, spent[2] - spent[1]) / METRICS_MORE
    return each * 1_000 / STUDY * 1_000 / RESAMPLES


RULES: dict[str, Callable[[], Callable[[Tables], object]]] = {
    "`rouge`, `extractiveness`, `numbers` together": lambda: measured(
        "rouge", "extractiveness", "numbers"
    ),
    "alignment `rouge_topk`": lambda: aligned("rouge_topk"),
    "judge `lexical`": lambda: judged("lexical"),
}
ENCODERS: dict[str, Callable[[], Callable[[Tables], object]]] = {
    "`bertscore` of 22 million parameters": lambda: measured("bertscore"),
    "alignment `bs_topk`": lambda: aligned("bs_topk"),
    "judge `semantic`": lambda: judged("semantic"),
}
CLASSIFIER = "judge `nli` of 22 million parameters"
MODEL = "a language model as judge, `json`, `per_call: part`"
RESAMPLED = "`meta_evaluate`, each metric and criterion, 1,000 resamples"
UNITS = ("what", "1,000 texts")
STUDIES = (
    "documents x systems",
    "rules, `lexical`",
    "`bertscore`, `bs_topk`, `semantic`",
    "`nli`",
    "`meta_evaluate` of ten metrics",
    "one language model as judge",
)


def unit_labels() -> list[str]:
    return [*RULES, *ENCODERS, CLASSIFIER, MODEL, RESAMPLED]


def study_labels() -> list[str]:
    return [f"{documents:,} x {systems}" for documents, systems in SIZES]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, standing_in(Path(folder)):
        rules = [slope(make(), LIGHT) for make in RULES.values()]
        encoders = [slope(make(), MANY) for make in ENCODERS.values()]
        classified, asked, resampled = (
            slope(classifier(), MANY),
            language_model(),
            resample(),
        )
    said = (
        f"{rounded(asked.seconds)} s of the client; {rounded(asked.calls)} questions,"
        f" {asked.read / 1e6:.1f} million tokens to read, {asked.written / 1e6:.1f} to write"
    )
    seconds = [f"{rounded(one)} s" for one in (*rules, *encoders, classified)]
    cells = [*seconds, said, f"{rounded(resampled)} s"]
    print(table(UNITS, zip(unit_labels(), cells, strict=True)))
    print()
    rows = []
    for label, (documents, systems) in zip(study_labels(), SIZES, strict=True):
        thousands = documents * systems / 1_000
        each = (sum(rules), sum(encoders), classified, 10 * resampled)
        money = f"{rounded(asked.money * thousands)} USD"
        rows.append((label, *(core(one * thousands) for one in each), money))
    print(table(STUDIES, rows))


@contextmanager
def standing_in(folder: Path) -> Iterator[None]:
    """Work in an empty folder that has the project's data; what models compute is kept there."""
    before = Path.cwd()
    (folder / "data").symlink_to(ROOT / "data")
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def table(head: Sequence[str], rows: Any) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def core(seconds: float) -> str:
    """Time of one core, as people say it."""
    if seconds < 60:
        return "seconds"
    if seconds < 3600:
        return f"{rounded(seconds / 60)} core minutes"
    return f"{rounded(seconds / 3600)} core hours"


def rounded(number: float) -> str:
    """Two digits that count."""
    value = float(f"{number:.2g}")
    return f"{value:,.0f}" if value >= 10 else f"{value:g}"


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
