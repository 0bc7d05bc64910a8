"""Types of training: their inputs and labels, as the trained metric reads them, and loss."""

import hashlib
import inspect
import json
import math
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from metassay.core.atomic import whole_file, whole_folder
from metassay.core.errors import BadInput
from metassay.metrics.faithfulness.ctc_consistency import LONGEST, joining, normal
from metassay.models import extra
from metassay.models.likelihood import both_sides
from metassay.models.loading import Network, identify, load
from metassay.models.pair_inputs import Reader, Wording, longest_input
from metassay.models.rows import features_of
from metassay.tuning.options import Base, TrainingOptions

METHOD = 1  # part of a training's key; raise it with every change of the result
PACKAGES = ("transformers", "accelerate", "tokenizers", "torch")
_TOKENIZER = "tokenizer"
_WHOLE = "whole"  # a file in complete checkpoints
# a checkpoint's files of the model
_WEIGHTS = (".safetensors", ".index.json", "config.json")
_NOISE = ("runtime", "per_second", "flos")  # entries of a log that differ between runs

# a row to the inputs of a model, with `labels`
Encode = Callable[[Any], dict[str, Any]]


@dataclass(frozen=True)
class Task:
    """A type of training: a class of transformers, the settings of a new head, rows and loss.

    `loss(outputs, labels)`: None for the model's. `metrics(evaluated)` are of the
    held-out rows; `best`: the metric that a checkpoint is chosen by, or `loss`.
    """

    name: str
    network: str
    head: Mapping[str, Any] | None
    encode: Callable[[Network], Encode]
    collate: Callable[[Network], Any]
    loss: Callable[[Any, Any], Any] | None = None
    metrics: Callable[[Any], dict[str, float]] | None = None
    best: str = "loss"


class Trained(NamedTuple):
    """The folder of the best checkpoint, its step and value, and the log."""

    folder: Path
    step: int
    value: float
    log: list[dict[str, float]]


@dataclass(frozen=True)
class _Encoded:
    """Rows that are encoded on access: the tokens of a corpus may not fit into memory."""

    rows: Sequence[Any]
    encode: Encode

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> dict[str, Any]:
        return self.encode(self.rows[place])


def train(
    task: Task,
    rows: tuple[Sequence[Any], Sequence[Any]],
    base: Base,
    options: TrainingOptions,
    work: Path,
) -> Trained:
    """Train on the first of `rows` (JSON), and choose a checkpoint by the second.

    AdamW, gradients clipped to 1. No other training may use folder `work`. Raises
    BadInput if the model cannot be loaded, or the metric that chooses the checkpoint is
    not finite.
    """
    folder = _folder(
        work, [task.name, options.model_dump(), *rows[0], "held out", *rows[1]], base
    )
    last = _last_checkpoint(folder)
    if last is None or (last / _WHOLE).read_text("utf-8") != "ended":
        _fit(task, rows, base, options, folder, last)
        last = _last_checkpoint(folder)
    if last is None:
        raise RuntimeError(f"{task.name}: no checkpoint was written")
    state = json.loads((last / "trainer_state.json").read_text("utf-8"))
    step, value = state["best_global_step"], state["best_metric"]
    if value is None or not math.isfinite(value):
        raise BadInput(
            f"training: {task.best} of the held-out documents is not finite; lower learning_rate,"
            " or choose a finer base > dtype"
        )
    log = [
        {key: number for key, number in line.items() if not any(map(key.count, _NOISE))}
        for line in state["log_history"]
    ]
    return Trained(folder / f"checkpoint-{step}", step, value, log)


def write(trained: Trained, card: str, facts: Mapping[str, Any], out: Path) -> None:
    """Write folder `out`, with model, tokenizer, card and log, all at once."""
    if out.exists():  # DVC removes it, others may not
        shutil.rmtree(out)
    with whole_folder(out, "model") as folder:
        for file in trained.folder.iterdir():
            if file.name.endswith(_WEIGHTS):
                shutil.copyfile(file, folder / file.name)
        shutil.copytree(trained.folder.parent / _TOKENIZER, folder, dirs_exist_ok=True)
        (folder / "README.md").write_text(card, "utf-8")
        log = json.dumps({**facts, "log": trained.log}, indent=1, ensure_ascii=False)
        (folder / "training_log.json").write_text(f"{log}\n", "utf-8")


def _folder(work: Path, inputs: Iterable[Any], base: Base) -> Path:
    """Return the folder of this training's checkpoints; remove those of others."""
    model = METHOD, identify(base).content, base.device, base.dtype
    key = hashlib.sha256()
    for item in (*model, *map(extra.version, PACKAGES), *inputs):
        key.update(json.dumps(item, sort_keys=True).encode() + b"\n")
    folder = work / key.hexdigest()[:16]
    for other in work.glob("*"):
        if other != folder:
            shutil.rmtree(other)
    return folder


