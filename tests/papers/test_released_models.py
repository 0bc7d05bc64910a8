"""`make papers-models` with tiny models in the place of released ones; it loads nothing else."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs metassay[models]")

from papers import released_models
from papers.released_models import BLEURT, CHECKPOINTS, Released, compare, main, table
from tests.metrics.faithfulness.test_kinds import MODELS, needed
from tests.models import tiny


def bleurt(folder: Path) -> Released:
    model = tiny.classifier(folder / "bleurt", "bert", ("LABEL_0",))
    return replace(BLEURT, model=str(model), printed=())


def printed(released: Released) -> Released:
    """The same, whose authors print what it gives here."""
    values = tuple(row.ours for row in compare(released, "cpu"))
    assert None not in values
    return replace(released, printed=values)


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_equal_values_end_with_0_and_others_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    released = bleurt(tmp_path)
    assert main([], [released]) == 0
    assert capsys.readouterr().out.count("| not printed by its authors |") == 2
    equal = printed(released)
    assert main([], [equal]) == 0
    assert capsys.readouterr().out.count("| equal |") == 2
    first, second = equal.printed
    assert main([], [replace(equal, printed=(first, second + 0.002))]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(
        "| metric | model | pair | here | printed | difference |"
    )
    assert lines[2].endswith("| 0.000000 | equal |")
    assert lines[3].endswith("| -0.002000 | DIFFERS |")
    assert lines[3].startswith("| BLEURT-tiny | bleurt@folder | 2 | ")


@pytest.mark.parametrize("name", ["SummaC-ZS", "SummaC-Conv", "BARTScore", "CTC"])
def test_metrics_of_statements(tmp_path: Path, name: str) -> None:
    (released,) = (each for each in CHECKPOINTS if each.name == name)
    model = str(MODELS[released.kind](tmp_path / "model"))
    here = replace(released, model=model)
    head = needed(released.kind, tmp_path).get("head")
    rows = compare(here, "cpu", head)
    assert len(rows) == len(released.pairs)
    assert all(row.ours is not None for row in rows)


def test_a_judge_s_label_is_1_or_0(tmp_path: Path) -> None:
    (true,) = (each for each in CHECKPOINTS if each.name == "TRUE")
    classes = ("entailment", "neutral", "contradiction")
    model = tiny.classifier(tmp_path / "nli", "bert", classes)
    options = {"form": "classification", "batch_tokens": 300}
    rows = compare(replace(true, model=str(model), options=options), "cpu")
    assert {row.ours for row in rows} <= {0.0, 1.0}


def test_what_cannot_be_loaded_is_named_and_ends_with_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(model: str) -> str:
        raise OSError(f"{model} is not in the cache")

    monkeypatch.setattr(released_models, "newest_commit", offline)
    assert main(["--only", "BARTScore", "--only", "TRUE"]) == 3
    output = capsys.readouterr().out
    for name, model in (
        ("BARTScore", "facebook/bart-large-cnn"),
        ("TRUE", "google/t5_xxl_true_nli_mixture"),
    ):
        assert f"{name}: not compared: {model} is not in the cache" in output


def test_the_head_of_summac_conv_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (conv,) = (each for each in CHECKPOINTS if each.name == "SummaC-Conv")
    assert main([], [replace(conv, revision="0" * 40)]) == 3
    assert "name it with --head (SUMMAC_HEAD=FILE of make)" in capsys.readouterr().out


def test_large_ones_are_left_out_unless_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    large = replace(bleurt(tmp_path), gigabytes=45)
    assert main([], [large]) == 0
    assert "left out, 45 GB; --large fetches it" in capsys.readouterr().out
    assert main(["--large"], [large]) == 0
    assert "bleurt@folder" in capsys.readouterr().out


def test_a_checkpoint_that_nobody_has_saved_is_no_failure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (ctc,) = (each for each in CHECKPOINTS if each.name == "CTC")
    assert main([], [ctc]) == 0
    assert "CTC: left out, no folder models/ctc;" in capsys.readouterr().out


def test_a_checkpoint_that_is_named_and_not_there_ends_with_3(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--only", "CTC"]) == 3
    assert "CTC: not compared: no folder models/ctc;" in capsys.readouterr().out


@pytest.mark.parametrize("ours", [None, math.nan])
def test_no_number_is_equal_to_no_printed_one(
    ours: float | None, capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    def without_number(*_: object) -> list[float | None]:
        return [ours] * len(BLEURT.pairs)

    monkeypatch.setitem(released_models._VALUES, BLEURT.section, without_number)
    monkeypatch.setattr(released_models, "newest_commit", lambda _: "0" * 40)
    assert main([], [BLEURT]) == 1
    assert capsys.readouterr().out.count("| DIFFERS |") == len(BLEURT.pairs)


def test_each_checkpoint_has_a_printed_value_per_pair_or_none() -> None:
    for released in CHECKPOINTS:
        assert len(released.printed) in {0, len(released.pairs)}
        assert released.source
    assert len(table([])) == 2
