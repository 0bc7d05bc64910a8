"""The settings of a training, with the values of the papers as defaults."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from metassay.core.options import Block, Options, Seed, Share, parse
from metassay.models.loading import NetworkOptions


class Base(NetworkOptions):
    """The model that a training begins with; with `bfloat16` its weights are float32.

    Steps then compute in bfloat16 where torch holds that to be safe. `cuda` is the one card that
    CUDA_VISIBLE_DEVICES leaves.
    """

    device: Literal["cpu", "cuda"]
    dtype: Literal["float64", "float32", "bfloat16"]


class TrainingOptions(Options):
    """How a model is trained, and which documents it is chosen by; DEFAULTS has more values.

    `dev_share`: the share of documents that are held out. The length is either `steps` or `epochs`.
    `warmup`: steps, or below 1 the share of them, in which the learning rate rises to
    `learning_rate`; then it falls to 0 along a line. `smoothing` is that of labels. `every`: steps
    between evaluations, with a checkpoint each; null: one per epoch. `patience`: after so many
    evaluations in a row without a better one the training ends; null: it never ends early.
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
# (tanyuqian/ctc-gen-eval); Adams et al. 2023, section 7.4, where `patience` is ours; the released
# code of BLEURT (google-research/bleurt), where it is ours, too.
DEFAULTS: Mapping[str, Block] = {
    "bartscore": {"learning_rate": 3e-5, "smoothing": 0.1},
    "ctc": {"steps": None, "epochs": 5, "weight_decay": 0.01, "warmup": 0.1, "every": None},
    "distill": {"batch": 8, "patience": 5},
    "quality": {"steps": 25_000, "every": 1000, "warmup": 0.1, "weight_decay": 0.01, "patience": 5},
}


class CorruptionOptions(NetworkOptions):
    """A seq2seq model with a mask token, by which at most `items` sentences are corrupted.

    `top_p`: words are drawn among the likeliest that together have this probability.
    `batch_tokens`: how many tokens are read at once, padding included; it is for speed, and changes
    last digits at most.
    """

    seed: Seed
    items: int = Field(default=10_000, ge=1)
    top_p: float = Field(default=0.95, gt=0, le=1)
    batch_tokens: int = Field(default=512, ge=1)


class Human(Options):
    """A criterion of people, which of its ends is better, and a teacher's least correlation."""

    criterion: str
    better: Literal["higher", "lower"]
    least: float = Field(ge=0, le=1)


class Coverage(Options):
    """A metric that a teacher must not repeat: its correlation with it is at most `most`."""

    metric: str = "coverage"
    most: float = Field(ge=0, le=1)


class TeacherOptions(Options):
    """Which metrics teach: those that are named, or all that pass the rule.

    Names are `metric`, or `metric (checkpoint)`; a metric may end in `@alignment`.
    """

    names: list[str] | None = Field(default=None, min_length=1)
    human: Human | None = None
    coverage: Coverage | None = None

    @model_validator(mode="after")
    def _way(self) -> "TeacherOptions":
        if (self.names is None) == (self.human is None) or (self.names and self.coverage):
            raise ValueError("give either names, or human (and coverage, if need be) as the rule")
        return self


BLOCKS: Mapping[str, type[Options]] = {
    **{"base": Base, "training": TrainingOptions},
    **{"corruption": CorruptionOptions, "teachers": TeacherOptions},
}


def checked(tune: str, key: str, block: Block, *, where: str) -> Any:
    """The options in a block of a folder that tunes; BadInput, led by `where`, if it is wrong."""
    more = DEFAULTS[tune] if key == "training" else {}
    return parse(BLOCKS[key], {**more, **block}, where=f"{where} > {key}")
