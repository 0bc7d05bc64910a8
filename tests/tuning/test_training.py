"""The same training gives the same bytes, killed or not, and each sort learns what is there."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput

pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")

from metassay.metrics import bleurt
from metassay.metrics.faithfulness import ctc_consistency
from metassay.metrics.faithfulness.record import Case
from metassay.tuning import tasks as training
from tests.metrics.faithfulness.setup import scored
from tests.models import tiny
from tests.tuning.trainings import base_model, finish, trained

ROOT = Path(__file__).parents[2]
# Kills itself in the call of this number of a method of the Trainer's: in step 33, or
# in the middle of the second checkpoint, when its weights are there already.
KILLS = """
import os, signal, sys
from pathlib import Path
import transformers
from tests.tuning.trainings import finish
method, count = sys.argv[1], int(sys.argv[2])
real, calls = getattr(transformers.Trainer, method), []
def counted(*arguments, **settings):
    calls.append(method)
    if len(calls) == count:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **settings)
setattr(transformers.Trainer, method, counted)
finish(sys.argv[3], Path(sys.argv[4]))
"""
IN_A_STEP = ["-c", KILLS, "training_step", "33"]
IN_A_CHECKPOINT = ["-c", KILLS, "_save_rng_state", "2"]
FROM_OUTSIDE = ["-m", "tests.tuning.trainings"]


def kill(task: str, folder: Path, program: list[str]) -> None:
    """Run a training in another process until it is killed, and nothing is finished."""
    run = subprocess.Popen(
        [sys.executable, *program, task, str(folder)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 120
    while program == FROM_OUTSIDE and run.poll() is None:
        assert time.monotonic() < until
        if any((folder / "work").glob("*/checkpoint-20/whole")):
            run.kill()
        time.sleep(0.002)
    assert run.wait(120) == -signal.SIGKILL
    assert not (folder / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "program"),
    [
        ("bartscore", IN_A_CHECKPOINT),
        ("ctc", IN_A_STEP),
        ("distill", FROM_OUTSIDE),
        ("quality", IN_A_CHECKPOINT),
    ],
)
def test_a_killed_training_goes_on_to_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str, program: list[str]
) -> None:
    base_model(task, tmp_path / "whole/base")
    shutil.copytree(tmp_path / "whole/base", tmp_path / "killed/base")
    whole = finish(task, tmp_path / "whole")
    kill(task, tmp_path / "killed", program)
    resumed: list[Any] = []
    real = training._fit

    def fit(*arguments: Any) -> None:
        resumed.append(arguments[-1])
        real(*arguments)

    monkeypatch.setattr(training, "_fit", fit)
    assert finish(task, tmp_path / "killed") == whole
    steps = [last.name for last in resumed]
    assert steps == ["checkpoint-20"] or (
        program == FROM_OUTSIDE and steps == ["checkpoint-40"]
    )


@pytest.mark.parametrize("task", ["bartscore", "ctc", "distill"])
def test_the_best_checkpoint_knows_what_the_base_does_not(
    tmp_path: Path, task: str
) -> None:
    base_model(task, tmp_path / "base")
    learnt = trained(task, tmp_path, count=256, steps=150, every=25)
    before = trained(task, tmp_path, count=256, steps=1, learning_rate=1e-9)
    if task == "ctc":
        assert learnt.value > 1.8 > before.value
        lines = (line for line in learnt.log if "eval_f1" in line)
        last = next(line for line in lines if line["step"] == learnt.step)
        assert last["eval_f1"] == last["eval_f1_fake"] + last["eval_f1_not_fake"]
    else:
        assert learnt.value < before.value / 2
    values = [
        line["eval_f1" if task == "ctc" else "eval_loss"] for line in learnt.log[1::2]
    ]
    assert len(values) == 6
    assert learnt.value == (max if task == "ctc" else min)(values)
    assert learnt.step == 25 * (1 + values.index(learnt.value))


@pytest.mark.parametrize("kind", ["roberta", "distilbert", "albert", "deberta"])
@pytest.mark.parametrize("task", ["ctc", "distill"])
def test_a_bare_encoder_gets_a_head_that_its_metric_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if kind == "deberta":
        tiny.classifier(tmp_path / "base", kind, ["unused"])
    else:
        tiny.encoder(tmp_path / "base", kind)
    finish(task, tmp_path, steps=2, every=1)
    metric = {"ctc": ctc_consistency.KIND, "distill": bleurt.REGRESSOR}[task]
    ((value,),) = scored(metric, [Case(("the knee",), ("it hurts",))], tmp_path / "out")
    assert value.value is not None


def test_an_encoder_that_lacks_other_weights_than_a_heads_is_refused(
    tmp_path: Path,
) -> None:
    from safetensors.torch import load_file, save_file

    tiny.encoder(tmp_path / "base", "bert")
    file = tmp_path / "base/model.safetensors"
    weights = load_file(file)
    weights.pop("encoder.layer.1.output.dense.weight")
    save_file(weights, file, metadata={"format": "pt"})
    with pytest.raises(BadInput, match="lacks 1 of the weights"):
        trained("distill", tmp_path)


def test_a_training_ends_early_and_is_not_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a rate of next to nothing, no evaluation is better than the first by any digit."""
    base_model("distill", tmp_path / "base")
    settings = {"learning_rate": 1e-30, "patience": 2, "every": 5}
    first = finish("distill", tmp_path, **settings)
    log = json.loads(first["training_log.json"])["log"]
    assert [line["step"] for line in log if "eval_loss" in line] == [5, 10, 15]
    monkeypatch.setattr(training, "_fit", lambda *_: pytest.fail("it had ended"))
    assert finish("distill", tmp_path, **settings) == first


def test_other_settings_begin_anew_and_leave_nothing_of_the_others(
    tmp_path: Path,
) -> None:
    base_model("distill", tmp_path / "base")
    first = finish("distill", tmp_path, steps=20)
    assert len(list((tmp_path / "work").iterdir())) == 1
    other = finish("distill", tmp_path, steps=20, seed=2)
    assert other["model.safetensors"] != first["model.safetensors"]
    (folder,) = (tmp_path / "work").iterdir()
    assert {path.name for path in folder.iterdir()} == {"checkpoint-20", "tokenizer"}
    assert finish("distill", tmp_path, steps=20) == first


def test_a_loss_that_is_no_number_is_told(tmp_path: Path) -> None:
    base_model("distill", tmp_path / "base")
    with pytest.raises(
        BadInput, match="loss of the held-out documents is not finite; lower"
    ):
        trained("distill", tmp_path, learning_rate=1e30, warmup=0)


def test_nothing_of_the_machine_is_in_the_model(tmp_path: Path) -> None:
    base_model("bartscore", tmp_path / "base")
    files = finish("bartscore", tmp_path, steps=20)
    assert {"README.md", "config.json", "model.safetensors", "training_log.json"} < set(
        files
    )
    assert not [
        name for name, content in files.items() if str(tmp_path).encode() in content
    ]
