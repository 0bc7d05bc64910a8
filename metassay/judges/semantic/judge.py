"""The semantic judge: matches each word with the premise by a small encoder's vectors.

A logistic model gives each word of the hypothesis its probability of support; a small
network compares its words with those of the closest sentences; rules find clashes with
the closest sentence (another number, side, time, ...). From these features a logistic
model and boosted trees compute the claim's probability. docs/judges.md describes their
training and their limits.
"""

import functools
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from metassay.judges import assertion, protocol
from metassay.judges.criteria import RUBRIC, Scale, content, criterion_of
from metassay.judges.lazy_citations import judge_as_needed
from metassay.judges.reading import Reading
from metassay.judges.semantic import clashes, coefficients, features
from metassay.judges.semantic.coefficients import (
    Models,
    claim_probability,
    head_file,
    support,
)
from metassay.judges.semantic.features import Hypothesis, Premise, sentences
from metassay.llm.needs import PromptFile
from metassay.models import encoders, extra
from metassay.models.batches import batch_by_texts
from metassay.models.digits import PROBABILITY, keep_digits
from metassay.models.encoders import Encoder
from metassay.models.loading import NetworkOptions, identify, weights_digest
from metassay.models.outputs import STORE, device_kind
from metassay.models.rows import PACKAGES, Scores, compute_outputs, task_of
from metassay.models.words import Text, encode, words

VERSION = 4  # raised by whoever changes results of this module's kinds

BLOCK = 16_384  # words that are read at once
UNLIKELY = 0.5  # a word with less than this probability of support is listed
CACHED = 49_152  # words whose vectors stay in memory for later pairs

Question = tuple[str, str]  # premise and hypothesis
Encoded = dict[str, Text]  # texts with their vectors


class Read(NamedTuple):
    """A pair: the hypothesis, its comparison with the premise, and clashes.

    `absent`: share of its numbers that the premise lacks. `words`: the network's input.
    `cut`: words that the encoder could not read. `compared` and `words` are None if the
    premise has no words. `stated`: the premise has it word for word, in whole
    sentences, hence without clash. `disordered`: it has the words, in no such order.
    """

    hypothesis: Hypothesis
    compared: features.Compared | None
    absent: float
    clashing: list[float]
    words: coefficients.Words | None
    cut: int
    stated: bool
    disordered: bool = False

    def claim_features(self, words: Any, doubt: float) -> Any:
        """Return the claim's features from the coefficients of words and the network's doubt."""
        assert self.compared is not None
        likely = support(words, self.compared.features)
        closeness = self.compared.closeness
        last = (self.absent, closeness, *self.clashing, doubt)
        return features.claim_features(self.hypothesis, self.compared, likely, *last)


def judge_claims(
    models: Models, pairs: Sequence[Read]
) -> list[tuple[float, list[list[int]]]]:
    """Return each claim's probability and the spans of its unsupported words.

    The pairs must have a premise. Words of low probability or with a doubt are
    unsupported.
    """
    doubts = coefficients.read_doubts(
        models.head, [pair.words for pair in pairs if pair.words is not None]
    )
    rows = []
    lacking = []
    for pair, (doubt, of_words) in zip(pairs, doubts, strict=True):
        assert pair.compared is not None
        rows.append(pair.claim_features(models.words, doubt))
        likely = support(models.words, pair.compared.features)
        unlikely = (likely < UNLIKELY) | (np.array(of_words) > 0)
        spans = itertools.compress(pair.hypothesis.encoded.words, unlikely)
        lacking.append([list(span) for span in spans])
    return list(
        zip(claim_probability(models, np.array(rows)).tolist(), lacking, strict=True)
    )


