"""What params.yaml says of a judge of kind `nli`."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, model_validator

from metassay.core.errors import BadInput
from metassay.judges.nli_answers import ENTAILED, NOT_ENTAILED, THREE, labels_of
from metassay.models.loading import NetworkOptions
from metassay.models.pair_inputs import HYPOTHESIS, PREMISE

_Label = Literal["entailed", "not_entailed", "neutral", "contradicted"]
_Spellings = Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
_Probability = Annotated[float, Field(ge=0, le=1)]
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
    threshold: _Probability = 0.5
    abstain: Annotated[list[_Probability], Field(min_length=2, max_length=2)] | None = None
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
