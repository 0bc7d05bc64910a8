"""The settings of a training, with the values of the papers as defaults."""

from typing import Literal

from pydantic import Field, model_validator

from metassay.core.options import Options, Seed, Share
from metassay.models.loading import NetworkOptions


class Base(NetworkOptions):
    """The model that a training begins with; with `bfloat16` its weights are float32.

    Steps then compute in bfloat16 where torch holds that to be safe. `cuda` is the one card that
    CUDA_VISIBLE_DEVICES leaves.
    """

    device: Literal["cpu", "cuda"]
    dtype: Literal["float64", "float32", "bfloat16"]


class TrainingOptions(Options):
    """How a model is trained, and which documents it is chosen by.

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


class BartscoreTraining(TrainingOptions):
    """Adams et al. 2023, section 6.2."""

    learning_rate: float = Field(default=3e-5, gt=0)
    smoothing: float = Field(default=0.1, ge=0, lt=1)


class CtcTraining(TrainingOptions):
    """Deng et al. 2021, the released code (tanyuqian/ctc-gen-eval)."""

    steps: int | None = Field(default=None, ge=1)
    epochs: int | None = Field(default=5, ge=1)
    weight_decay: float = Field(default=0.01, ge=0)
    warmup: float = Field(default=0.1, ge=0)
    every: int | None = Field(default=None, ge=1)


class DistillTraining(TrainingOptions):
    """Adams et al. 2023, section 7.4; `patience` is ours."""

    batch: int = Field(default=8, ge=1)
    patience: int | None = Field(default=5, ge=1)


class CorruptionOptions(NetworkOptions):
    """A seq2seq model with a mask token, by which at most `items` sentences are corrupted.

    `top_p`: words are drawn among the likeliest that together have this probability. `batch`
    sentences are filled at once.
    """

    seed: Seed
    items: int = Field(default=10_000, ge=1)
    top_p: float = Field(default=0.95, gt=0, le=1)
    batch: int = Field(default=16, ge=1)


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


# By the key `tune`: the options of each block of its folder.
BLOCKS: dict[str, dict[str, type[Options]]] = {
    "bartscore": {"base": Base, "training": BartscoreTraining},
    "ctc": {"base": Base, "training": CtcTraining, "corruption": CorruptionOptions},
    "distill": {"base": Base, "training": DistillTraining, "teachers": TeacherOptions},
}