def read_pairs(
    encoder: Encoder, questions: Sequence[Question], batch_tokens: int, cache: Encoded
) -> Iterator[dict[int, Read]]:
    """Read pairs block by block; yield them by their places.

    Pairs with the same premise are together. `cache` keeps encoded texts from call to
    call, up to BLOCK + CACHED words (more if one premise has more).
    """
    order = sorted(range(len(questions)), key=questions.__getitem__)
    for block in batch_by_texts(questions, order, lambda text: len(words(text)), BLOCK):
        parts: dict[str, list[str]] = {}
        texts: dict[str, None] = {}  # a set that keeps the order
        for place in block:
            source, hypothesis = questions[place]
            if source not in parts:
                parts[source] = features.sentences(source)
            texts |= dict.fromkeys((*parts[source], hypothesis))
        missing = [text for text in texts if text not in cache]
        cache |= zip(missing, encode(encoder, missing, batch_tokens), strict=True)
        pairs: dict[int, Read] = {}
        for text, places in itertools.groupby(block, lambda place: questions[place][0]):
            premise = features.read_premise(parts[text], cache)
            numbers = frozenset().union(*map(clashes.numbers, parts[text]))
            ordered = clashes.read_as_written(text)
            for place in places:
                pairs[place] = _read(
                    questions[place][1], parts[text], premise, numbers, ordered, cache
                )
        yield pairs
        _evict(cache, texts)


def _read(
    text: str,
    parts: Sequence[str],
    premise: Premise | None,
    numbers: Set[str],
    ordered: Reading,
    cache: Encoded,
) -> Read:
    cut = sum(cache[part].cut for part in (*parts, text))
    in_claim = clashes.numbers(text)
    hypothesis = features.read_hypothesis(text, cache[text])
    absent = len(in_claim - numbers) / max(1, len(in_claim))
    if premise is None:
        return Read(hypothesis, None, absent, clashes.NO_CLASH, None, cut, False)
    compared = features.compare(hypothesis, premise)
    stated = clashes.is_stated(text, parts)
    nearest = premise.texts[compared.closest[0]]
    clashing = clashes.NO_CLASH if stated else clashes.clashes(text, nearest)
    near = [premise.sentences[i] for i in compared.closest]
    words = coefficients.read_words(hypothesis, near, compared.exact)
    disordered = not stated and assertion.is_disordered(
        clashes.read_as_written(text), ordered
    )
    return Read(hypothesis, compared, absent, clashing, words, cut, stated, disordered)


def _evict(cache: Encoded, used: dict[str, None]) -> None:
    """Remove the least recently used texts until CACHED words are left."""
    for text in used:
        cache[text] = cache.pop(text)
    size = sum(len(text.words) for text in cache.values())
    for text in list(cache):
        if size <= CACHED:
            break
        size -= len(cache.pop(text).words)


METHOD = 8  # part of the store's keys; raise it with every change of outputs
NOT_SAID = 0.01  # of one whose words belong to nothing in the premise
STATED = 0.99  # the probability of a claim that the premise contains word for word
EXACT = "float64"  # the dtype whose probabilities are the same on every processor
OFF = 0.02  # the error in other dtypes: .00001 was measured, but a tree can jump


class SemanticOptions(NetworkOptions):
    """An encoder, the coefficients that were fitted to it, and thresholds.

    `coefficients`: a file of the project that the stage `train` wrote. `threshold`: the
    probability from which a pair is entailed. `abstain`: [low, high], between which the
    judge gives no label; null: it always gives one. `batch_tokens`: tokens per batch
    with padding, a matter of speed.
    """

    coefficients: str
    threshold: protocol.Probability = 0.5
    abstain: protocol.Band | None = None
    batch_tokens: int = Field(default=512, ge=1)


