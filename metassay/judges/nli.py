"""A judge that is a model of natural language inference on this machine (extra `models`).

It has one of three forms: a classifier of pairs, or an encoder-decoder or causal model
that answers with a word. docs/checkpoints.md has blocks of well-known models.
"""

import functools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from metassay.core.errors import BadInput
from metassay.judges import protocol
from metassay.judges.lazy_citations import judge_as_needed
from metassay.models import extra
from metassay.models.digits import PROBABILITY
from metassay.models.loading import NetworkOptions, identify
from metassay.models.outputs import STORE, Task, device_kind, outputs
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
from metassay.scoring.pairing.instruments import THREE_WAY
from metassay.text.sentences import sentences
from metassay.text.spans import Span

VERSION = 2  # raised by whoever changes results of this module's kinds


def is_fragile(
    windows: Sequence[Shares],
    off: float,
    decide: Callable[[Sequence[Shares]], protocol.Judgment],
) -> bool:
    """Return whether the status or label changes if a label's probabilities are off by `off`."""
    answers = [decide(windows)]
    for label, shift in product(windows[0], (-off, off)):
        shifted = [{**window, label: window[label] + shift} for window in windows]
        answers.append(decide(shifted))
    return len({(answer.status, answer.label) for answer in answers}) > 1


def two_way(
    windows: Sequence[Shares], threshold: float, abstain: Sequence[float] | None
) -> protocol.Judgment:
    """Return entailed if some window's probability reaches the threshold.

    Abstained if the highest probability lies strictly inside the band `abstain`.
    """
    best = max(range(len(windows)), key=lambda n: windows[n][ENTAILED])
    return protocol.apply_threshold(
        windows[best][ENTAILED], threshold, abstain, _show(windows, best)
    )


def three_way(
    windows: Sequence[Shares], abstain: Sequence[float] | None
) -> protocol.Judgment:
    """Return entailed if that is the likeliest label of some window, else contradicted likewise.

    One window is enough, even if the others do not mention the subject, so the label is
    neutral only if all windows are neutral. `probability` is the highest of `entailed`.
    Abstained if the label's own probability is below the upper end of the band
    `abstain`.
    """
    probability = max(window[ENTAILED] for window in windows)
    likeliest = [max(THREE, key=window.__getitem__) for window in windows]
    label = min(likeliest, key=(ENTAILED, CONTRADICTED, NEUTRAL).index)
    with_label = [n for n, other in enumerate(likeliest) if other == label]
    best = max(with_label, key=lambda n: windows[n][label])
    explanation = _show(windows, best)
    if abstain is not None and windows[best][label] < abstain[1]:
        return protocol.Judgment(
            "abstained", probability=probability, explanation=explanation
        )
    return protocol.Judgment("ok", label, probability, explanation=explanation)


def judge_words(windows: Sequence[str | None], *, three: bool) -> protocol.Judgment:
    """Return the label of windows whose answers were generated: entailed if any window is.

    Otherwise the status is unparsed if any answer was not a label (None). Else, of
    `three` labels, it is contradicted if any window is.
    """
    if ENTAILED not in windows and None in windows:
        return protocol.Judgment(
            "unparsed", explanation="the model wrote none of the words"
        )
    if not three:
        return protocol.Judgment(
            "ok", ENTAILED if ENTAILED in windows else NOT_ENTAILED
        )
    order = (ENTAILED, CONTRADICTED)
    return protocol.Judgment(
        "ok", next((label for label in order if label in windows), NEUTRAL)
    )


def _show(windows: Sequence[Shares], best: int) -> str:
    parts = ", ".join(f"{label} {share:.3f}" for label, share in windows[best].items())
    return (
        parts
        if len(windows) == 1
        else f"{parts} in window {best + 1} of {len(windows)}"
    )


def pieces(text: str) -> list[Span]:
    """Cut the text after each sentence, so that a heading stays with the sentence after it.

    Every character lies in exactly one piece; a text without sentences is one piece.
    """
    ends = [span.end for span in sentences(text)][:-1]
    return [
        Span(start, end)
        for start, end in zip([0, *ends], [*ends, len(text)], strict=True)
    ]


