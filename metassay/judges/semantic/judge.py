"""The semantic judge: how far the premise has a match for each word, by a small encoder's vectors.

A logistic model gives each word of the hypothesis its probability of support; a small network
compares its words with those of the closest sentences; rules find what the closest one says
otherwise (another number, side, time, ...). Of all this a logistic model and boosted trees make the
claim's probability. docs/judges.md says what they were trained on and what they cannot see.
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

from metassay.judges import protocol
from metassay.judges.criteria import RUBRIC, Scale, content, criterion_of
from metassay.judges.lazy_citations import as_needed
from metassay.judges.semantic import clashes, coefficients, features
from metassay.judges.semantic.coefficients import Models, claim_probability, head_file, support
from metassay.judges.semantic.features import Hypothesis, Premise, sentences
from metassay.llm.needs import PromptFile
from metassay.models import encoders, extra
from metassay.models.batches import by_texts
from metassay.models.digits import PROBABILITY, keep_digits
from metassay.models.encoders import Encoder
from metassay.models.loading import NetworkOptions, identify, weights_digest
from metassay.models.outputs import device_kind
from metassay.models.rows import PACKAGES, Scores, compute_outputs, task_of
from metassay.models.store import STORE
from metassay.models.words import Text, encode, words

BLOCK = 16_384  # words that are read at once
UNLIKELY = 0.5  # a word with less than this probability of support is named
KEPT = 49_152  # words whose vectors stay in memory for pairs to come

Question = tuple[str, str]  # premise and hypothesis
Held = dict[str, Text]  # texts with their vectors


class Read(NamedTuple):
    """What is known of a pair: of the hypothesis, of each of its n words, and of clashes.

    `absent`: share of its numbers that the premise lacks. `words`: what the network compares.
    `cut`: words that the encoder could not read. `compared` and `words`: None where the premise has
    no words. `stated`: the premise says it word for word, in whole sentences; there is no clash
    then.
    """

    said: Hypothesis
    compared: features.Compared | None
    absent: float
    clashing: list[float]
    words: coefficients.Words | None
    cut: int
    stated: bool

    def of_claim(self, words: Any, doubt: float) -> Any:
        """The claim's features, by a model of words and a network's doubt."""
        assert self.compared is not None
        likely, closeness = support(words, self.compared.features), self.compared.closeness
        last = (self.absent, closeness, *self.clashing, doubt)
        return features.of_claim(self.said, self.compared, likely, *last)


def judged(models: Models, reads: Sequence[Read]) -> list[tuple[float, list[list[int]]]]:
    """Of pairs that have a premise: the claim's probability, and places of words without support.

    A word lacks it where the model of words says so, or the network doubts it.
    """
    doubts = coefficients.read_doubts(
        models.head, [one.words for one in reads if one.words is not None]
    )
    rows, lacking = [], []
    for one, (doubt, of_words) in zip(reads, doubts, strict=True):
        assert one.compared is not None
        rows.append(one.of_claim(models.words, doubt))
        likely = support(models.words, one.compared.features)
        unlikely = (likely < UNLIKELY) | (np.array(of_words) > 0)
        spans = itertools.compress(one.said.encoded.words, unlikely)
        lacking.append([list(span) for span in spans])
    return list(zip(claim_probability(models, np.array(rows)).tolist(), lacking, strict=True))


def read_pairs(
    encoder: Encoder, questions: Sequence[Question], batch_tokens: int, held: Held
) -> Iterator[dict[int, Read]]:
    """Read every pair; by its place, block by block.

    Pairs of one premise come together. `held` are texts with their vectors, from call to call, of
    BLOCK + KEPT words at most (more if one premise has more): none of them is encoded again.
    """
    order = sorted(range(len(questions)), key=questions.__getitem__)
    for block in by_texts(questions, order, lambda text: len(words(text)), BLOCK):
        parts = {text: features.sentences(text) for text in {questions[i][0] for i in block}}
        wanted = {part: None for i in block for part in (*parts[questions[i][0]], questions[i][1])}
        missing = [text for text in wanted if text not in held]
        held |= zip(missing, encode(encoder, missing, batch_tokens), strict=True)
        found: dict[int, Read] = {}
        for text, places in itertools.groupby(block, lambda place: questions[place][0]):
            premise = features.premise(parts[text], held)
            numbers = frozenset().union(*map(clashes.numbers, parts[text]))
            for place in places:
                found[place] = _read(questions[place][1], parts[text], premise, numbers, held)
        yield found
        _forget(held, wanted)


def _read(
    said: str, parts: Sequence[str], premise: Premise | None, numbers: Set[str], held: Held
) -> Read:
    cut = sum(held[part].cut for part in (*parts, said))
    own, hypothesis = clashes.numbers(said), features.hypothesis(said, held[said])
    absent = len(own - numbers) / max(1, len(own))
    if premise is None:
        return Read(hypothesis, None, absent, clashes.NO_CLASH, None, cut, False)
    compared, stated = features.compare(hypothesis, premise), clashes.stated(said, parts)
    nearest = premise.texts[compared.closest[0]]
    clashing = clashes.NO_CLASH if stated else clashes.clashes(said, nearest)
    near = [premise.sentences[i] for i in compared.closest]
    words = coefficients.read_words(hypothesis, near, compared.exact)
    return Read(hypothesis, compared, absent, clashing, words, cut, stated)


def _forget(held: Held, used: dict[str, None]) -> None:
    """Let go of the texts that were used longest ago, until KEPT words are left."""
    for text in used:
        held[text] = held.pop(text)
    size = sum(len(text.words) for text in held.values())
    for text in list(held):
        if size <= KEPT:
            break
        size -= len(held.pop(text).words)


METHOD = 5  # part of the store's keys; whoever changes what an output is raises it
STATED = 0.99  # the probability of what the premise says word for word
EXACT = "float64"  # the dtype whose probabilities are the same on every processor
OFF = 0.02  # how far off they may be in others: .00001 was measured, but a tree may jump


class SemanticOptions(NetworkOptions):
    """An encoder, the coefficients that were fitted to it, and when it is not sure enough.

    `coefficients`: the file of the project that the stage `train` wrote. `threshold`: the
    probability from which a pair is entailed. `abstain`: [low, high], between which the judge gives
    no label; null: it always gives one. `batch_tokens`: how many tokens are encoded at once,
    padding included; it is for speed, and changes last digits at most.
    """

    coefficients: str
    threshold: protocol.Probability = 0.5
    abstain: protocol.Band | None = None
    batch_tokens: int = Field(default=512, ge=1)


class SemanticJudge:
    """Whether the premise supports the hypothesis, with a probability.

    Each distinct pair is computed once, ever: what was computed is in the store of model outputs,
    and a second run loads no model. Threshold and band can change without computing it again. Long
    texts are read sentence by sentence, whole; only a single word that is longer than the encoder
    reads, or that its tokenizer drops, cannot be, and `notes` counts those. With dtype float64 the
    same texts have the same probability on every processor; otherwise `notes` counts the labels
    that another one may give otherwise. The explanation names the words whose probability of
    support is below a half, or which the network doubts, in their order, and the kinds of clash.
    A hypothesis that the premise says word for word, in whole sentences, has probability STATED.
    One without words has status error; a premise without words supports nothing: probability 0.

    The level of a scale is by the mean probability that the text supports a sentence. The sentences
    are those of the pair's premise that have words, each of equal weight; the text is its
    hypothesis. The scale's levels are equal bands of the mean (`Scale.level`). It abstains from
    penalties, and where the premise has no words, as where a text is held against nothing.
    """

    def __init__(self, options: SemanticOptions, *, store: Path = STORE) -> None:
        """Raises BadInput if the coefficients cannot be had, or are those of another encoder."""
        self._options = options
        self._store = store
        file = Path(options.coefficients)
        self._coefficients = coefficients.read(file, weights_digest(options), options.model)
        self._loaded = functools.cache(lambda: coefficients.models(self._coefficients, file))
        self._digits = PROBABILITY[options.dtype]
        self.counts = Counter[str]()

    @property
    def signature(self) -> str:
        """What makes the judgments, a model's folder by its content."""
        options = self._options
        band = "never" if options.abstain is None else "-".join(f"{v:g}" for v in options.abstain)
        packages = "|".join(f"{name}:{extra.version(name)}" for name in PACKAGES)
        return (
            f"semantic|model:{identify(options).name}|coefficients:#{self._coefficients.digest}"
            f"|threshold:{options.threshold:g}|abstain:{band}|dtype:{options.dtype}"
            f"|device:{device_kind(options.device)}|{packages}|method:{METHOD}"
        )

    @property
    def notes(self) -> list[str]:
        """How many words could not be read, and how many labels hang on last digits."""
        cut, judged, hanging = (self.counts[name] for name in ("cut", "judged", "hanging"))
        found = {
            f"{cut:,} words of the questions could not be read, and count as unlike any other: they"
            " are longer than the model reads at once, or of characters that its tokenizer drops;"
            " take them out of the texts": cut,
            f"of {judged:,} questions {hanging:,} have a label that another processor may give"
            f" otherwise: in {self._options.dtype} probabilities can be {OFF:g} off; set `dtype:"
            f" {EXACT}`, or count with as many that differ": hanging,
        }
        return [f"{self._options.model}: {said}" for said, count in found.items() if count]

    def judge(self, pairs: Sequence[protocol.Pair]) -> list[protocol.Judgment | None]:
        """One judgment per pair that matters; BadInput if the model cannot be loaded."""
        return as_needed(pairs, self._decided)

    def _decided(self, pairs: Sequence[protocol.Pair]) -> list[protocol.Judgment]:
        asked = [_questions(pair) for pair in pairs]
        found = iter(self._outputs([question for some in asked for question in some]))
        return [
            self._answer(pair, [next(found) for _ in some])
            for pair, some in zip(pairs, asked, strict=True)
        ]

    def _outputs(self, questions: Sequence[Question]) -> list[Any]:
        options, held = self._options, dict[str, Text]()
        task = task_of("semantic", options, METHOD, coefficients=self._coefficients.digest)

        def load() -> Scores:
            encoder = encoders.load_encoder(options)
            return lambda here, most: map(self._block, read_pairs(encoder, here, most, held))

        found = compute_outputs(task, questions, load, options.batch_tokens, store=self._store)
        self.counts["cut"] += sum(output["cut"] for output in found)
        return found

    def _block(self, block: Mapping[int, Read]) -> dict[int, dict[str, Any]]:
        """What is kept of each pair: its probability, and places of words, no text."""
        found = {place: _known(read) for place, read in block.items()}
        rest = [place for place, read in block.items() if found[place]["probability"] is None]
        said = judged(self._loaded(), [block[place] for place in rest]) if rest else []
        for place, (value, lacking) in zip(rest, said, strict=True):
            probability = keep_digits(value, self._digits.significant)
            found[place] |= {"probability": probability, "lacking": lacking}
        return found

    def _answer(
        self, pair: protocol.Pair, outputs: Sequence[Mapping[str, Any]]
    ) -> protocol.Judgment:
        if pair.instrument in RUBRIC:
            return _grade(pair, [output["probability"] for output in outputs])
        if not outputs:
            return protocol.Judgment("error", explanation="the hypothesis has no words")
        options, value = self._options, outputs[0]["probability"]
        edges = [options.threshold] if options.abstain is None else options.abstain
        self.counts["judged"] += 1
        if options.dtype != EXACT:
            self.counts["hanging"] += any(abs(value - edge) <= OFF for edge in edges)
        explanation = _explain(pair.hypothesis, outputs[0])
        return protocol.by_threshold(value, options.threshold, options.abstain, explanation)


