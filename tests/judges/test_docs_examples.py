"""docs/judges.md and checkpoints.md: blocks are options, tables say what records say."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.core.kinds import choose, record_of
from metassay.core.options import parse
from metassay.judges import JUDGES
from metassay.judges.make import instruments_of
from metassay.judges.nli import NliJudge, NliOptions
from metassay.judges.protocol import Pair
from metassay.llm.endpoints import parse_models
from metassay.llm.needs import list_members
from metassay.llm.session import model_problems
from metassay.scoring.pairing.instruments import INSTRUMENTS

ROOT = Path(__file__).parents[2]
WHOLE, _, AFTER = (
    (ROOT / "docs/judges.md").read_text("utf-8").partition("\n## Kind `nli`")
)
PROMPTED = AFTER.partition("\n## The semantic judge")[0]
NLI = (ROOT / "docs/checkpoints.md").read_text("utf-8").partition("\n## Metrics of")[0]
COMMIT = "0123456789" * 4


def fenced(kind: str, text: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)


BLOCKS = [
    yaml.safe_load(t.replace("COMMIT", f"'{COMMIT}'")) for t in fenced("yaml", WHOLE)
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: ",".join(block["judges"]))
def test_a_block_is_taken(
    monkeypatch: pytest.MonkeyPatch, block: dict[str, Any]
) -> None:
    monkeypatch.chdir(ROOT)  # prompts are named from there
    assert set(block) <= {"endpoints", "models", "judges"}
    models = parse_models(block.get("endpoints", {}), block.get("models", {}))
    for name, judge in block["judges"].items():
        chosen = choose(JUDGES, judge, where=name)
        assert model_problems(chosen, models, where=name) == []
        assert "entailment" in instruments_of(chosen)


def test_every_kind_has_a_block_and_a_row() -> None:
    judges = [
        choose(JUDGES, judge, where="x")
        for b in BLOCKS
        for judge in b["judges"].values()
    ]
    assert {inner.kind for judge in judges for inner in list_members(judge)} == set(
        JUDGES
    )
    assert {kind for kind in JUDGES if f"\n| `{kind}` |" in WHOLE} == set(JUDGES)


def test_the_table_has_what_each_kind_can_answer() -> None:
    head, _, *lines = re.findall(r"^\| instrument .*?(?=\n\n)", WHOLE, re.M | re.S)[
        0
    ].split("\n")
    kinds = [cell.strip() for cell in head.split("|")[2:-1]]
    answers: dict[str, set[str]] = {kind: set() for kind in kinds}
    listed: set[str] = set()
    for line in lines:
        instruments, *cells = (cell.strip() for cell in line.split("|")[1:-1])
        names = re.findall(r"`(\w+)`", instruments)
        listed.update(names)
        for kind, cell in zip(kinds, cells, strict=True):
            assert cell in ("yes", "no")
            answers[kind].update(names if cell == "yes" else ())
    assert listed == set(INSTRUMENTS)
    assert set(kinds) == set(JUDGES) - {"jury", "cascade"}
    assert answers == {kind: set(record_of(JUDGES, kind).instruments) for kind in kinds}


def test_blocks_of_nli_are_options_and_are_in_params_yaml() -> None:
    (known,) = fenced("yaml", NLI)
    (prompted,) = fenced("yaml", PROMPTED)
    blocks = yaml.safe_load(known)["judges"]
    assert len(blocks) == 7
    for name, block in (blocks | yaml.safe_load(prompted)["judges"]).items():
        assert block.pop("kind") == "nli"
        if "revision" in block:
            assert block["revision"] == "COMMIT"  # which is refused until it is one
            with pytest.raises(BadInput, match="give the 40 digits"):
                parse(NliOptions, block, where=name)
            block["revision"] = COMMIT
        parse(NliOptions, block, where=name)
    lines = "\n".join(f"# {line}" for line in known.splitlines()[1:])
    assert lines in (ROOT / "params.yaml").read_text(encoding="utf-8")


def test_lines_of_nli_make_a_model_of_hhems_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a model with HHEM-2.1's layout: a classifier of tokens, each name after `t5.`."""
    torch = pytest.importorskip("torch", reason="needs metassay[models]")
    transformers = pytest.importorskip("transformers", reason="needs metassay[models]")
    from safetensors.torch import save_file

    from tests.models.tiny import classifier

    monkeypatch.chdir(tmp_path)
    flan = classifier(tmp_path / "flan", "t5", ("0", "1"), head="Token")
    original = transformers.AutoModelForTokenClassification.from_pretrained(flan).eval()
    weights = {f"t5.{name}": row.clone() for name, row in original.state_dict().items()}
    del weights["t5.transformer.encoder.embed_tokens.weight"]
    (tmp_path / "hhem").mkdir()
    save_file(weights, tmp_path / "hhem/model.safetensors")
    monkeypatch.setattr(
        "huggingface_hub.snapshot_download",
        lambda _, revision: str(tmp_path / "hhem" / revision[:0]),
    )
    (lines,) = fenced("python", NLI)
    exec(lines.replace("google/flan-t5-base", str(flan)), {})
    block = yaml.safe_load(fenced("yaml", NLI)[0])["judges"]["hhem2"]
    block |= {"device": "cpu", "max_tokens": 400}
    del block["kind"]
    judge = NliJudge(parse(NliOptions, block, where="hhem2"))
    texts = {"premise": "the knee hurts", "hypothesis": "it hurts"}
    (judgment,) = judge.judge([Pair("p", "entailment", *texts.values())])
    words = transformers.AutoTokenizer.from_pretrained(flan)
    with torch.no_grad():
        text = block["template"].format(**texts)
        logits = original(**words(text, return_tensors="pt")).logits[0, 0]
    assert judgment is not None
    assert judgment.probability == pytest.approx(logits.softmax(0)[1].item(), abs=1e-5)
    assert 0.01 < logits.softmax(0)[1].item() < 0.99
