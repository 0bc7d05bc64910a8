"""The settings of a training, with the values of the papers as defaults."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from metassay.core.options import Block, Options, Seed, Share, parse
from metassay.models.loading import NetworkOptions


class Base(NetworkOptions):
    """The model that a training begins with; with `bfloat16` its weights are float32.

    Steps then compute in bfloat16 where torch considers it safe. `cuda` is the only
    card in CUDA_VISIBLE_DEVICES.
    """

    device: Literal["cpu", "cuda"]
    dtype: Literal["float64", "float32", "bfloat16"]


class TrainingOptions(Options):
    """How a model is trained, and by which documents it is chosen; DEFAULTS has more values.

    `dev_share`: the share of documents that are held out. The length is either `steps`
    or `epochs`. `warmup`: steps, or below 1 the share of them, in which the learning
    rate rises to `learning_rate`; then it falls linearly to 0. `smoothing` is that of
    labels. `every`: steps between evaluations, each with a checkpoint; null: one per
    epoch. `patience`: the number of evaluations without improvement after which
    training ends; null: it never ends early.
    """

    seed: Seed
    dev_share: Share = 0.1
    steps: int | None = Field(default=10_000, ge=1)
    epochs: int | None = Field(default=None, ge=1)
    batch: int = Field(default=16, ge=1)
    learning_rate: float = Field(default=1e-5, gt=0)
    weight_decay: float = Field(default=0.0, ge=0)
    warmup: float = Field(default=200, ge=0)
    smoothing: float = Field(default=0.0, ge=0, lt=1)
    every: int | None = Field(default=500, ge=1)
    patience: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _length(self) -> "TrainingOptions":
        if (self.steps is None) == (self.epochs is None):
            raise ValueError("give either steps or epochs, and null for the other")
        return self


# By the key `tune`: Adams et al. 2023, section 6.2; Deng et al. 2021, the released code
# (tanyuqian/ctc-gen-eval); Adams et al. 2023, section 7.4, where `patience` is ours;
# the released code of BLEURT (google-research/bleurt), where it is ours, too.
DEFAULTS: Mapping[str, Block] = {
    "bartscore": {"learning_rate": 3e-5, "smoothing": 0.1},
    "ctc": {
        "steps": None,
        "epochs": 5,
        "weight_decay": 0.01,
        "warmup": 0.1,
        "every": None,
    },
    "distill": {"batch": 8, "patience": 5},
    "quality": {
        "steps": 25_000,
        "every": 1000,
        "warmup": 0.1,
        "weight_decay": 0.01,
        "patience": 5,
    },
}


class CorruptionOptions(NetworkOptions):
    """A seq2seq model with a mask token, which corrupts at most `items` sentences.

    `top_p`: words are drawn from the likeliest with this total probability.
    `batch_tokens`: tokens of a batch, with padding; for speed, and changes last digits
    at most.
    """

    seed: Seed
    items: int = Field(default=10_000, ge=1)
    top_p: float = Field(default=0.95, gt=0, le=1)
    batch_tokens: int = Field(default=512, ge=1)


class Human(Options):
    """A criterion of people, its better end, and a teacher's least correlation with it."""

    criterion: str
    better: Literal["higher", "lower"]
    least: float = Field(ge=0, le=1)


class Coverage(Options):
    """A metric with which a teacher must not correlate by more than `most`."""

    metric: str = "coverage"
    most: float = Field(ge=0, le=1)


class TeacherOptions(Options):
    """The metrics that teach: those in `names`, or all that pass the rule.

    Names are `metric`, or `metric (checkpoint)`; a metric may end in `@alignment`.
    """

    names: list[str] | None = Field(default=None, min_length=1)
    human: Human | None = None
    coverage: Coverage | None = None

    @model_validator(mode="after")
    def _way(self) -> "TeacherOptions":
        if (self.names is None) == (self.human is None) or (
            self.names and self.coverage
        ):
            raise ValueError(
                "give either names, or human (and optionally coverage) as the rule"
            )
        return self


BLOCKS: Mapping[str, type[Options]] = {
    "base": Base,
    "training": TrainingOptions,
    "corruption": CorruptionOptions,
    "teachers": TeacherOptions,
}


def parse_block(tune: str, key: str, block: Block, *, where: str) -> Any:
    """Parse a block of a folder that tunes; BadInput, led by `where`, if it is wrong."""
    defaults = DEFAULTS[tune] if key == "training" else {}
    return parse(BLOCKS[key], {**defaults, **block}, where=f"{where} > {key}")
