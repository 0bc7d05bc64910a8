"""Fake words for the training of CTC: spans of a sentence are masked, and a model fills them.

Deng et al. 2021 (tanyuqian/ctc-gen-eval), where spans are constituents of a parse. A
shallow tree replaces the parse: clauses end at punctuation, chunks at stop words. The
corruption of a sentence depends on its words, its key and the seed only, not on other
sentences or its passages.
"""

import functools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput
from metassay.models import extra
from metassay.models.loading import load
from metassay.models.outputs import text_hash
from metassay.models.rows import Row, Runner, compute_outputs, recipe_of, task_of
from metassay.scoring.aggregation.statements import PLACE
from metassay.tables.corruptions import CORRUPTIONS
from metassay.tables.names import REFERENCE
from metassay.text.tokens import STOPWORDS
from metassay.tuning.options import CorruptionOptions

METHOD = 1  # part of the store's keys; raise it with every change of masks or fillings
TRIES, MOST_WORDS = 5, 128
MOST_NEW = 30  # tokens that a filled sentence may have beyond the masked one
_PUNCTUATION = ".,;:!?)]"  # at a word's end it ends a clause, and is not masked
_IDS = ("bos_token_id", "eos_token_id", "decoder_start_token_id", "forced_bos_token_id")

Span = tuple[int, int]  # words from the first to before the second
# texts around the masks, and the seed of the filling
Masked = tuple[tuple[str, ...], str]
Fill = Callable[[Sequence[Masked]], Sequence[str]]


def draw_masks(words: Sequence[str], rng: np.random.Generator) -> list[Span]:
    """Choose spans of a sentence to mask, in order; none if this try is useless.

    A span of n of N words is masked with probability n / N / (height + 1), else its
    parts are tried: clauses (height 2), their chunks (1), their words (0). Spans of
    stop words only are never masked. A try is useless if it masks nothing, everything,
    or two adjacent spans.
    """
    chosen: list[Span] = []

    def masked(span: Span, height: int) -> bool:
        share = (span[1] - span[0]) / len(words) / (height + 1)
        if rng.random() >= share or all(map(_is_stop, words[slice(*span)])):
            return False
        chosen.append(span)
        return True

    ends = [
        at
        for at, word in enumerate(words, 1)
        if word[-1] in _PUNCTUATION or at == len(words)
    ]
    for clause in pairwise([0, *ends]):
        for chunk in () if masked(clause, 2) else _chunks(words, clause):
            if not masked(chunk, 1):
                for at in range(*chunk):
                    masked((at, at + 1), 0)
    in_a_row = any(before[1] == after[0] for before, after in pairwise(chosen))
    every = sum(end - start for start, end in chosen) == len(words)
    return [] if in_a_row or every else chosen


def _chunks(words: Sequence[str], clause: Span) -> Iterator[Span]:
    for stop, run in groupby(range(*clause), lambda at: _is_stop(words[at])):
        places = list(run)
        if not stop:
            yield places[0], places[-1] + 1


def _is_stop(word: str) -> bool:
    bare = word.lower().strip(f"{_PUNCTUATION}([\"'")
    return not bare or bare in STOPWORDS


def context_of(words: Sequence[str], spans: Sequence[Span]) -> tuple[str, ...]:
    """Return the texts around the masks, one more than masks, with a span's last punctuation."""
    text, texts, start = " ".join(words), [], 0
    for span in spans:
        end = len(" ".join(words[: span[1]]))
        texts.append(text[start : end - len(" ".join(words[slice(*span)]))])
        start = (
            end - len(words[span[1] - 1]) + len(words[span[1] - 1].rstrip(_PUNCTUATION))
        )
    return (*texts, text[start:])


def find_fakes(
    words: Sequence[str], spans: Sequence[Span], text: str
) -> tuple[list[str], list[int]]:
    """Return the words of a filled sentence, and 1 for each fake; none if the filling is useless.

    It is useful if all text outside masks is unchanged, and no mask is empty. A span is
    fake if it differs in lower case, without surrounding space.
    """
    pattern = "(.+?)".join(map(re.escape, context_of(words, spans)))
    filled = re.fullmatch(pattern, " ".join(text.split()))
    if filled is None or not all(new.strip() for new in filled.groups()):
        return [], []
    fake = []
    for group, (new, span) in enumerate(
        zip(filled.groups(), spans, strict=True), start=1
    ):
        original = " ".join(words[slice(*span)]).rstrip(_PUNCTUATION)
        if new.lower().strip() != original.lower():
            fake.append(filled.span(group))
    tokens = list(re.finditer(r"\S+", filled[0]))
    overlaps = [
        any(a < token.end() and token.start() < b for a, b in fake) for token in tokens
    ]
    return [token[0] for token in tokens], [*map(int, overlaps)]