def windows(lengths: Sequence[int], most: int, stride: int) -> Iterator[range]:
    """Yield runs of pieces of these lengths: each run as long as `most` allows, or one piece.

    The next run begins at least `stride` (at most `most`) after the beginning of the
    run before it, but skips no piece. A run without a new piece is left out; the last
    run ends with the last piece. With `stride` = `most` runs do not overlap.
    """
    start = covered = 0
    while covered < len(lengths):
        end = start + 1
        total = lengths[start]
        while end < len(lengths) and total + lengths[end] <= most:
            total += lengths[end]
            end += 1
        if end > covered:
            yield range(start, end)
            covered = end
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
    """A model, its input, and how its answers are read.

    `form`: classification, seq2seq or causal. `template`: the input, with {premise} and
    {hypothesis}; a classifier may omit it, and the tokenizer joins the two.

    For a classifier: `head`: the classes of the whole `sequence`, or of each token, of
    which the first counts (`first_token`); `labels`: the meanings of the classes, in
    order, if their names do not tell. For the others: `words`: the answer that stands
    for each label, or several spellings of it. For seq2seq: `read`: the words'
    `probability` where the answer begins, or the `generated` answer. For causal:
    `chat`: the template is a user's message, perhaps after a `system` message.

    `max_tokens`: the longest input; null: the model's limit. `window`: a longer premise
    is read in windows of whole sentences of at most this many tokens; null: at once.
    `stride`: the number of tokens between the beginnings of windows; null: no overlap.
    `threshold`: the probability from which a pair is entailed (three_way takes the
    likeliest label). `abstain`: [low, high], between which the judge is not sure
    enough. `batch_tokens`: the tokens per batch, padding included (about 512 suits a
    processor, 16384 a GPU); it affects speed, and at most the last digits.
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
    def _check(self) -> "NliOptions":
        problems = [*_form_problems(self), *_number_problems(self)]
        if problems:
            raise ValueError("; ".join(problems))
        return self


def _form_problems(options: NliOptions) -> Iterator[str]:
    form = options.form
    template = options.template
    for names in _FORMS.values():
        for name in options.model_fields_set.intersection(names).difference(
            _FORMS[form]
        ):
            yield f"{name} is not for form {form}; take it out"
    if template is None and form != "classification":
        yield f"form {form} needs a template"
    if template is not None and any(
        template.count(p) != 1 for p in (PREMISE, HYPOTHESIS)
    ):
        yield f"template must have {PREMISE} and {HYPOTHESIS}, each once"
    labels = set(options.words or ())
    if form != "classification" and labels not in (
        {ENTAILED, NOT_ENTAILED},
        set(THREE),
    ):
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
    """Ask a model of natural language inference about each premise (or window) and hypothesis.

    Every pair of texts is computed once: the store of model outputs has the numbers,
    keyed by all that can change them, and a second run loads no model. Changing the
    threshold or the combination of windows computes nothing again. If an input is too
    long for the model, the end of the premise is cut, or that of an over-long
    hypothesis, and `notes` counts these. It also counts the labels that another
    processor may change: those that change if probabilities are off by the error of
    their dtype. A blank hypothesis has status error, and so has a pair with a number
    that is not finite. A generated answer that is none of the words is unparsed.
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
        """All that can change a judgment; a model's folder by its content."""
        options = self._options
        excluded = {"model", "revision", "device", "batch_tokens", "form"}
        settings = options.model_dump(exclude=excluded, exclude_none=True)
        settings |= {"digits": self._digits.significant}
        model = f"nli|form:{options.form}|model:{identify(options).name}"
        packages = "|".join(f"{name}:{extra.version(name)}" for name in PACKAGES)
        text = json.dumps(
            settings, sort_keys=True, ensure_ascii=False, separators=(",", ":")
        )
        return f"{model}|device:{device_kind(options.device)}|{text}|{packages}|method:{METHOD}"

    @property
    def notes(self) -> list[str]:
        """The numbers of cut questions, and of labels that depend on the last digits."""
        counts = self.counts
        options = self._options
        premises = counts["premises cut"]
        hypotheses = counts["hypotheses cut"]
        count = counts["judged"]
        fragile = counts["fragile"]
        subject = f"{identify(options).name}: of {count:,} questions"
        notes = []
        if premises + hypotheses:
            notes.append(
                f"{subject} {premises:,} have a premise and {hypotheses:,} a hypothesis whose end"
                " was not read, since the model reads no more at once; set a smaller `window` (or a"
                " larger `max_tokens`, if the model can read more)"
            )
        if fragile:
            notes.append(
                f"{subject} {fragile:,} have a label that may differ on another processor: in"
                f" {options.dtype} probabilities can be {self._digits.off:g} off; set a finer"
                " `dtype`, or expect as many differences"
            )
        if options.read == "generated" and count:
            notes.append(
                f"{subject} it is not known how many labels may differ on another processor, since"
                " answers were generated; with `read: probability` they are counted"
            )
        return notes

    def judge(self, pairs: Sequence[protocol.Pair]) -> list[protocol.Judgment | None]:
        """Return one judgment per pair, in order; None for an answer that is not needed.

        Raises BadInput if the model cannot be loaded, its classes are unknown, or
        three_way needs a third one.
        """
        return judge_as_needed(pairs, self._decide)

    def _decide(self, pairs: Sequence[protocol.Pair]) -> list[protocol.Judgment]:
        readable = [pair for pair in pairs if pair.hypothesis.strip()]
        blank = protocol.Judgment("error", explanation="the hypothesis is blank")
        if not readable:
            return [blank for _ in pairs]
        labels = self._labels()
        three_way_asked = any(pair.instrument == THREE_WAY.name for pair in readable)
        if three_way_asked and set(labels) != set(THREE):
            raise BadInput(
                f"model {self._options.model!r} knows {' and '.join(labels)}, which do not answer"
                " three_way; choose another judge"
            )
        windows = self._windows([pair.premise for pair in readable])
        texts: list[tuple[str, str]] = []
        for pair in readable:
            texts += [(window, pair.hypothesis) for window in windows[pair.premise]]
        all_outputs = iter(self._outputs(texts))
        answers: dict[str, protocol.Judgment] = {}
        for pair in readable:
            outputs = [next(all_outputs) for _ in windows[pair.premise]]
            self.counts["judged"] += 1
            self.counts["premises cut"] += any(output.premise_cut for output in outputs)
            self.counts["hypotheses cut"] += any(
                output.hypothesis_cut for output in outputs
            )
            answers[pair.pair_id] = self._answer(pair.instrument, outputs, labels)
        return [answers.get(pair.pair_id, blank) for pair in pairs]

    def _answer(
        self, instrument: str, outputs: Sequence[Output], labels: Sequence[str]
    ) -> protocol.Judgment:
        three = instrument == THREE_WAY.name
        finite = [output.numbers for output in outputs if output.numbers is not None]
        if len(finite) < len(outputs):
            return protocol.Judgment(
                "error", explanation="the model's numbers are not finite"
            )
        if self._options.read == "generated":
            answers = [labels[int(row[0])] if row else None for row in finite]
            return judge_words(answers, three=three)

        def decide(windows: Sequence[Shares]) -> protocol.Judgment:
            if three:
                return three_way(windows, self._options.abstain)
            return two_way(windows, self._options.threshold, self._options.abstain)

        windows = [shares(row, labels, self._digits.significant) for row in finite]
        self.counts["fragile"] += is_fragile(windows, self._digits.off, decide)
        return decide(windows)

    def _labels(self) -> tuple[str, ...]:
        """Return the label of each number of the model's output."""
        options = self._options
        if self._words:
            return tuple(label for label, _ in self._words)
        if options.labels is not None:
            return labels_of(options.labels)
        task = self._task("nli: classes", {"head": options.head})
        (classes,) = outputs(
            task, [()], lambda _: [{0: self._loaded().classes}], store=self._store
        )
        return labels_of(classes)

    def _windows(self, premises: Sequence[str]) -> dict[str, list[str]]:
        """Return the windows of each premise, by premise."""
        most = self._options.window
        if most is None:
            return {premise: [premise] for premise in premises}
        cut = {premise: pieces(premise) for premise in premises}
        texts: list[str] = []
        for premise, spans in cut.items():
            texts += [premise[start:end] for start, end in spans]
        lengths = iter(self._lengths(texts))
        texts_of = {}
        for premise, spans in cut.items():
            runs = windows(
                [next(lengths) for _ in spans], most, self._options.stride or most
            )
            texts_of[premise] = [
                premise[spans[run[0]].start : spans[run[-1]].end].strip()
                for run in runs
            ]
        return texts_of

    def _lengths(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text by itself."""

        def compute(missing: Sequence[int]) -> Iterator[Mapping[int, int]]:
            reader = self._loaded().reader
            yield {place: reader.count(texts[place]) for place in missing}

        task = self._task("nli: tokens", {})
        return outputs(task, [(text,) for text in texts], compute, store=self._store)

    def _outputs(self, texts: Sequence[tuple[str, str]]) -> list[Output]:
        options = self._options
        names = (
            "form",
            "template",
            "head",
            "read",
            "chat",
            "system",
            "max_tokens",
            "dtype",
        )
        settings = {name: getattr(options, name) for name in names}
        settings["words"] = [word for _, word in self._words]
        task = self._task("nli", settings)
        most = options.batch_tokens
        rows = compute_outputs(
            task, texts, lambda: self._loaded().runner.scores, most, store=self._store
        )
        return [Output(*row) for row in rows]

    def _task(self, name: str, settings: Mapping[str, Any]) -> Task:
        settings = {"method": METHOD, **settings}
        return Task(
            name, identify(self._options), self._options.device, settings, PACKAGES
        )


def _words(options: NliOptions) -> list[tuple[str, str]]:
    """List labels and words, one row per spelling."""
    rows: list[tuple[str, str]] = []
    for label, spellings in (options.words or {}).items():
        words = [spellings] if isinstance(spellings, str) else spellings
        rows += [(label, word) for word in words]
    return rows


def _load(options: NliOptions) -> Scorer:
    wording = Wording(options.template, options.chat, options.system)
    words = [word for _, word in _words(options)]
    most = options.max_tokens
    if options.form == "classification":
        first = options.head == "first_token"
        return load_classifier(options, wording, most, first_token=first)
    if options.form == "seq2seq":
        written = options.read == "generated"
        return load_encoder_decoder(options, wording, most, words, written=written)
    return load_causal(options, wording, most, words)


_ANSWERED = (*protocol.TWO_WAY, THREE_WAY.name)

KIND = protocol.JudgeKind(
    options=NliOptions,
    make=lambda options, _resources, _members: NliJudge(options),
    instruments=_ANSWERED,
    likely=lambda options: () if options.read == "generated" else _ANSWERED,
    abstains=lambda options: () if options.abstain is None else _ANSWERED,
)
