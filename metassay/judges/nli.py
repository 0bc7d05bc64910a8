"""A judge that is a model of natural language inference on this machine (extra `models`).

Three forms: a classifier of pairs, an encoder-decoder and a causal model that answer with a word.
docs/judges.md has the blocks of well-known ones.
"""

import functools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from metassay.core.errors import BadInput
from metassay.judges import protocol
from metassay.judges.lazy_citations import as_needed
from metassay.models import extra
from metassay.models.digits import PROBABILITY
from metassay.models.loading import NetworkOptions, identify
from metassay.models.outputs import Task, device_kind, outputs
from metassay.models.pair_inputs import HYPOTHESIS, PREMISE, Wording
from metassay.models.pair_scores import (
    CONTRADICTED,
    ENTAILED,
    METHOD,
    NEUTRAL,
    NOT_ENTAILED,
    THREE,
    Output,
    Scorer,
    Shares,
    labels_of,
    load_causal,
    load_classifier,
    load_encoder_decoder,
    shares,
)
from metassay.models.rows import PACKAGES, compute_outputs
from metassay.models.store import STORE
from metassay.scoring.pairing.instruments import THREE_WAY
from metassay.text.sentences import sentences
from metassay.text.spans import Span


def hangs(
    windows: Sequence[Shares], off: float, decide: Callable[[Sequence[Shares]], protocol.Judgment]
) -> bool:
    """Whether another status or label is decided if a label's probabilities are so much off."""
    shifted = (
        [{**window, label: window[label] + by} for window in windows]
        for label in windows[0]
        for by in (-off, off)
    )
    answers = [decide(each) for each in (windows, *shifted)]
    return len({(answer.status, answer.label) for answer in answers}) > 1


def two_way(
    windows: Sequence[Shares], threshold: float, abstain: Sequence[float] | None
) -> protocol.Judgment:
    """Entailed if some window's probability reaches the threshold.

    Abstained where the highest one lies inside of the band `abstain`.
    """
    best = max(range(len(windows)), key=lambda n: windows[n][ENTAILED])
    return protocol.by_threshold(windows[best][ENTAILED], threshold, abstain, _said(windows, best))


def three_way(windows: Sequence[Shares], abstain: Sequence[float] | None) -> protocol.Judgment:
    """The likeliest label: entailed if it is that of some window, else contradicted if that is.

    What one passage says holds for the premise, even if the others say nothing of it. So the label
    is neutral only if all windows are. The probability is the highest of `entailed`. Abstained
    where the label's own is below the upper end of the band `abstain`.
    """
    probability = max(window[ENTAILED] for window in windows)
    likeliest = [max(THREE, key=window.__getitem__) for window in windows]
    label = min(likeliest, key=(ENTAILED, CONTRADICTED, NEUTRAL).index)
    saying = [n for n, said in enumerate(likeliest) if said == label]
    best = max(saying, key=lambda n: windows[n][label])
    explanation = _said(windows, best)
    if abstain is not None and windows[best][label] < abstain[1]:
        return protocol.Judgment("abstained", probability=probability, explanation=explanation)
    return protocol.Judgment("ok", label, probability, explanation=explanation)


def written(windows: Sequence[str | None], negative: Sequence[str]) -> protocol.Judgment:
    """The label of windows whose answers were written: entailed if one is, else as follows.

    It is unparsed if some window's answer was no label (None), and else the first of `negative`
    that is among them.
    """
    if ENTAILED in windows:
        return protocol.Judgment("ok", ENTAILED)
    if None in windows:
        return protocol.Judgment("unparsed", explanation="the model wrote none of the words")
    return protocol.Judgment(
        "ok", next((label for label in negative if label in windows), negative[-1])
    )


def _said(windows: Sequence[Shares], best: int) -> str:
    parts = ", ".join(f"{label} {share:.3f}" for label, share in windows[best].items())
    return parts if len(windows) == 1 else f"{parts} in window {best + 1} of {len(windows)}"


