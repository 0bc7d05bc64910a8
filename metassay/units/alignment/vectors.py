"""BS-TopK and BS-Gain: alignments by an encoder's vectors of tokens.

Adams et al. 2023, section 6.1; the rule of BS-Gain is that of the released code of
Adams et al. 2022 (amazon-science/summary-reference-revision).

Alignments are in the store of model outputs (metassay.models.outputs): a second run
loads no model. Numbers have eight decimals, which with dtype float64 are the same on
every processor.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from metassay.models import encoders
from metassay.models.matching import layers_of, recipe_parts, task_of
from metassay.models.outputs import STORE
from metassay.models.rows import Scores, compute_outputs
from metassay.models.words import words
from metassay.text.tokens import STOPWORDS
from metassay.units.alignment.rouge import Reals, best
from metassay.units.record import Aligned, Alignment, Statements, Tally

VERSION = 1  # raised by whoever changes results of this module's kinds

MEAN_GAIN, HIGHEST_GAIN = 0.01, 0.05  # a passage is chosen if its gain reaches either
LEAST_WEIGHT = 1e-4
METHOD = 1  # part of the store's keys; raise it with every change of the result
DECIMALS = 8


class AlignmentOptions(encoders.EncoderOptions):
    """An encoder, and the largest number of passages of a statement (the paper has 5)."""

    k: int = Field(ge=1)


class Tokens(NamedTuple):
    """The n tokens of a text.

    `units`: n vectors of length 1. `special`: whether the encoder added the token.
    `stop`: whether it is of a stop word, or of no word.
    """

    units: Any
    special: Any
    stop: Any


class Passages(NamedTuple):
    """The m tokens of p passages, in order; `starts`: the first of each, which has at least one."""

    units: Any
    special: Any
    starts: Any


# Chooses k of the p passages, at most, for a statement, with their values, in order of
# importance.
Choose = Callable[[Tokens, Passages, int], list[tuple[int, float]]]


def aligned(
    name: str,
    documents: Sequence[Statements],
    options: AlignmentOptions,
    choose: Choose,
    *,
    store: Path = STORE,
) -> Aligned:
    """Align each statement of the documents with the passages that `choose` returns.

    Texts that are longer than the encoder reads are cut, and a note counts them. Raises
    BadInput if the extra `models` is not installed, or the model cannot be loaded.
    """
    rows: list[tuple[str, ...]] = []
    for document in documents:
        rows += [(statement, *document.passages) for statement in document.statements]
    task = task_of(name, options, {"method": METHOD, "k": options.k})

    def load() -> Scores:
        encoder = encoders.load_encoder(
            options, layers_of(options.model, options.layers)
        )

        def scores(
            inputs: Sequence[Any], batch_tokens: int
        ) -> Iterator[Mapping[int, Any]]:
            for passages, places in groupby(
                range(len(inputs)), key=lambda at: inputs[at][1:]
            ):
                statements = {at: inputs[at][0] for at in places}
                texts = list(dict.fromkeys([*passages, *statements.values()]))
                read, cut = _tokens(encoder, texts, batch_tokens)
                readable = [
                    place for place, text in enumerate(passages) if text in read
                ]
                side = (
                    _concat([read[passages[place]] for place in readable])
                    if readable
                    else None
                )
                batch = {}
                for place, text in statements.items():
                    best = (
                        choose(read[text], side, options.k)
                        if side and text in read
                        else []
                    )
                    batch[place] = {
                        "chosen": [(readable[at], value) for at, value in best],
                        "cut": [text in cut, len(cut.intersection(passages))],
                    }
                yield batch

        return scores

    results = iter(compute_outputs(task, rows, load, options.batch_tokens, store=store))
    outputs = []
    statements_cut = 0
    passages_cut = 0
    for document in documents:
        of_document = list(islice(results, len(document.statements)))
        statements_cut += sum(output["cut"][0] for output in of_document)
        passages_cut += max((output["cut"][1] for output in of_document), default=0)
        chosen = []
        for output in of_document:
            chosen.append([(place, value) for place, value in output["chosen"]])
        outputs.append(chosen)
    passages = sum(len(document.passages) for document in documents)
    tally = Tally(
        f"{options.model}: ",
        "{0:,} of {2:,} statements and {1:,} of {3:,} passages are longer than it reads at once;"
        " their ends took no part in the alignment",
        (statements_cut, passages_cut, len(rows), passages),
        tell=2,
    )
    return Aligned(outputs, tally.notes, tally)


def recipe(name: str, options: AlignmentOptions) -> str:
    """Print every setting that can change more than a last digit, a folder by its content."""
    return ",".join([name, f"k:{options.k}", *recipe_parts(options)])


def _concat(passages: Sequence[Tokens]) -> Passages:
    sizes = [len(passage.special) for passage in passages]
    return Passages(
        np.concatenate([passage.units for passage in passages]),
        np.concatenate([passage.special for passage in passages]),
        np.cumsum([0, *sizes[:-1]]),
    )


def _tokens(
    encoder: encoders.Encoder, texts: Sequence[str], batch_tokens: int
) -> tuple[dict[str, Tokens], set[str]]:
    """Return the tokens of each text that has any, and the texts that were cut."""
    texts = [text for text in texts if text.strip()]
    read = encoders.tokens(encoder, texts)
    added = {encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id}
    rows = encoders.vectors(
        encoder, [row_tokens.numbers for row_tokens in read], batch_tokens
    )
    by_text = {}
    for text, row_tokens, row in zip(texts, read, rows, strict=True):
        units = (row / row.norm(dim=-1, keepdim=True)).cpu().double().numpy()
        special = np.array([number in added for number in row_tokens.numbers], bool)
        if not special.all():
            by_text[text] = Tokens(
                units, special, special | _stop(encoder, text, len(row_tokens.numbers))
            )
    return by_text, {
        text for text, row_tokens in zip(texts, read, strict=True) if row_tokens.unread
    }


def _stop(encoder: encoders.Encoder, text: str, count: int) -> Any:
    text = text.strip()
    spans = encoder.tokenizer(text, return_offsets_mapping=True, verbose=False)[
        "offset_mapping"
    ]
    content = np.zeros(len(text), bool)  # characters of words other than stop words
    for start, end in words(text):
        content[start:end] = text[start:end].lower() not in STOPWORDS
    return np.array(
        [not content[start:end].any() for start, end in spans[:count]], bool
    )


def topk(statement: Tokens, passages: Passages, k: int) -> list[tuple[int, float]]:
    """Return the k best passages of a statement, best first, by the F1 of BERTScore without idf.

    Up to 1, higher is closer, as by metrics.bertscore. Ties go to the lower index;
    values that are not above 0 are left out.
    """
    return best(f1(statement, passages), k)


def f1(statement: Tokens, passages: Passages) -> Reals:
    """Return BERTScore's F1 of a statement with each of p passages; 0 unless both sides are above.

    Zhang et al. 2020, section 3. Special tokens can be matched, and have no weight.
    """
    similarity = statement.units @ passages.units.T
    of_statement = np.maximum.reduceat(similarity, passages.starts, axis=1)
    precision = of_statement[~statement.special].mean(0)
    weights = (~passages.special).astype(np.float64)
    recall = np.add.reduceat(similarity.max(0) * weights, passages.starts)
    recall /= np.add.reduceat(weights, passages.starts)
    precision = precision.round(DECIMALS)
    recall = recall.round(DECIMALS)
    total = precision + recall
    above = np.minimum(precision, recall) > 0
    scores: Reals = np.zeros_like(total)
    np.divide(2 * precision * recall, total, out=scores, where=above)
    return scores


def covering(statement: Tokens, passages: Passages, k: int) -> list[tuple[int, float]]:
    """Return the passages that cover a statement's tokens, in the order of choice; see `gain`.

    The statement's tokens are those of words other than stop words (text/tokens.py);
    the passages' are all but those that the encoder adds. A statement without tokens is
    aligned with nothing.
    """
    cosines = statement.units[~statement.stop] @ passages.units.T
    cosines[:, passages.special] = -1
    if not len(cosines):
        return []
    covered = np.maximum.reduceat(cosines, passages.starts, axis=1).clip(0, 1)
    return gain(covered.T.round(DECIMALS), k)


def gain(covers: Reals, k: int) -> list[tuple[int, float]]:
    """Choose passages by gain, in order, with their values: 0 to 1, higher is better.

    `covers`: p passages x n tokens, the coverage of each token, 0 to 1. At most k times
    the passage of highest value is considered, ties by lower index. Its value is the
    mean of its coverage, weighted by what is not covered yet: w = 1 - c, at least
    LEAST_WEIGHT, where c is the highest coverage so far. It is chosen if it raises c by
    MEAN_GAIN on average or by HIGHEST_GAIN for a token.

    covers [[.9, .8, .2, .1], [.3, .2, .9, .85]]: passage 1 comes first with .5625, then
    passage 0, weighed by [.7, .8, .1, .15], with .745714.
    """
    covered = np.zeros(covers.shape[1])
    free = np.ones(len(covers), bool)
    chosen = []
    for _ in range(min(k, len(covers))):
        weights = np.clip(1 - covered, LEAST_WEIGHT, 1)
        values = (covers @ weights / weights.sum()).round(DECIMALS)
        at = int(np.where(free, values, -1).argmax())
        free[at] = False
        gains = np.maximum(covered, covers[at]) - covered
        if gains.mean() >= MEAN_GAIN or gains.max() >= HIGHEST_GAIN:
            chosen.append((at, float(values[at])))
        covered = np.maximum(covered, covers[at])
    return chosen


def _kind(name: str, choose: Choose) -> Alignment:
    return Alignment(
        options=AlignmentOptions,
        align=lambda documents, options: aligned(name, documents, options, choose),
        recipe=lambda options, _: recipe(name, options),
    )


BS_TOPK = _kind("bs_topk", topk)
BS_GAIN = _kind("bs_gain", covering)