def _last_checkpoint(folder: Path) -> Path | None:
    """Return the last complete checkpoint; remove incomplete ones."""
    steps = []
    for checkpoint in folder.glob("checkpoint-*"):
        if (checkpoint / _WHOLE).exists():
            steps.append(int(checkpoint.name.partition("-")[2]))
        else:
            shutil.rmtree(checkpoint)
    return folder / f"checkpoint-{max(steps)}" if steps else None


def _fit(
    task: Task,
    rows: tuple[Sequence[Any], Sequence[Any]],
    base: Base,
    options: TrainingOptions,
    folder: Path,
    last: Path | None,
) -> None:
    transformers = extra.module("transformers")
    transformers.set_seed(options.seed)  # by which a new head is drawn
    weights = {"dtype": "float32"} if base.dtype == "bfloat16" else {}
    network = load(task.network, base.model_copy(update=weights), task.head)
    network.tokenizer.save_pretrained(folder / _TOKENIZER)
    encode, loss = task.encode(network), task.loss

    def keep(_self: Any, _args: Any, state: Any, control: Any, **_: Any) -> None:
        """Mark a checkpoint as complete, and remove all but this and the best."""
        here = folder / f"checkpoint-{state.global_step}"
        with whole_file(here / _WHOLE) as file:
            file.write(b"ended" if control.should_training_stop else b"goes on")
        for other in folder.glob("checkpoint-*"):
            if other.name not in (here.name, f"checkpoint-{state.best_global_step}"):
                (other / _WHOLE).unlink(missing_ok=True)
                shutil.rmtree(other)

    callbacks = [type("Keeper", (transformers.TrainerCallback,), {"on_save": keep})()]
    if options.patience is not None:
        callbacks.append(transformers.EarlyStoppingCallback(options.patience))
    trainer = transformers.Trainer(
        model=network.weights,
        args=_arguments(task, len(rows[0]), base, options, folder),
        data_collator=task.collate(network),
        train_dataset=_Encoded(rows[0], encode),
        eval_dataset=_Encoded(rows[1], encode),
        # The count of items is for steps of several batches, which we do not use.
        compute_loss_func=loss and (lambda outputs, labels, **_: loss(outputs, labels)),
        compute_metrics=task.metrics,
        callbacks=callbacks,
    )
    trainer.remove_callback(transformers.PrinterCallback)
    try:
        trainer.train(resume_from_checkpoint=last and str(last))
    except extra.module("torch").OutOfMemoryError:
        raise BadInput(
            f"{base.device} has too little memory for {options.batch} inputs of this model; lower"
            " training > batch"
        ) from None


def _arguments(
    task: Task, rows: int, base: Base, options: TrainingOptions, folder: Path
) -> Any:
    per_epoch = math.ceil(rows / options.batch)
    steps = options.steps or per_epoch * (options.epochs or 0)
    every = min(options.every or per_epoch, steps)
    arguments = extra.module("transformers").TrainingArguments(
        output_dir=str(folder),
        max_steps=steps,
        **dict.fromkeys(
            ("per_device_train_batch_size", "per_device_eval_batch_size"), options.batch
        ),
        learning_rate=options.learning_rate,
        weight_decay=options.weight_decay,
        warmup_steps=options.warmup,
        label_smoothing_factor=options.smoothing,
        seed=options.seed,
        **dict.fromkeys(
            ("eval_strategy", "save_strategy", "logging_strategy"), "steps"
        ),
        **dict.fromkeys(("eval_steps", "save_steps", "logging_steps"), every),
        load_best_model_at_end=True,
        metric_for_best_model=f"eval_{task.best}",
        greater_is_better=task.best != "loss",
        restore_callback_states_from_checkpoint=True,
        logging_nan_inf_filter=False,
        remove_unused_columns=False,
        dataloader_pin_memory=base.device != "cpu",
        use_cpu=base.device == "cpu",
        bf16=base.dtype == "bfloat16",
        disable_tqdm=not sys.stderr.isatty(),
        report_to=[],
    )
    if arguments.n_gpu > 1:
        raise BadInput(
            "base > device: there are several cards; name one in CUDA_VISIBLE_DEVICES"
        )
    return arguments


IGNORED = -100  # a label without loss in torch and transformers
CLASSES = {0: "not_fake", 1: "fake"}


class Written(NamedTuple):
    """A statement to write after its passages."""

    context: str
    text: str