def corrupt(
    units: pd.DataFrame, options: CorruptionOptions, fill: Fill
) -> tuple[pd.DataFrame, list[str]]:
    """Corrupt statements of the reference; return table `corruptions`, and notes.

    Each is tried up to TRIES times; those with more than MOST_WORDS words, and those
    without success, are left out and counted. If there are more than `items`, the seed
    chooses. Raises BadInput if nothing is left.
    """
    valid = (units["kind"] == "statement") & (units["status"] == "ok")
    rows = units.loc[valid & (units["author"] == REFERENCE), [*PLACE, "text"]]
    words = {
        tuple(place): text.split() for *place, text in rows.itertuples(index=False)
    }
    seeds = {place: "|".join(map(str, (options.seed, *place))) for place in words}
    short = [place for place, tokens in words.items() if 0 < len(tokens) <= MOST_WORDS]
    waiting = sorted(short, key=lambda place: text_hash(seeds[place]))[: options.items]
    results = dict[Any, tuple[list[str], list[int]]]()
    for attempt in range(TRIES):
        tries = {place: f"{seeds[place]}|{attempt}" for place in waiting}
        spans = {
            at: draw_masks(words[at], _generator(seed)) for at, seed in tries.items()
        }
        tries = {place: seed for place, seed in tries.items() if spans[place]}
        texts = fill(
            [(context_of(words[at], spans[at]), seed) for at, seed in tries.items()]
        )
        for place, text in zip(tries, texts, strict=True):
            result = find_fakes(words[place], spans[place], text)
            results |= {place: result} if result[0] else {}
        waiting = [place for place in waiting if place not in results]
    if not results:
        raise BadInput(
            f"of {len(words)} statements of the reference none could be corrupted; choose a"
            " corruption > model that fills its mask token and leaves the rest unchanged"
        )
    recipe = (
        f"ctc|{recipe_of(options, options, 'seed', 'items', 'top_p')}|method:{METHOD}"
    )
    table = [(*place, *result, recipe) for place, result in results.items()]
    note = (
        f"{len(results):,} statements of the reference are corrupted; of {len(waiting):,} others"
        f" nothing came in {TRIES} tries, and {len(words) - len(short):,} have more than"
        f" {MOST_WORDS} words"
    )
    return pd.DataFrame(table, columns=list(CORRUPTIONS.columns)), [note]


def _generator(seed: str) -> np.random.Generator:
    return np.random.default_rng(int(text_hash(seed), 16))


def make_filler(options: CorruptionOptions) -> Fill:
    """Return a function that fills masks by a seq2seq model with a mask token, and by the store.

    Each sentence has a separate random generator. A text that does not end is "".
    Raises BadInput as `loading.load`, and if there is no mask token.
    """
    task = task_of("ctc: fill", options, METHOD, top_p=options.top_p)
    loaded = functools.cache(lambda: _runner(options))

    def fill(sentences: Sequence[Masked]) -> list[str]:
        keys = [("\0".join(texts), seed) for texts, seed in sentences]
        return compute_outputs(
            task, keys, lambda: loaded().scores, options.batch_tokens
        )

    return fill


def _runner(options: CorruptionOptions) -> Runner:
    tokenizer, weights = load("AutoModelForSeq2SeqLM", options)
    if tokenizer.mask_token is None:
        raise BadInput(
            f"model {options.model!r} has no mask token; choose one such as BART"
        )
    # without beams or repetition penalty
    config = extra.module("transformers").GenerationConfig
    ids = {name: getattr(weights.generation_config, name) for name in _IDS}
    weights.generation_config = config(pad_token_id=tokenizer.pad_token_id, **ids)

    def read(text: str, seed: str) -> Row:
        tokens = tokenizer(text.replace("\0", tokenizer.mask_token))["input_ids"]
        return Row({"input_ids": tokens}, seed)

    def give(tensors: dict[str, Any], rows: Sequence[Row]) -> Iterator[str]:
        draws = [_generator(row.context) for row in rows]
        limits = [len(row.features["input_ids"]) + MOST_NEW for row in rows]
        generated = weights.generate(
            **tensors,
            logits_processor=[
                lambda _, scores: draw_tokens(scores, draws, options.top_p)
            ],
            max_new_tokens=max(limits),
        )
        end = tokenizer.eos_token_id
        for tokens, limit in zip(generated[:, 1:].tolist(), limits, strict=True):
            length = tokens.index(end) if end in tokens else limit
            text = tokenizer.decode(tokens[:length], skip_special_tokens=True)
            yield text if length < limit else ""

    return Runner(read, give, tokenizer.pad_token_id, options.device)


def draw_tokens(scores: Any, draws: Sequence[np.random.Generator], top_p: float) -> Any:
    """Return scores, rows x tokens, with a single token in each row, drawn by its generator.

    It is one of the likeliest tokens with total probability `top_p`, in proportion to
    theirs.
    """
    shares, order = scores.double().softmax(-1).sort(descending=True, stable=True)
    below = shares.cumsum(-1)
    points = shares.new_tensor([draw.random() for draw in draws])
    points *= (shares * (below - shares < top_p)).sum(-1)
    at = (below > points[:, None]).int().argmax(-1, keepdim=True)
    return scores.new_full(scores.shape, -math.inf).scatter(1, order.gather(1, at), 0)
