"""Models by what is in their folder, and encoders by their first layers."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.models.loading import NetworkOptions, identify, weights_digest

pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")
pytest.importorskip("bert_score", reason="needs metassay[models]")

from metassay.models.encoders import load_encoder, tokens, vectors
from metassay.models.loading import load
from tests.models.tiny import encoder

COMMIT = "0123456789" * 4


def options(model: Path | str, **changes: Any) -> NetworkOptions:
    block = {"model": str(model), "device": "cpu", "dtype": "float32"} | changes
    return parse(NetworkOptions, block, where="test")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return encoder(tmp_path_factory.mktemp("models") / "tiny", "bert")


def test_a_folder_is_known_by_its_files_not_by_its_place(
    bert: Path, tmp_path: Path
) -> None:
    here = identify(options(bert))
    assert here.name == f"tiny#{here.content[:8]}"
    there = tmp_path / "moved"
    shutil.copytree(bert, there)
    (there / ".cache").mkdir()
    (there / ".cache" / "downloaded").write_text("today", encoding="utf-8")
    assert identify(options(there)) == (f"moved#{here.content[:8]}", here.content)
    config = there / "config.json"
    config.write_text(config.read_text() + "\n", encoding="utf-8")
    assert identify(options(there)).content != here.content


def test_a_model_of_the_hub_is_known_by_its_commit() -> None:
    known = identify(options("someone/model", revision=COMMIT))
    assert known == (f"someone/model@{COMMIT}", f"someone/model@{COMMIT}")
    with pytest.raises(BadInput, match="branches and tags can move"):
        options("someone/model", revision="main")
    with pytest.raises(BadInput, match="is not a folder here"):
        identify(options("someone/model"))


def test_weights_and_layers_that_are_missing_are_not_invented(bert: Path) -> None:
    with pytest.raises(
        BadInput, match="weights of AutoModelForTokenClassification, the first is"
    ):
        load("AutoModelForTokenClassification", options(bert))
    with pytest.raises(BadInput, match="has 4 layers, not 5"):
        load_encoder(options(bert), 5)


def test_code_that_a_model_brings_is_never_run_and_nobody_is_asked(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought = shutil.copytree(bert, tmp_path / "brought")
    file = brought / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    theirs = {
        "AutoConfig": "own.Own",
        "AutoModel": "own.Own",
        "AutoTokenizer": ["own.Own", None],
    }
    config |= {"auto_map": theirs, "model_type": "theirs"}
    file.write_text(json.dumps(config), encoding="utf-8")
    (brought / "own.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Own: pass\n"
    )
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    with pytest.raises(
        BadInput, match="it needs its own code, which is never run"
    ) as raised:
        load("AutoModel", options(brought))
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("limited", [True, False])
@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert", "t5"])
def test_a_text_is_cut_at_what_the_encoder_reads(
    tmp_path: Path, kind: str, limited: bool
) -> None:
    loaded = load_encoder(options(encoder(tmp_path / kind, kind, limited=limited)), 2)
    assert loaded.limit == (None if kind == "t5" and not limited else 64)
    (whole,) = tokens(loaded, ["the knee"])
    # no merges were learnt for these: a token each, and two special
    fits = ["a" * 62, "a" * 63]
    full, over = tokens(loaded, fits)
    assert (len(full.numbers), full.unread) == (64, 0)
    read = (65, 0) if loaded.limit is None else (64, 1 - 64 / 65)
    assert (len(over.numbers), over.unread) == read
    assert over.numbers[-1] == whole.numbers[-1]
    encoded = vectors(loaded, [full.numbers, over.numbers, whole.numbers], 100)
    assert [tuple(each.shape) for each in encoded] == [
        (len(read.numbers), 16) for read in (full, over, whole)
    ]


def test_vectors_of_double_precision_are_on_a_grid(bert: Path) -> None:
    row = [1, *range(5, 50), 2]
    loaded = load_encoder(options(bert, dtype="float64"))
    alone, *_ = vectors(loaded, [row], 100)
    beside, *_ = vectors(loaded, [row, [1, 5, 2]], 1000)
    steps = alone * 2**18
    assert str(alone.dtype) == "torch.float64"
    assert bool((steps == steps.round()).all())
    assert bool((alone == beside).all())
    (single,) = vectors(load_encoder(options(bert)), [row], 100)
    assert float((alone - single).abs().max()) < 1e-5  # half a step is 0.2e-5
    (half,) = vectors(load_encoder(options(bert, dtype="bfloat16")), [row], 100)
    assert str(half.dtype) == "torch.float32"


def test_a_package_carries_a_model_that_is_known_by_its_weights(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(bert, tmp_path / "carrier" / "model")
    code = "from pathlib import Path\n"
    code += "def get_model_path(): return Path(__file__).parent / 'model'\n"
    (tmp_path / "carrier" / "__init__.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    packaged = options("package:carrier")
    assert identify(packaged).name.startswith("carrier#")
    assert identify(packaged).content == identify(options(bert)).content
    assert weights_digest(packaged) == weights_digest(options(bert))
    assert load("AutoModel", packaged).weights.config.hidden_size == 16
    with pytest.raises(BadInput, match="no package 'nobody_has_this'"):
        identify(options("package:nobody_has_this"))
    (tmp_path / "carrier" / "model" / "model.safetensors").unlink()
    with pytest.raises(
        BadInput, match=r"model.safetensors or pytorch_model.bin is not available"
    ):
        weights_digest(packaged)