class SemanticJudge:
    """Judge whether the premise supports the hypothesis, with a probability.

    Each distinct pair is computed once: the store of model outputs has the result, and
    a second run loads no model. Changing the threshold or band computes nothing again.
    Long texts are read completely, sentence by sentence; `notes` counts single words
    that cannot be read, since they are longer than the encoder's limit or its tokenizer
    drops them. With dtype float64 the same texts have the same probability on every
    processor; otherwise `notes` counts the labels that another processor may change.
    The explanation lists the words with a probability of support below a half, or that
    the network doubts, in order, and the kinds of clash. A hypothesis that the premise
    contains word for word, in whole sentences, has probability STATED; one whose words
    it has in no such order, NOT_SAID. Of several sentences the least probable decides;
    each is held against what the premise says in the same manner
    (`assertion.questions`). A hypothesis without
    words has status error; a premise without words supports nothing: probability 0.

    The level of a scale depends on the mean probability that the text (the pair's
    hypothesis) supports a sentence of the premise; sentences without words do not
    count. The scale's levels are equal bands of the mean (`Scale.level`). Without
    sentences, and from penalties, it abstains.
    """

    def __init__(self, options: SemanticOptions, *, store: Path = STORE) -> None:
        """Raise BadInput if the coefficients cannot be read, or are of another encoder."""
        self._options = options
        self._store = store
        file = Path(options.coefficients)
        self._coefficients = coefficients.read(
            file, weights_digest(options), options.model
        )
        self._loaded = functools.cache(
            lambda: coefficients.load_models(self._coefficients, file)
        )
        self._digits = PROBABILITY[options.dtype]
        self.counts = Counter[str]()

    @property
    def signature(self) -> str:
        """All that can change a judgment; a model's folder by its content."""
        options = self._options
        band = (
            "never"
            if options.abstain is None
            else "-".join(f"{v:g}" for v in options.abstain)
        )
        packages = "|".join(f"{name}:{extra.version(name)}" for name in PACKAGES)
        return (
            f"semantic|model:{identify(options).name}|coefficients:#{self._coefficients.digest}"
            f"|threshold:{options.threshold:g}|abstain:{band}|dtype:{options.dtype}"
            f"|device:{device_kind(options.device)}|{packages}|method:{METHOD}"
        )

    @property
    def notes(self) -> list[str]:
        """The numbers of unreadable words, and of labels that depend on the last digits."""
        cut, count, fragile = (
            self.counts[name] for name in ("cut", "judged", "fragile")
        )
        notes = {
            f"{cut:,} words of the questions could not be read, and count as unlike any other: they"
            " are longer than the model reads at once, or of characters that its tokenizer drops;"
            " take them out of the texts": cut,
            f"of {count:,} questions {fragile:,} have a label that may differ on another processor:"
            f" in {self._options.dtype} probabilities can be {OFF:g} off; set `dtype: {EXACT}`, or"
            " expect as many differences": fragile,
        }
        return [
            f"{self._options.model}: {note}" for note, number in notes.items() if number
        ]

    def judge(self, pairs: Sequence[protocol.Pair]) -> list[protocol.Judgment | None]:
        """Return one judgment per pair, None for a citation that makes no difference.

        Raises BadInput if the model cannot be loaded.
        """
        return judge_as_needed(pairs, self._decide)

    def _decide(self, pairs: Sequence[protocol.Pair]) -> list[protocol.Judgment]:
        questions = [_questions(pair) for pair in pairs]
        outputs = iter(self._outputs(list(itertools.chain.from_iterable(questions))))
        answers = []
        for pair, of_pair in zip(pairs, questions, strict=True):
            pair_outputs = list(itertools.islice(outputs, len(of_pair)))
            answers.append(self._answer(pair, pair_outputs))
        return answers

    def _outputs(self, questions: Sequence[Question]) -> list[Any]:
        options = self._options
        cache = Encoded()
        task = task_of(
            "semantic", options, METHOD, coefficients=self._coefficients.digest
        )

        def load() -> Scores:
            encoder = encoders.load_encoder(options)
            return lambda texts, most: map(
                self._judge, read_pairs(encoder, texts, most, cache)
            )

        outputs = compute_outputs(
            task, questions, load, options.batch_tokens, store=self._store
        )
        self.counts["cut"] += sum(output["cut"] for output in outputs)
        return outputs

    def _judge(self, block: Mapping[int, Read]) -> dict[int, dict[str, Any]]:
        """Return what the store has of each pair: its probability and spans of words, no text."""
        outputs = {place: _decide_by_rule(pair) for place, pair in block.items()}
        rest = [
            place for place, output in outputs.items() if output["probability"] is None
        ]
        claims = (
            judge_claims(self._loaded(), [block[place] for place in rest])
            if rest
            else []
        )
        for place, (value, lacking) in zip(rest, claims, strict=True):
            probability = keep_digits(value, self._digits.significant)
            outputs[place] |= {"probability": probability, "lacking": lacking}
        return outputs

    def _answer(
        self, pair: protocol.Pair, outputs: Sequence[Mapping[str, Any]]
    ) -> protocol.Judgment:
        if pair.instrument in RUBRIC:
            return _grade(pair, [output["probability"] for output in outputs])
        if not outputs:
            return protocol.Judgment("error", explanation="the hypothesis has no words")
        options = self._options
        output = min(outputs, key=lambda output: output["probability"])
        value = output["probability"]
        edges = [options.threshold] if options.abstain is None else options.abstain
        self.counts["judged"] += 1
        if options.dtype != EXACT:
            self.counts["fragile"] += any(abs(value - edge) <= OFF for edge in edges)
        hypothesis = _questions(pair)[outputs.index(output)][1]
        explanation = _explain(hypothesis, output)
        return protocol.apply_threshold(
            value, options.threshold, options.abstain, explanation
        )