class Marked(NamedTuple):
    """The words of a statement, each fake (1) or not (0), and its passages."""

    context: str
    words: Sequence[str]
    fake: Sequence[int]


class Valued(NamedTuple):
    """A statement and its passages, or a text and its reference, and their value."""

    context: str
    text: str
    value: float


def _encode_writing(network: Network) -> Encode:
    read = both_sides(network, network.tokenizer.name_or_path, None)

    def encode(row: Written) -> dict[str, Any]:
        inputs, labels = (list(side.ids) for side, _ in read(*row))
        return {"input_ids": inputs, "labels": labels}

    return encode


def _encode_value(network: Network) -> Encode:
    limit = longest_input(network.tokenizer, network.weights, None)
    reader = Reader(network.tokenizer, Wording(None), limit)
    typed = "token_type_ids" in inspect.signature(network.weights.forward).parameters

    def encode(row: Valued) -> dict[str, Any]:
        read = reader.read(row.context, row.text)
        types = (
            {"token_type_ids": read.types} if typed and read.types is not None else {}
        )
        return {"input_ids": read.tokens, **types, "labels": row.value}

    return encode


def _encode_marks(network: Network) -> Encode:
    read = joining(network, network.tokenizer.name_or_path, LONGEST)

    def encode(row: Marked) -> dict[str, Any]:
        text = normal(" ".join(row.words))
        joined, spans, first, *_ = read(text, normal(row.context))
        labels = [IGNORED] * len(joined.ids)
        for place, (start, end) in zip(first, spans, strict=False):
            if text[start:end].strip():  # a space is not a word
                word = text.count(" ", 0, end)
                labels[place] = 2 * word + row.fake[word]
        return {**features_of(network, joined), "labels": labels}

    return encode


def _word_means(logits: Any, labels: Any) -> tuple[Any, Any]:
    """Return each word's mean logits over its pieces, words x 2, and whether it is fake.

    `logits`: inputs x tokens x 2; `labels`: inputs x tokens, 2 n + 1 if word n is fake,
    else 2 n. The layer is linear, so this equals the layer of the mean of the pieces'
    vectors.
    """
    torch = extra.module("torch")
    rows = torch.arange(len(labels), device=labels.device)[:, None]
    seen = labels != IGNORED
    words, place = torch.unique(
        (labels + 2 * labels.shape[1] * rows)[seen], return_inverse=True
    )
    sums = logits.new_zeros(len(words), logits.shape[-1]).index_add(
        0, place, logits[seen]
    )
    return sums / torch.bincount(place)[:, None], words % 2


def _cross_entropy(outputs: Any, labels: Any) -> Any:
    return extra.module("torch").nn.functional.cross_entropy(
        *_word_means(outputs["logits"], labels)
    )


def _squared_error(outputs: Any, labels: Any) -> Any:
    values = outputs["logits"].squeeze(-1)
    return (values - labels.to(values.dtype)).square().mean()


def _f1_by_class(evaluated: Any) -> dict[str, float]:
    """Return F1 of fake words, of the others, and the sum of both."""
    torch = extra.module("torch")
    means, fake = _word_means(
        *map(torch.from_numpy, (evaluated.predictions, evaluated.label_ids))
    )
    predicted, right = means.argmax(1).numpy(), fake.numpy()
    f1 = {
        name: _f1(predicted == label, right == label) for label, name in CLASSES.items()
    }
    return {
        **{f"f1_{name}": value for name, value in f1.items()},
        "f1": sum(f1.values()),
    }


def _f1(predicted: Any, right: Any) -> float:
    total = int(predicted.sum() + right.sum())
    return 2 * int(np.logical_and(predicted, right).sum()) / total if total else 0.0


BARTSCORE = Task(
    "bartscore",
    "AutoModelForSeq2SeqLM",
    None,
    _encode_writing,
    lambda network: extra.module("transformers").DataCollatorForSeq2Seq(*network),
)
CTC = Task(
    "ctc",
    "AutoModelForTokenClassification",
    {"id2label": CLASSES, "label2id": {name: label for label, name in CLASSES.items()}},
    _encode_marks,
    lambda network: extra.module("transformers").DataCollatorForTokenClassification(
        network[0]
    ),
    loss=_cross_entropy,
    metrics=_f1_by_class,
    best="f1",
)
DISTILL = Task(
    "distill",
    "AutoModelForSequenceClassification",
    {"id2label": {0: "value"}, "label2id": {"value": 0}, "problem_type": "regression"},
    _encode_value,
    lambda network: extra.module("transformers").DataCollatorWithPadding(network[0]),
    loss=_squared_error,
)
QUALITY = replace(DISTILL, name="quality")
