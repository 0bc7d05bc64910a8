"""Entailment by a label that an encoder-decoder writes, mapped to a number."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from metassay.metrics.describe import JUDGED, Description
from metassay.metrics.faithfulness.reading import Asked, Template, by_statement
from metassay.metrics.faithfulness.record import Case, CheckpointOptions, FaithfulnessMetric, Scored
from metassay.models import rows
from metassay.models.loading import NetworkOptions
from metassay.models.pair_inputs import HYPOTHESIS, PREMISE, Input, Reader, Wording, filled
from metassay.models.pair_scores import METHOD, Output, load_encoder_decoder
from metassay.models.store import STORE

NAME = "entailment_label"
RELEASED = 256  # tokens of an input, in the released code


class LabelOptions(CheckpointOptions):
    """Encoder-decoders that answer with a word, and the number that stands for each.

    `template`: the input, with {premise}, the passages joined by a blank, and {hypothesis}, the
    statement. `rule`: `protected` cuts the passages of an input that is too long; `released` cuts
    its end after 256 tokens, which can be the statement. `max_tokens`: the longest input under
    `protected`; null for the model's own limit. `batch_tokens`: how many tokens are read at once,
    padding included (about 512 suits a processor, 16384 a GPU); it is for speed.
    """

    template: Template = f"mednli: sentence1: {PREMISE} sentence2: {HYPOTHESIS}"
    values: dict[str, Annotated[float, Field(ge=-1, le=1)]] = Field(
        default={"entailment": 1.0, "neutral": 0.0, "contradiction": -1.0}, min_length=2
    )
    rule: Literal["protected", "released"] = "protected"
    max_tokens: int | None = Field(default=None, ge=5)
    batch_tokens: int = Field(default=512, ge=1)


def score(
    cases: Sequence[Case],
    options: LabelOptions,
    checkpoint: NetworkOptions,
    *,
    store: Path = STORE,
) -> dict[str, list[list[Scored]]]:
    """The number of the label that is written of each statement: by default -1, 0 or 1.

    The likeliest token is written each time. Null for a blank statement and where there is no
    passage; failed if what is written is none of the labels. Adams et al. 2023, section 6.2. Raises
    BadInput as `loading.load`.
    """
    words = list(options.values)
    names = ("template", "rule", "max_tokens")
    settings = {name: getattr(options, name) for name in names}
    task = rows.task_of("entailment label", checkpoint, METHOD, words=words, **settings)

    def load() -> rows.Scores:
        wording, most = Wording(options.template), options.max_tokens
        scorer = load_encoder_decoder(checkpoint, wording, most, words, written=True)
        if options.rule == "released":
            released = _Released(scorer.reader.tokenizer, wording, RELEASED)
            return replace(scorer, reader=released).scores
        return scorer.scores

    def scores(asked: Sequence[Asked]) -> list[Scored]:
        pairs = [(" ".join(passages), said) for passages, said in asked]
        found = rows.computed(task, pairs, load, options.batch_tokens, store=store)
        return [_scored(Output(*each), list(options.values.values())) for each in found]

    return {NAME: by_statement(cases, scores, Scored(None))}


def _scored(found: Output, values: Sequence[float]) -> Scored:
    value = values[int(found.numbers[0])] if found.numbers else None
    return Scored(value, value is None, found.premise_unread, found.hypothesis_cut)


class _Released(Reader):
    """An input of which the tokenizer cuts the end, whatever stands there."""

    def read(self, premise: str, hypothesis: str) -> Input:
        template, texts = (
            self.wording.template or "",
            (self._plain(premise), self._plain(hypothesis)),
        )
        text = filled(template, *texts)
        told = {"return_offsets_mapping": True, "verbose": False}
        whole = self.tokenizer(text, **told)
        read = self.tokenizer(text, **told, truncation=True, max_length=self.limit)
        end = max(stop for _, stop in read["offset_mapping"])
        begins = [
            len(filled(template[: template.index(place)], *texts))
            for place in (PREMISE, HYPOTHESIS)
        ]
        stops = [begin + len(its) for begin, its in zip(begins, texts, strict=True)]
        its = [b for a, b in whole["offset_mapping"] if begins[0] <= a < b <= stops[0]]
        lost = rows.unread(len(its), sum(stop <= end for stop in its))
        return Input(list(read["input_ids"]), None, lost > 0, end < stops[1], lost)


KIND = FaithfulnessMetric(
    options=LabelOptions,
    score=score,
    recipe=lambda options, checkpoint: rows.recipe_of(
        checkpoint,
        template=repr(options.template),
        values=",".join(f"{word}={value:g}" for word, value in options.values.items()),
        rule=options.rule,
        max_tokens=options.max_tokens or "the model's",
    ),
    descriptions=(
        Description(
            NAME,
            "1 where a model that reads passages and statement writes that they entail it, 0 where"
            " it writes neutral, -1 where it writes that they contradict it",
            better="higher",
            range=(-1, 1),
            missing="null for a blank statement, and where no passage is aligned with it",
            source="Adams et al. 2023, section 6.2",
            family=JUDGED,
            headline=True,
        ),
    ),
)