def _decide_by_rule(pair: Read) -> dict[str, Any]:
    """Return a pair's output; the probability is None if the models have to compute it."""
    probability = None
    lacking = [list(word) for word in pair.hypothesis.encoded.words]
    if pair.stated:
        probability = STATED
        lacking = []
    elif pair.compared is None:
        probability = 0.0
    elif pair.disordered:
        probability = NOT_SAID
    return {
        "probability": probability,
        "lacking": lacking,
        "clashes": list(itertools.compress(clashes.KINDS, pair.clashing)),
        "cut": pair.cut,
    }


def _explain(hypothesis: str, output: Mapping[str, Any]) -> str:
    lacking = [hypothesis[start:end] for start, end in output["lacking"]]
    words = (
        f"without support: {', '.join(lacking)}"
        if lacking
        else "every word has support"
    )
    kinds = [kind for kind in output["clashes"] if kind != clashes.ALIKE_KIND]
    return f"{words}; said otherwise: {', '.join(kinds)}" if kinds else words


def _questions(pair: protocol.Pair) -> list[Question]:
    """Return the pair's texts; of a scale, one question per sentence; of penalties, none."""
    if pair.instrument not in RUBRIC:
        questions = assertion.questions(pair.premise, pair.hypothesis)
        return [
            (each.premise, each.hypothesis)
            for each in questions
            if words(each.hypothesis)
        ]
    parts = (
        sentences(content(pair.premise))
        if isinstance(criterion_of(pair), Scale)
        else []
    )
    return [(pair.hypothesis, sentence) for sentence in parts if words(sentence)]


def _grade(pair: protocol.Pair, supports: Sequence[float]) -> protocol.Judgment:
    criterion = criterion_of(pair)
    if not isinstance(criterion, Scale):
        return protocol.Judgment(
            "abstained", explanation="violations cannot be told by support"
        )
    if not supports:
        return protocol.Judgment(
            "abstained", explanation="there are no words to hold the text against"
        )
    mean = fmean(supports)
    explanation = f"support {mean:.2f} on average of {len(supports)} sentences"
    return protocol.Judgment(
        "ok", grade=float(criterion.level(mean)), explanation=explanation
    )


KIND = protocol.JudgeKind(
    options=SemanticOptions,
    make=lambda options, _resources, _members: SemanticJudge(options),
    instruments=(*protocol.TWO_WAY, *RUBRIC),
    likely=lambda _: protocol.TWO_WAY,
    abstains=lambda options: (
        RUBRIC if options.abstain is None else (*protocol.TWO_WAY, *RUBRIC)
    ),
    batch=16_384,  # the encoder is loaded once for each
    files=lambda options: [
        PromptFile(path, None)
        for path in (Path(options.coefficients), head_file(Path(options.coefficients)))
    ],
)
