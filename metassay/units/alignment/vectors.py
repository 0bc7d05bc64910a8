"""BS-TopK and BS-Gain: alignments by the vectors that an encoder gives tokens.

Adams et al. 2023, section 6.1; the rule of BS-Gain is that of the released code of Adams et al.
2022 (amazon-science/summary-reference-revision).

What was aligned is in the store of model outputs (metassay.models.outputs): a second run loads no
model. Numbers have eight decimals, which with dtype float64 are the same on every processor.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from metassay.models import encoders
from metassay.models.matching import layers_of, recipe_parts, task_of
from metassay.models.rows import Scores, compute_outputs
from metassay.models.store import STORE
from metassay.models.words import words
from metassay.text.tokens import STOPWORDS
from metassay.units.alignment.rouge import Reals, best
from metassay.units.record import Aligned, Alignment, Statements, Tally

MEAN_GAIN, HIGHEST_GAIN = 0.01, 0.05  # a passage is kept whose gain has either
LEAST_WEIGHT = 1e-4
METHOD = 1  # part of the store's keys; whoever changes what is aligned raises it
DECIMALS = 8


class AlignmentOptions(encoders.EncoderOptions):
    """An encoder, and how many passages a statement gets at most (the paper takes 5)."""

    k: int = Field(ge=1)


class Tokens(NamedTuple):
    """The n tokens of a text.

    `units`: n vectors of length 1. `special`: whether the encoder added a token by itself. `stop`:
    whether it is of a stop word, or of no word.
    """

    units: Any
    special: Any
    stop: Any


class Passages(NamedTuple):
    """The m tokens of p passages, one passage after the other; each has a token of its own.

    `starts`: where each begins.
    """

    units: Any
    special: Any
    starts: Any


# Which of the p passages a statement gets, k at most, with their values, the most important first.
Choose = Callable[[Tokens, Passages, int], list[tuple[int, float]]]


def aligned(
    name: str,
    documents: Sequence[Statements],
    options: AlignmentOptions,
    choose: Choose,
    *,
    store: Path = STORE,
) -> Aligned:
    """What `choose` takes of a document's passages for each of its statements.

    A text that is longer than the encoder reads is cut, and a note says how many are. Raises
    BadInput if the extra `models` is not installed, or the model cannot be had.
    """
    asked = [
        (statement, *document.passages)
        for document in documents
        for statement in document.statements
    ]
    task = task_of(name, options, {"method": METHOD, "k": options.k})

    def load() -> Scores:
        encoder = encoders.load_encoder(options, layers_of(options.model, options.layers))

        def scores(inputs: Sequence[Any], batch_tokens: int) -> Iterator[Mapping[int, Any]]:
            for passages, places in groupby(range(len(inputs)), key=lambda at: inputs[at][1:]):
                said = {at: inputs[at][0] for at in places}
                texts = list(dict.fromkeys([*passages, *said.values()]))
                read, cut = _tokens(encoder, texts, batch_tokens)
                there = [place for place, text in enumerate(passages) if text in read]
                side = _joined([read[passages[place]] for place in there]) if there else None
                found = {}
                for place, text in said.items():
                    best = choose(read[text], side, options.k) if side and text in read else []
                    found[place] = {
                        "chosen": [(there[at], value) for at, value in best],
                        "cut": [text in cut, len(cut.intersection(passages))],
                    }
                yield found

        return scores

    each = iter(compute_outputs(task, asked, load, options.batch_tokens, store=store))
    found, statements_cut, passages_cut = [], 0, 0
    for document in documents:
        its = [next(each) for _ in document.statements]
        statements_cut += sum(output["cut"][0] for output in its)
        passages_cut += max((output["cut"][1] for output in its), default=0)
        found.append([[(place, value) for place, value in output["chosen"]] for output in its])
    passages = sum(len(document.passages) for document in documents)
    tally = Tally(
        f"{options.model}: ",
        "{0:,} of {2:,} statements and {1:,} of {3:,} passages are longer than it reads at once;"
        " their ends took no part in the alignment",
        (statements_cut, passages_cut, len(asked), passages),
        tell=2,
    )
    return Aligned(found, tally.notes, tally)


def recipe(name: str, options: AlignmentOptions) -> str:
    """Everything that can change more than a last digit, a folder by its content."""
    return ",".join([name, f"k:{options.k}", *recipe_parts(options)])


def _joined(passages: Sequence[Tokens]) -> Passages:
    sizes = [len(each.special) for each in passages]
    return Passages(
        np.concatenate([each.units for each in passages]),
        np.concatenate([each.special for each in passages]),
        np.cumsum([0, *sizes[:-1]]),
    )


def _tokens(
    encoder: encoders.Encoder, texts: Sequence[str], batch_tokens: int
) -> tuple[dict[str, Tokens], set[str]]:
    """What is read of each text that has tokens, and the texts of which an end was not read."""
    texts = [text for text in texts if text.strip()]
    read = encoders.tokens(encoder, texts)
    added = {encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id}
    rows = encoders.vectors(encoder, [each.numbers for each in read], batch_tokens)
    found = {}
    for text, each, row in zip(texts, read, rows, strict=True):
        units = (row / row.norm(dim=-1, keepdim=True)).cpu().double().numpy()
        special = np.array([number in added for number in each.numbers], bool)
        if not special.all():
            found[text] = Tokens(units, special, special | _stop(encoder, text, len(each.numbers)))
    return found, {text for text, each in zip(texts, read, strict=True) if each.unread}


def _stop(encoder: encoders.Encoder, text: str, count: int) -> Any:
    text = text.strip()
    spans = encoder.tokenizer(text, return_offsets_mapping=True, verbose=False)["offset_mapping"]
    content = np.zeros(len(text), bool)  # the characters of words that are no stop words
    for start, end in words(text):
        content[start:end] = text[start:end].lower() not in STOPWORDS
    return np.array([not content[start:end].any() for start, end in spans[:count]], bool)


def topk(statement: Tokens, passages: Passages, k: int) -> list[tuple[int, float]]:
    """The k best passages of a statement, best first, by the F1 of BERTScore, without idf.

    Up to 1, higher is closer, as metrics.bertscore gives it. Equal values go by lower index; those
    that are not above 0 are left out.
    """
    return best(f1(statement, passages), k)


def f1(statement: Tokens, passages: Passages) -> Reals:
    """BERTScore's F1 of a statement with each of p passages: p values, 0 if a side is not above 0.

    Zhang et al. 2020, section 3. Special tokens can be matched, and weigh nothing.
    """
    similarity = statement.units @ passages.units.T
    of_statement = np.maximum.reduceat(similarity, passages.starts, axis=1)
    precision = of_statement[~statement.special].mean(0)
    own = (~passages.special).astype(np.float64)
    recall = np.add.reduceat(similarity.max(0) * own, passages.starts)
    recall /= np.add.reduceat(own, passages.starts)
    precision, recall = precision.round(DECIMALS), recall.round(DECIMALS)
    total = precision + recall
    above = np.minimum(precision, recall) > 0
    found: Reals = np.zeros_like(total)
    np.divide(2 * precision * recall, total, out=found, where=above)
    return found


def covering(statement: Tokens, passages: Passages, k: int) -> list[tuple[int, float]]:
    """The passages that cover a statement's tokens, in the order of choice; see `gain`.

    Tokens of stop words (text/tokens.py), of no word, and those that the encoder adds take no part
    on the statement's side; on the passages' side only the last do not. A statement of which none
    is left is aligned with nothing.
    """
    cosines = statement.units[~statement.stop] @ passages.units.T
    cosines[:, passages.special] = -1
    if not len(cosines):
        return []
    covered = np.maximum.reduceat(cosines, passages.starts, axis=1).clip(0, 1)
    return gain(covered.T.round(DECIMALS), k)


def gain(covers: Reals, k: int) -> list[tuple[int, float]]:
    """The passages to keep, in the order of choice, with their values: 0 to 1, higher is better.

    `covers`: p passages x n tokens, how far each covers each token, 0 to 1. At most k times the
    passage of highest value is taken, ties by lower index. Its value is the mean of what it covers,
    weighed by what is not covered yet: w = 1 - c, at least LEAST_WEIGHT, where c is the highest
    cover so far. It is kept if it raises c by MEAN_GAIN on average or by HIGHEST_GAIN for a token.

    covers [[.9, .8, .2, .1], [.3, .2, .9, .85]]: passage 1 comes first with .5625, then passage 0,
    weighed by [.7, .8, .1, .15], with .745714.
    """
    covered = np.zeros(covers.shape[1])
    free = np.ones(len(covers), bool)
    kept = []
    for _ in range(min(k, len(covers))):
        weights = np.clip(1 - covered, LEAST_WEIGHT, 1)
        values = (covers @ weights / weights.sum()).round(DECIMALS)
        at = int(np.where(free, values, -1).argmax())
        free[at] = False
        more = np.maximum(covered, covers[at]) - covered
        if more.mean() >= MEAN_GAIN or more.max() >= HIGHEST_GAIN:
            kept.append((at, float(values[at])))
        covered = np.maximum(covered, covers[at])
    return kept


def _kind(name: str, choose: Choose) -> Alignment:
    return Alignment(
        options=AlignmentOptions,
        align=lambda documents, options: aligned(name, documents, options, choose),
        recipe=lambda options, _: recipe(name, options),
    )


BS_TOPK, BS_GAIN = _kind("bs_topk", topk), _kind("bs_gain", covering)
