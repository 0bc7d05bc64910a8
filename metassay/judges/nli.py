"""A judge that is a model of natural language inference on this machine (extra `models`).

Three forms: a classifier of pairs, an encoder-decoder and a causal model that answer with a word.
docs/nli.md has the blocks of well-known ones.
"""

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from metassay.core.errors import BadInput
from metassay.judges.chunking import pieces, windows
from metassay.judges.lazy_citations import as_needed
from metassay.judges.nli_answers import (
    CONTRADICTED,
    ENTAILED,
    NEUTRAL,
    NOT_ENTAILED,
    THREE,
    Shares,
    hangs,
    labels_of,
    shares,
    three_way,
    two_way,
    written,
)
from metassay.judges.nli_options import NliOptions
from metassay.judges.protocol import Judgment, Pair
from metassay.judges.record import JudgeKind
from metassay.models import extra
from metassay.models.digits import PROBABILITY
from metassay.models.loading import identify
from metassay.models.outputs import Task, device_kind, outputs
from metassay.models.pair_inputs import Wording
from metassay.models.pair_scores import (
    METHOD,
    PACKAGES,
    Output,
    Scorer,
    load_causal,
    load_classifier,
    load_encoder_decoder,
)
from metassay.models.store import STORE
from metassay.scoring.pairing.instruments import (
    ATTRIBUTION,
    ATTRIBUTION_ALONE,
    ATTRIBUTION_REST,
    ENTAILMENT,
    THREE_WAY,
)


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
        self._judged = self._premises_cut = self._hypotheses_cut = self._hanging = 0

    @property
    def signature(self) -> str:
        """What makes the judgments, a model's folder by its content."""
        options = self._options
        settings = {name: getattr(options, name) for name in sorted(type(options).model_fields)}
        settings["digits"] = self._digits.kept
        for name in ("model", "revision", "device", "batch_tokens", "form"):
            del settings[name]
        said = {name: value for name, value in settings.items() if value is not None}
        known = f"nli|form:{options.form}|model:{identify(options).name}"
        packages = "|".join(f"{name}:{extra.version(name)}" for name in PACKAGES)
        text = json.dumps(said, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return f"{known}|device:{device_kind(options.device)}|{text}|{packages}|method:{METHOD}"

    @property
    def notes(self) -> list[str]:
        """How many questions were not read whole, and how many labels hang on last digits."""
        premises, hypotheses, options = self._premises_cut, self._hypotheses_cut, self._options
        asked = f"{identify(options).name}: of {self._judged:,} questions"
        found = []
        if premises + hypotheses:
            found.append(
                f"{asked} {premises:,} have a premise and {hypotheses:,} a hypothesis whose end was"
                " not read, since the model reads no more at once; set a smaller `window` (or a"
                " larger `max_tokens`, if the model can read more)"
            )
        if self._hanging:
            found.append(
                f"{asked} {self._hanging:,} have a label that another processor may give otherwise:"
                f" in {options.dtype} probabilities can be {self._digits.off:g} off; set a finer"
                " `dtype`, or count with as many that differ"
            )
        if options.read == "generated" and self._judged:
            found.append(
                f"{asked} how many have a label that another processor may give otherwise is not"
                " known, since the answers were written; with `read: probability` they are counted"
            )
        return found

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        """One judgment per pair, in the order of the pairs; None for what is not needed.

        Raises BadInput if the model cannot be loaded, if its classes are not known, or if it has no
        third one to answer `three_way` with.
        """
        return as_needed(pairs, self._decided)

    def _decided(self, pairs: Sequence[Pair]) -> list[Judgment]:
        said = [pair for pair in pairs if pair.hypothesis.strip()]
        if not said:
            return [_blank() for _ in pairs]
        labels = self._labels()
        if set(labels) != set(THREE) and any(pair.instrument == THREE_WAY.name for pair in said):
            raise BadInput(
                f"model {self._options.model!r} knows {' and '.join(labels)}, which is no answer to"
                " three_way; choose another judge"
            )
        read = self._windows([pair.premise for pair in said])
        asked = [(window, pair.hypothesis) for pair in said for window in read[pair.premise]]
        found = iter(self._outputs(asked))
        answers: dict[str, Judgment] = {}
        for pair in said:
            here = [next(found) for _ in read[pair.premise]]
            self._judged += 1
            self._premises_cut += any(output.premise_cut for output in here)
            self._hypotheses_cut += any(output.hypothesis_cut for output in here)
            answers[pair.pair_id] = self._answer(pair.instrument, here, labels)
        return [answers.get(pair.pair_id) or _blank() for pair in pairs]

    def _answer(self, instrument: str, found: Sequence[Output], labels: Sequence[str]) -> Judgment:
        numbers = [output.numbers for output in found]
        finite = [row for row in numbers if row is not None]
        if len(finite) < len(numbers):
            return Judgment("error", explanation="the model's numbers are not finite")
        if self._options.read == "generated":
            said = [labels[int(row[0])] if row else None for row in finite]
            if instrument == THREE_WAY.name:
                return written(said, (CONTRADICTED, NEUTRAL))
            others = [w if w in (ENTAILED, None) else NOT_ENTAILED for w in said]
            return written(others, (NOT_ENTAILED,))
        parts = [shares(row, labels, self._digits.kept) for row in finite]

        def decide(parts: Sequence[Shares]) -> Judgment:
            if instrument == THREE_WAY.name:
                return three_way(parts, self._options.abstain)
            return two_way(parts, self._options.threshold, self._options.abstain)

        self._hanging += hangs(parts, self._digits.off, decide)
        return decide(parts)

    def _labels(self) -> tuple[str, ...]:
        """The label of each number that the model gives."""
        options = self._options
        if self._words:
            return tuple(label for label, _ in self._words)
        if options.labels is not None:
            return labels_of(options.labels)
        task = self._task("nli: classes", {"head": options.head})
        found = outputs(task, [()], lambda _: iter([{0: self._loaded()[1]}]), store=self._store)
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
            reader = self._loaded()[0].reader
            yield {place: reader.count(texts[place]) for place in missing}

        task = self._task("nli: tokens", {})
        return outputs(task, [(text,) for text in texts], compute, store=self._store)

    def _outputs(self, asked: Sequence[tuple[str, str]]) -> list[Output]:
        options = self._options

        def compute(missing: Sequence[int]) -> Iterator[Mapping[int, Any]]:
            here = [asked[place] for place in missing]
            for batch in self._loaded()[0].scores(here, options.batch_tokens):
                yield {missing[at]: output for at, output in batch.items()}

        names = ("form", "template", "head", "read", "chat", "system", "max_tokens", "dtype")
        settings = {name: getattr(options, name) for name in names}
        settings["words"] = [word for _, word in self._words]
        task = self._task("nli", settings)
        return [Output(*found) for found in outputs(task, asked, compute, store=self._store)]

    def _task(self, name: str, settings: Mapping[str, Any]) -> Task:
        known = {"method": METHOD, **settings}
        return Task(name, identify(self._options), self._options.device, known, PACKAGES)


def _blank() -> Judgment:
    return Judgment("error", explanation="the hypothesis is blank")


def _words(options: NliOptions) -> list[tuple[str, str]]:
    """Labels and words, a row for each spelling."""
    return [
        (label, word)
        for label, words in (options.words or {}).items()
        for word in ([words] if isinstance(words, str) else words)
    ]


def _load(options: NliOptions) -> tuple[Scorer, list[str]]:
    """The model, and what its classes are called if it has any."""
    wording = Wording(options.template, options.chat, options.system)
    words = [word for _, word in _words(options)]
    if options.form == "classification":
        first = options.head == "first_token"
        return load_classifier(options, wording, options.max_tokens, first_token=first)
    if options.form == "seq2seq":
        by_writing = options.read == "generated"
        most = options.max_tokens
        return load_encoder_decoder(options, wording, most, words, written=by_writing), []
    return load_causal(options, wording, options.max_tokens, words), []


_INSTRUMENTS = (ENTAILMENT, ATTRIBUTION, ATTRIBUTION_ALONE, ATTRIBUTION_REST, THREE_WAY)

KIND = JudgeKind(
    options=NliOptions,
    make=lambda options, _resources, _members: NliJudge(options),
    instruments=tuple(one.name for one in _INSTRUMENTS),
    likely=lambda options: () if options.read == "generated" else [i.name for i in _INSTRUMENTS],
    abstains=lambda options: () if options.abstain is None else [i.name for i in _INSTRUMENTS],
)
