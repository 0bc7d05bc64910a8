"""Entailment by a label that an encoder-decoder writes, mapped to a number."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from metassay.metrics.faithfulness import reading
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric, Scored
from metassay.models import rows
from metassay.models.loading import NetworkOptions
from metassay.models.pair_inputs import (
    HYPOTHESIS,
    PREMISE,
    Input,
    Reader,
    Wording,
    fill_template,
)
from metassay.models.pair_scores import METHOD, Output, load_encoder_decoder

VERSION = 1  # raised by whoever changes results of this module's kinds

NAME = "entailment_label"
RELEASED = 256  # tokens of an input, in the released code


class LabelOptions(reading.ReadingOptions):
    """Encoder-decoders that answer with a word, and the number of each.

    `template`: the input, with {premise}, the passages joined by a space, and
    {hypothesis}, the statement. `rule`: `protected` cuts the passages of an input that
    is too long; `released` cuts the input after 256 tokens, which can cut the
    statement.
    """

    template: reading.Template = f"mednli: sentence1: {PREMISE} sentence2: {HYPOTHESIS}"
    values: dict[str, Annotated[float, Field(ge=-1, le=1)]] = Field(
        default={"entailment": 1.0, "neutral": 0.0, "contradiction": -1.0}, min_length=2
    )
    rule: Literal["protected", "released"] = "protected"


def score(
    cases: Sequence[Case], options: LabelOptions, checkpoint: NetworkOptions
) -> reading.ByName:
    """Return the number of the label that the model writes of each statement: by default -1 to 1.

    Labels are decoded greedily. Null for a blank statement or without passages; failed
    if the answer is not a label. Adams et al. 2023, section 6.2. Raises BadInput as
    `loading.load`.
    """
    words, values = list(options.values), list(options.values.values())
    settings = options.model_dump(include={"template", "rule", "max_tokens"})
    task = rows.task_of(NAME, checkpoint, METHOD, words=words, **settings)

    def load() -> rows.Scores:
        wording, limit = Wording(options.template), options.max_tokens
        reader = Reader
        if options.rule == "released":
            limit, reader = RELEASED, _Released
        loaded = load_encoder_decoder(
            checkpoint, wording, limit, words, written=True, reads=reader
        )
        return loaded.runner.scores

    def scored(output: Output) -> Scored:
        value = values[int(output.numbers[0])] if output.numbers else None
        return Scored(
            value, value is None, output.premise_unread, output.hypothesis_cut
        )

    def scores(pairs: Sequence[reading.Pair]) -> list[Scored]:
        results = rows.compute_outputs(
            task, reading.join(pairs), load, options.batch_tokens
        )
        return [scored(Output(*output)) for output in results]

    return {NAME: reading.score_statements(cases, scores, Scored(None))}


class _Released(Reader):
    """A reader that cuts the end of an input, also of the statement."""

    def read(self, premise: str, hypothesis: str) -> Input:
        template = self.wording.template or ""
        texts = self._plain(premise), self._plain(hypothesis)
        text = fill_template(template, *texts)
        tokenizer_options = {"return_offsets_mapping": True, "verbose": False}
        whole = self.tokenizer(text, **tokenizer_options)
        read = self.tokenizer(
            text, **tokenizer_options, truncation=True, max_length=self.limit
        )
        end = max(stop for _, stop in read["offset_mapping"])
        ahead = [template[: template.index(place)] for place in (PREMISE, HYPOTHESIS)]
        begins = [len(fill_template(before, *texts)) for before in ahead]
        stops = [begin + len(spans) for begin, spans in zip(begins, texts, strict=True)]
        spans = [
            b for a, b in whole["offset_mapping"] if begins[0] <= a < b <= stops[0]
        ]
        unread = rows.unread(len(spans), sum(stop <= end for stop in spans))
        return Input(list(read["input_ids"]), None, unread > 0, end < stops[1], unread)


KIND = FaithfulnessMetric(
    options=LabelOptions,
    score=score,
    recipe=reading.states("template", "values", "rule", "max_tokens"),
    descriptions=(
        reading.described(
            NAME,
            "1 where a model that reads passages and statement writes that they entail it, 0 where"
            " it writes neutral, -1 where it writes that they contradict it",
            range=(-1, 1),
            source="Adams et al. 2023, section 6.2",
        ),
    ),
)