def pieces(text: str) -> list[Span]:
    """The text cut behind each sentence, so that a heading stays with what follows it.

    Every character lies in exactly one piece; a text without sentences is one piece.
    """
    ends = [span.end for span in sentences(text)][:-1]
    return [Span(start, end) for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def windows(lengths: Sequence[int], most: int, stride: int) -> Iterator[range]:
    """Runs of pieces of these lengths: each as long as `most` allows, or one piece.

    The next one begins where at least `stride` (at most `most`) has been passed, but leaves no
    piece out, and is left out itself if it says nothing new; the last one ends with the last piece.
    With `stride` = `most` no two overlap.
    """
    start = told = 0
    while told < len(lengths):
        end, held = start + 1, lengths[start]
        while end < len(lengths) and held + lengths[end] <= most:
            held += lengths[end]
            end += 1
        if end > told:
            yield range(start, end)
            told = end
        passed = 0
        while start < end and passed < stride:
            passed += lengths[start]
            start += 1


_Label = Literal["entailed", "not_entailed", "neutral", "contradicted"]
_Spellings = Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
_FORMS = {  # the options that only some forms have
    "classification": ("head", "labels"),
    "seq2seq": ("words", "read"),
    "causal": ("words", "chat", "system"),
}


class NliOptions(NetworkOptions):
    """A model, how it is asked, and how its answers are read.

    `form`: classification, seq2seq or causal. `template`: the input, with {premise} and
    {hypothesis}; a classifier may leave it out, and the tokenizer joins the two.

    Of a classifier: `head`: what classifies, the whole `sequence`, or each token, of which the
    first one counts (`first_token`); `labels`: what its classes are called, in their order, where
    its own names don't tell. Of the others: `words`: the answer that stands for each label, or
    several spellings of it. Of seq2seq: `read`: the words' probabilities where the answer begins,
    or the answer that is `generated`. Of causal: `chat`: the template is put to the model as a
    user's message, after a `system` message if there is one.

    `max_tokens`: the longest input; null for the model's own limit. `window`: a longer premise is
    read in windows of whole sentences with at most so many tokens together; null: at once.
    `stride`: how many tokens after its beginning the next window begins; null: with no overlap.
    `threshold`: the probability from which a pair is entailed (three_way has the likeliest label).
    `abstain`: [low, high], between which the judge is not sure enough. `batch_tokens`: how many
    tokens are read at once, padding included (about 512 suits a processor, 16384 a GPU); it is for
    speed, and changes last digits at most.
    """

    form: Literal["classification", "seq2seq", "causal"]
    template: str | None = None
    head: Literal["sequence", "first_token"] = "sequence"
    labels: list[str] | None = None
    words: dict[_Label, str | _Spellings] | None = None
    read: Literal["probability", "generated"] = "probability"
    chat: bool = False
    system: str | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    window: int | None = Field(default=None, ge=1)
    stride: int | None = Field(default=None, ge=1)
    threshold: protocol.Probability = 0.5
    abstain: protocol.Band | None = None
    batch_tokens: int = Field(default=512, ge=1)

    @model_validator(mode="after")
    def _fit(self) -> "NliOptions":
        problems = [*_form_problems(self), *_number_problems(self)]
        if problems:
            raise ValueError("; ".join(problems))
        return self


def _form_problems(options: NliOptions) -> Iterator[str]:
    form, template = options.form, options.template
    given = options.model_fields_set
    for names in _FORMS.values():
        for name in given.intersection(names).difference(_FORMS[form]):
            yield f"{name} is not for form {form}; take it out"
    if template is None and form != "classification":
        yield f"form {form} needs a template"
    if template is not None and any(template.count(p) != 1 for p in (PREMISE, HYPOTHESIS)):
        yield f"template must have {PREMISE} and {HYPOTHESIS}, each once"
    labels = set(options.words or ())
    if form != "classification" and labels not in ({ENTAILED, NOT_ENTAILED}, set(THREE)):
        yield f"form {form} needs words, for entailed and not_entailed or for {', '.join(THREE)}"
    if options.labels is not None:
        try:
            labels_of(options.labels)
        except BadInput as error:
            yield str(error)
    if options.system is not None and not options.chat:
        yield "system is a message of a chat; add chat: true, or take it out"


def _number_problems(options: NliOptions) -> Iterator[str]:
    band = options.abstain
    if band is not None and not band[0] <= options.threshold <= band[1]:
        yield "abstain must be [low, high] around the threshold"
    if band is not None and options.read == "generated":
        yield "abstain needs probabilities; read: generated has none"
    if options.stride is not None and options.stride > (options.window or 0):
        yield "stride must not be more than window"


class NliJudge:
    """A model of natural language inference, asked about each premise (or window) and hypothesis.

    Every pair of texts is computed once, ever: numbers are in the store of model outputs, under all
    that can change them, and a second run loads no model. The threshold and what is made of
    several windows can change without computing anything again. Of an input that is too long for
    the model the end of the premise, or of an over-long hypothesis, is left out, and `notes` says
    how often. It says, too, how many labels another processor may give otherwise: those that would
    change if probabilities were off by as much as their dtype lets them be. A blank hypothesis, and
    a pair for which the model gives no finite number, have status error; an answer that was
    generated and is none of the words is unparsed.
    """

    def __init__(self, options: NliOptions, *, store: Path = STORE) -> None:
        self._options = options
        self._store = store
        self._loaded = functools.cache(lambda: _load(options))
        self._words = _words(options)
        self._digits = PROBABILITY[options.dtype]
        self.counts = Counter[str]()

    @property
    def signature(self) -> str:
        """What makes the judgments, a model's folder by its content."""
        options = self._options
        aside = {"model", "revision", "device", "batch_tokens", "form"}
        settings = options.model_dump(exclude=aside, exclude_none=True)
        said = settings | {"digits": self._digits.significant}
        known = f"nli|form:{options.form}|model:{identify(options).name}"
        packages = "|".join(f"{name}:{extra.version(name)}" for name in PACKAGES)
        text = json.dumps(said, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return f"{known}|device:{device_kind(options.device)}|{text}|{packages}|method:{METHOD}"

    @property
    def notes(self) -> list[str]:
        """How many questions were not read whole, and how many labels hang on last digits."""
        counts, options = self.counts, self._options
        premises, hypotheses = counts["premises cut"], counts["hypotheses cut"]
        judged, hanging = counts["judged"], counts["hanging"]
        asked = f"{identify(options).name}: of {judged:,} questions"
        found = []
        if premises + hypotheses:
            found.append(
                f"{asked} {premises:,} have a premise and {hypotheses:,} a hypothesis whose end was"
                " not read, since the model reads no more at once; set a smaller `window` (or a"
                " larger `max_tokens`, if the model can read more)"
            )
        if hanging:
            found.append(
                f"{asked} {hanging:,} have a label that another processor may give otherwise:"
                f" in {options.dtype} probabilities can be {self._digits.off:g} off; set a finer"
                " `dtype`, or count with as many that differ"
            )
        if options.read == "generated" and judged:
            found.append(
                f"{asked} how many have a label that another processor may give otherwise is not"
                " known, since the answers were written; with `read: probability` they are counted"
            )
        return found

    def judge(self, pairs: Sequence[protocol.Pair]) -> list[protocol.Judgment | None]:
        """One judgment per pair, in the order of the pairs; None for what is not needed.

        Raises BadInput if the model cannot be loaded, if its classes are not known, or if it has no
        third one to answer `three_way` with.
        """
        return as_needed(pairs, self._decided)

    def _decided(self, pairs: Sequence[protocol.Pair]) -> list[protocol.Judgment]:
        said = [pair for pair in pairs if pair.hypothesis.strip()]
        blank = protocol.Judgment("error", explanation="the hypothesis is blank")
        if not said:
            return [blank for _ in pairs]
        labels = self._labels()
        if set(labels) != set(THREE) and any(pair.instrument == THREE_WAY.name for pair in said):
            raise BadInput(
                f"model {self._options.model!r} knows {' and '.join(labels)}, which do not answer"
                " three_way; choose another judge"
            )
        read = self._windows([pair.premise for pair in said])
        asked = [(window, pair.hypothesis) for pair in said for window in read[pair.premise]]
        found = iter(self._outputs(asked))
        answers: dict[str, protocol.Judgment] = {}
        for pair in said:
            here = [next(found) for _ in read[pair.premise]]
            self.counts["judged"] += 1
            self.counts["premises cut"] += any(output.premise_cut for output in here)
            self.counts["hypotheses cut"] += any(output.hypothesis_cut for output in here)
            answers[pair.pair_id] = self._answer(pair.instrument, here, labels)
        return [answers.get(pair.pair_id, blank) for pair in pairs]

    def _answer(
        self, instrument: str, found: Sequence[Output], labels: Sequence[str]
    ) -> protocol.Judgment:
        numbers = [output.numbers for output in found]
        finite = [row for row in numbers if row is not None]
        if len(finite) < len(numbers):
            return protocol.Judgment("error", explanation="the model's numbers are not finite")
        if self._options.read == "generated":
            said = [labels[int(row[0])] if row else None for row in finite]
            if instrument == THREE_WAY.name:
                return written(said, (CONTRADICTED, NEUTRAL))
            others = [w if w in (ENTAILED, None) else NOT_ENTAILED for w in said]
            return written(others, (NOT_ENTAILED,))
        parts = [shares(row, labels, self._digits.significant) for row in finite]

        def decide(parts: Sequence[Shares]) -> protocol.Judgment:
            if instrument == THREE_WAY.name:
                return three_way(parts, self._options.abstain)
            return two_way(parts, self._options.threshold, self._options.abstain)

        self.counts["hanging"] += hangs(parts, self._digits.off, decide)
        return decide(parts)

    def _labels(self) -> tuple[str, ...]:
        """The label of each number that the model gives."""
        options = self._options
        if self._words:
            return tuple(label for label, _ in self._words)
        if options.labels is not None:
            return labels_of(options.labels)
        task = self._task("nli: classes", {"head": options.head})
        found = outputs(task, [()], lambda _: [{0: self._loaded().classes}], store=self._store)
        return labels_of(found[0])

    def _windows(self, premises: Sequence[str]) -> dict[str, list[str]]:
        """The texts that stand for each premise."""
        most = self._options.window
        if most is None:
            return {premise: [premise] for premise in premises}
        cut = {premise: pieces(premise) for premise in dict.fromkeys(premises)}
        texts = [premise[slice(*span)] for premise, spans in cut.items() for span in spans]
        lengths = iter(self._lengths(texts))
        stride = self._options.stride or most
        found = {}
        for premise, spans in cut.items():
            runs = windows([next(lengths) for _ in spans], most, stride)
            ends = [(spans[run[0]].start, spans[run[-1]].end) for run in runs]
            found[premise] = [premise[start:end].strip() for start, end in ends]
        return found

    def _lengths(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text by itself."""

        def compute(missing: Sequence[int]) -> Iterator[Mapping[int, int]]:
            reader = self._loaded().reader
            yield {place: reader.count(texts[place]) for place in missing}

        task = self._task("nli: tokens", {})
        return outputs(task, [(text,) for text in texts], compute, store=self._store)

    def _outputs(self, asked: Sequence[tuple[str, str]]) -> list[Output]:
        options = self._options
        names = ("form", "template", "head", "read", "chat", "system", "max_tokens", "dtype")
        settings = {name: getattr(options, name) for name in names}
        settings["words"] = [word for _, word in self._words]
        task = self._task("nli", settings)
        every = compute_outputs(
            task,
            asked,
            lambda: self._loaded().runner.scores,
            options.batch_tokens,
            store=self._store,
        )
        return [Output(*each) for each in every]

    def _task(self, name: str, settings: Mapping[str, Any]) -> Task:
        known = {"method": METHOD, **settings}
        return Task(name, identify(self._options), self._options.device, known, PACKAGES)


def _words(options: NliOptions) -> list[tuple[str, str]]:
    """Labels and words, a row for each spelling."""
    return [
        (label, word)
        for label, words in (options.words or {}).items()
        for word in ([words] if isinstance(words, str) else words)
    ]


def _load(options: NliOptions) -> Scorer:
    wording = Wording(options.template, options.chat, options.system)
    words = [word for _, word in _words(options)]
    if options.form == "classification":
        first = options.head == "first_token"
        return load_classifier(options, wording, options.max_tokens, first_token=first)
    if options.form == "seq2seq":
        generated, most = options.read == "generated", options.max_tokens
        return load_encoder_decoder(options, wording, most, words, written=generated)
    return load_causal(options, wording, options.max_tokens, words)


_ANSWERED = (*protocol.TWO_WAY, THREE_WAY.name)

KIND = protocol.JudgeKind(
    options=NliOptions,
    make=lambda options, _resources, _members: NliJudge(options),
    instruments=_ANSWERED,
    likely=lambda options: () if options.read == "generated" else _ANSWERED,
    abstains=lambda options: () if options.abstain is None else _ANSWERED,
)
