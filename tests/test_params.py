"""params.yaml: unknown keys, wrong types and dangling names are told, all of them at once."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.errors import BadInput
from metassay.params import Options, load, options_of, printed

ROOT = Path(__file__).parent.parent


def changed(tmp_path: Path, **blocks: Any) -> Path:
    params = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump(params | blocks), encoding="utf-8")
    return path


def problems(path: Path) -> tuple[str, ...]:
    with pytest.raises(BadInput) as caught:
        load(path)
    return caught.value.problems


def test_committed_params_are_sound() -> None:
    assert "sample" in load(ROOT / "params.yaml").benchmarks


def test_unknown_keys_wrong_types_and_missing_ones_come_at_once(tmp_path: Path) -> None:
    sample = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))["benchmarks"]["sample"]
    wrong = sample | {"segmentaton": "soap", "published": "table2"}
    del wrong["dataset"]
    path = changed(tmp_path, pairng={}, benchmarks={"sample": wrong}, generating={}, judging={})
    path.write_text(path.read_text("utf-8"), encoding="utf-8")
    found = " | ".join(problems(path))
    assert f"{path} > pairng: unknown key; remove it or correct its spelling" in found
    assert "benchmarks > sample > segmentaton: unknown key" in found
    assert "benchmarks > sample > dataset: missing; add it" in found
    assert "benchmarks > sample > published: Input should be a valid list" in found


def test_names_that_lead_nowhere_are_told_with_what_is_known(tmp_path: Path) -> None:
    judging = {
        "sample-gpt": {"benchmark": "sample", "judge": "gpt"},
        "x": {"benchmark": "nope", "judge": "lexical"},
    }
    found = problems(changed(tmp_path, judging=judging))
    assert any(
        "judging > sample-gpt > judge: 'gpt' is not in judges; known: ['lexical']" in p
        for p in found
    )
    assert any("judging > x > benchmark: 'nope' is not in benchmarks" in p for p in found)
    assert any("judging > x: call it nope-lexical" in p for p in found)


def test_not_utf8_not_yaml_not_there(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    assert "does not exist" in problems(path)[0]
    path.write_bytes(b"seed: \xff\n")
    assert "not UTF-8 at byte 6" in problems(path)[0]
    path.write_text("a: [1,", encoding="utf-8")
    assert "not readable as YAML" in problems(path)[0]


class Kind(Options):
    k: int


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"kind": "other", "k": 1}, "here > kind: 'other' is not known; choose from ['one']"),
        ({"k": 1}, "here > kind: None is not known"),
        ({"kind": ["one"], "k": 1}, "here > kind: ['one'] is not known"),
        ({"kind": "one", "k": "1"}, "here > k: Input should be a valid integer"),
        ({"kind": "one", "k": 1, "j": 2}, "here > j: unknown key"),
    ],
)
def test_blocks_are_checked_against_their_kind(block: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as caught:
        options_of(block, {"one": Kind}, where="here")
    assert said in caught.value.problems[0]


def test_blocks_print_the_same_whatever_their_order() -> None:
    assert printed({"kind": "soap", "b": 2, "a": 1}) == printed({"a": 1, "kind": "soap", "b": 2})
    assert printed({"kind": "soap", "b": 2, "a": 1}) == "soap,a=1,b=2"
