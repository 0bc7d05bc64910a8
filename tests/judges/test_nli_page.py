"""docs/judges.md is true: its blocks are options, its lines make HHEM's weights a model of ours."""

import re
from pathlib import Path
from typing import Any

import pytest

from metassay.core import strict_yaml
from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.judges.nli import NliJudge, NliOptions
from metassay.judges.protocol import Pair

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")

from tests.models.tiny import classifier  # noqa: E402 - it needs them

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/judges.md").read_text(encoding="utf-8").partition("\n## Kind `nli`")[2]
PAGE = PAGE.partition("\n## The semantic judge")[0]
FENCED = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks(text: str, place: Path) -> dict[str, Any]:
    place.write_text(text, encoding="utf-8")
    found: dict[str, Any] = strict_yaml.load(place)["judges"]  # type: ignore[index]
    return found


def test_its_blocks_are_options_and_stand_in_params_yaml(tmp_path: Path) -> None:
    known, prompted = (text for kind, text in FENCED.findall(PAGE) if kind == "yaml")
    shown = blocks(known, tmp_path / "page.yaml")
    assert len(shown) == 7
    for name, block in (shown | blocks(prompted, tmp_path / "prompted.yaml")).items():
        assert block.pop("kind") == "nli"
        if "revision" in block:
            assert block["revision"] == "COMMIT"  # which is refused until it is one
            with pytest.raises(BadInput, match="give the 40 digits"):
                parse(NliOptions, block, where=name)
            block["revision"] = "0123456789" * 4
        parse(NliOptions, block, where=name)
    params = (ROOT / "params.yaml").read_text(encoding="utf-8")
    told = "\n".join(f"# {line}" for line in known.splitlines()[1:])
    assert told in params


def test_its_lines_make_a_model_of_hhems_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a model with HHEM-2.1's layout: a classifier of tokens, each name after `t5.`."""
    monkeypatch.chdir(tmp_path)
    flan = classifier(tmp_path / "flan", "t5", ("0", "1"), head="Token")
    original = transformers.AutoModelForTokenClassification.from_pretrained(flan).eval()
    kept = {f"t5.{name}": row.clone() for name, row in original.state_dict().items()}
    del kept["t5.transformer.encoder.embed_tokens.weight"]
    (tmp_path / "hhem").mkdir()
    save = __import__("safetensors.torch").torch.save_file
    save(kept, tmp_path / "hhem/model.safetensors")
    monkeypatch.setattr(
        "huggingface_hub.snapshot_download",
        lambda _, revision: str(tmp_path / "hhem" / revision[:0]),
    )
    (lines,) = (text for kind, text in FENCED.findall(PAGE) if kind == "python")
    exec(lines.replace("google/flan-t5-base", str(flan)), {})
    known, _ = (text for kind, text in FENCED.findall(PAGE) if kind == "yaml")
    block = blocks(known, tmp_path / "page.yaml")["hhem2"] | {"device": "cpu", "max_tokens": 400}
    del block["kind"]
    judge = NliJudge(parse(NliOptions, block, where="hhem2"))
    (found,) = judge.judge([Pair("p", "entailment", "the knee hurts", "it hurts")])
    text = (
        block["template"].replace("{premise}", "the knee hurts").replace("{hypothesis}", "it hurts")
    )
    words = transformers.AutoTokenizer.from_pretrained(flan)
    with torch.no_grad():
        logits = original(**words(text, return_tensors="pt")).logits[0, 0]
    assert found is not None
    assert found.probability == pytest.approx(logits.softmax(0)[1].item(), abs=1e-5)
    assert 0.01 < logits.softmax(0)[1].item() < 0.99