def _known(read: Read) -> dict[str, Any]:
    """What is kept of a pair; the probability is None where it takes the models to tell."""
    value = STATED if read.stated else 0.0 if read.compared is None else None
    there = zip(clashes.KINDS, read.clashing, strict=True)
    return {
        "probability": value,
        "lacking": [] if read.stated else [list(word) for word in read.said.encoded.words],
        "clashes": [kind for kind, clash in there if clash],
        "cut": read.cut,
    }


def _explain(hypothesis: str, output: Mapping[str, Any]) -> str:
    lacking = [hypothesis[start:end] for start, end in output["lacking"]]
    said = f"without support: {', '.join(lacking)}" if lacking else "every word has support"
    kinds = [kind for kind in output["clashes"] if kind != clashes.ALIKE_KIND]
    return f"{said}; said otherwise: {', '.join(kinds)}" if kinds else said


def _questions(pair: protocol.Pair) -> list[Question]:
    """Of a scale, whether the text supports each sentence; of penalties and of no words none."""
    if pair.instrument not in RUBRIC:
        return [(pair.premise, pair.hypothesis)] if words(pair.hypothesis) else []
    said = sentences(content(pair.premise)) if isinstance(criterion_of(pair), Scale) else []
    return [(pair.hypothesis, sentence) for sentence in said if words(sentence)]


def _grade(pair: protocol.Pair, supported: Sequence[float]) -> protocol.Judgment:
    criterion = criterion_of(pair)
    if not isinstance(criterion, Scale):
        return protocol.Judgment("abstained", explanation="violations cannot be told by support")
    if not supported:
        return protocol.Judgment(
            "abstained", explanation="there are no words to hold the text against"
        )
    mean = fmean(supported)
    told = f"support {mean:.2f} on average of {len(supported)} sentences"
    return protocol.Judgment("ok", grade=float(criterion.level(mean)), explanation=told)


KIND = protocol.JudgeKind(
    options=SemanticOptions,
    make=lambda options, _resources, _members: SemanticJudge(options),
    instruments=(*protocol.TWO_WAY, *RUBRIC),
    likely=lambda _: protocol.TWO_WAY,
    abstains=lambda options: (*(protocol.TWO_WAY if options.abstain is not None else ()), *RUBRIC),
    batch=16_384,  # the encoder is loaded once for each
    files=lambda options: [
        PromptFile(path, None)
        for path in (Path(options.coefficients), head_file(Path(options.coefficients)))
    ],
)
