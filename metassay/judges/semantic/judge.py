"""The semantic judge: how far the premise has a match for each word, by a small encoder's vectors.

A logistic model gives each word of the hypothesis its probability of support; a small network
compares its words with those of the closest sentences; rules find what the closest one says
otherwise (another number, side, time, ...). Of all this a logistic model and boosted trees make the
claim's probability. docs/judges.md says what they were trained on and what they cannot see.
"""

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import Field

from metassay.judges.criteria import RUBRIC, Scale, content, criterion_of
from metassay.judges.lazy_citations import as_needed
from metassay.judges.protocol import Judgment, Pair
from metassay.judges.record import TWO_WAY, Band, JudgeKind, Probability, by_threshold
from metassay.judges.semantic import clashes, coefficients
from metassay.judges.semantic.features import sentences
from metassay.judges.semantic.reader import Question, Read, judged, read_pairs
from metassay.llm.needs import PromptFile
from metassay.models import encoders, extra
from metassay.models.digits import PROBABILITY, kept
from metassay.models.loading import NetworkOptions, identify, weights_digest
from metassay.models.outputs import Task, device_kind, outputs
from metassay.models.store import STORE
from metassay.models.words import Text, words

METHOD = 5  # part of the store's keys; whoever changes what an output is raises it
PACKAGES = ("transformers", "tokenizers", "torch")
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
    threshold: Probability = 0.5
    abstain: Band | None = None
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
        model, found = self._options.model, []
        cut, judged, hanging = (self.counts[name] for name in ("cut", "judged", "hanging"))
        if cut:
            found.append(
                f"{model}: {cut:,} words of the questions could not be read, and count as"
                " unlike any other: they are longer than the model reads at once, or of characters"
                " that its tokenizer drops; take them out of the texts"
            )
        if hanging:
            found.append(
                f"{model}: of {judged:,} questions {hanging:,} have a label that"
                f" another processor may give otherwise: in {self._options.dtype} probabilities can"
                f" be {OFF:g} off; set `dtype: {EXACT}`, or count with as many that differ"
            )
        return found

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        """One judgment per pair that matters; BadInput if the model cannot be loaded."""
        return as_needed(pairs, self._decided)

    def _decided(self, pairs: Sequence[Pair]) -> list[Judgment]:
        graded = [pair for pair in pairs if pair.instrument in RUBRIC]
        rest = [pair for pair in pairs if pair.instrument not in RUBRIC]
        of_graded, of_rest = iter(self._graded(graded)), iter(self._labelled(rest))
        return [next(of_graded if pair.instrument in RUBRIC else of_rest) for pair in pairs]

    def _graded(self, pairs: Sequence[Pair]) -> list[Judgment]:
        wanted = [_wanted(pair) for pair in pairs]
        asked = [
            (pair.hypothesis, sentence)
            for pair, said in zip(pairs, wanted, strict=True)
            for sentence in said
        ]
        found = iter([output["probability"] for output in self._outputs(asked)])
        return [
            _grade(pair, [next(found) for _ in said])
            for pair, said in zip(pairs, wanted, strict=True)
        ]

    def _labelled(self, pairs: Sequence[Pair]) -> list[Judgment]:
        asked = [pair for pair in pairs if words(pair.hypothesis)]
        found = iter(self._outputs([(pair.premise, pair.hypothesis) for pair in asked]))
        return [
            self._judgment(pair.hypothesis, next(found))
            if words(pair.hypothesis)
            else Judgment("error", explanation="the hypothesis has no words")
            for pair in pairs
        ]

    def _outputs(self, questions: Sequence[Question]) -> list[Any]:
        options = self._options
        known = {"method": METHOD, "coefficients": self._coefficients.digest}
        settings = known | {"dtype": options.dtype}
        task = Task("semantic", identify(options), options.device, settings, PACKAGES)
        encoder = functools.cache(lambda: encoders.load_encoder(options))
        held: dict[str, Text] = {}

        def compute(missing: Sequence[int]) -> Iterator[Mapping[int, Any]]:
            here = [questions[place] for place in missing]
            for block in read_pairs(encoder(), here, options.batch_tokens, held):
                yield {missing[at]: one for at, one in self._block(block).items()}

        found = outputs(task, questions, compute, store=self._store) if questions else []
        self.counts["cut"] += sum(output["cut"] for output in found)
        return found

    def _block(self, block: Mapping[int, Read]) -> dict[int, dict[str, Any]]:
        """What is kept of each pair: its probability, and places of words, no text."""
        found = {place: _known(read) for place, read in block.items()}
        rest = [place for place, read in block.items() if found[place]["probability"] is None]
        if rest:
            said = judged(self._loaded(), [block[place] for place in rest])
            for place, (value, lacking) in zip(rest, said, strict=True):
                probability = kept(value, self._digits.kept)
                found[place] |= {"probability": probability, "lacking": lacking}
        return found

    def _judgment(self, hypothesis: str, output: Mapping[str, Any]) -> Judgment:
        options, value = self._options, output["probability"]
        edges = [options.threshold] if options.abstain is None else options.abstain
        self.counts["judged"] += 1
        if options.dtype != EXACT:
            self.counts["hanging"] += any(abs(value - edge) <= OFF for edge in edges)
        explanation = _explain(hypothesis, output)
        return by_threshold(value, options.threshold, options.abstain, explanation)


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
    said = [f"without support: {', '.join(lacking)}" if lacking else "every word has support"]
    kinds = [kind for kind in output["clashes"] if kind != clashes.ALIKE_KIND]
    if kinds:
        said.append(f"said otherwise: {', '.join(kinds)}")
    return "; ".join(said)


def _wanted(pair: Pair) -> list[str]:
    """The sentences that a text should support for a scale; none for penalties."""
    if not isinstance(criterion_of(pair), Scale):
        return []
    return [sentence for sentence in sentences(content(pair.premise)) if words(sentence)]


def _grade(pair: Pair, supported: Sequence[float]) -> Judgment:
    criterion = criterion_of(pair)
    if not isinstance(criterion, Scale):
        return Judgment("abstained", explanation="violations cannot be told by support")
    if not supported:
        return Judgment("abstained", explanation="there are no words to hold the text against")
    mean = fmean(supported)
    told = f"support {mean:.2f} on average of {len(supported)} sentences"
    return Judgment("ok", grade=float(criterion.level(mean)), explanation=told)


KIND = JudgeKind(
    options=SemanticOptions,
    make=lambda options, _resources, _members: SemanticJudge(options),
    instruments=(*TWO_WAY, *RUBRIC),
    likely=lambda _: TWO_WAY,
    abstains=lambda options: (*(TWO_WAY if options.abstain is not None else ()), *RUBRIC),
    batch=16_384,  # the encoder is loaded once for each
    files=lambda options: tuple(
        PromptFile(path, None)
        for file in [Path(options.coefficients)]
        for path in (file, coefficients.head_file(file))
    ),
)
