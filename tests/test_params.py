"""The params files: unknown keys, wrong types and dangling names are told, all of them at once."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from metassay import kinds
from metassay.errors import BadInput
from metassay.options import Options, printed
from metassay.params import load

ROOT = Path(__file__).parent.parent


def project(root: Path, *, shared: dict[str, Any] | None = None, **sample: Any) -> Path:
    """Our own params files, with other keys of the root's or of the sample's; ... takes one out."""
    for name, changes in (("params.yaml", shared or {}), ("benchmarks/sample/params.yaml", sample)):
        content = yaml.safe_load((ROOT / name).read_text("utf-8")) | changes
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = {key: value for key, value in content.items() if value is not ...}
        path.write_text(yaml.safe_dump(kept), encoding="utf-8")
    return root


def problems(root: Path) -> list[str]:
    with pytest.raises(BadInput) as caught:
        load(root)
    return list(caught.value.problems)


def test_committed_params_are_sound() -> None:
    found = load(ROOT).benchmarks
    assert sorted(found) == sorted(path.name for path in (ROOT / "benchmarks").iterdir())
    assert found["sample"].decomposition == "clauses"
    assert found["sample"].writers == ["lead", "longest_turn"]


def test_unknown_keys_wrong_types_and_missing_ones_come_at_once(tmp_path: Path) -> None:
    changed = project(
        tmp_path, shared={"pairng": {}}, segmentaton="soap", published="t", dataset=...
    )
    assert problems(changed) == [
        "params.yaml > pairng: unknown key; remove it or correct its spelling",
        "benchmarks/sample/params.yaml > dataset: missing; add it",
        "benchmarks/sample/params.yaml > published: Input should be a valid list",
        "benchmarks/sample/params.yaml > segmentaton: unknown key; remove it or correct its"
        " spelling",
    ]


def test_names_that_lead_nowhere_are_told_with_what_is_known(tmp_path: Path) -> None:
    found = problems(project(tmp_path, judges=["gpt"], segmentation="nope"))
    assert found == [
        "benchmarks/sample/params.yaml > segmentations: 'nope' is not in params.yaml >"
        " segmentations; known: ['doclens_table24', 'soap', 'whole']",
        "benchmarks/sample/params.yaml > judges: 'gpt' is not in params.yaml > judges; known:"
        " ['lexical']",
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "other"}, "name: is 'other', but the folder is 'sample'; make them equal"),
        ({"decompositions": []}, "decompositions: 0 are named here and under released_claims"),
        ({"metrics": ["rouge", "rouge"]}, "metrics: 'rouge' is named twice; name it once"),
        ({"few_shot": {"lead": "x"}}, "systems: 'lead' is under few_shot as well"),
        ({"questions": []}, "questions: is empty, but judges is not; name both or neither"),
        ({"judges": []}, "judges: is empty, but questions is not; name both or neither"),
    ],
)
def test_a_benchmark_must_make_sense_by_itself(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    (found,) = problems(project(tmp_path, **changes))
    assert found.startswith(f"benchmarks/sample/params.yaml > {said}")


def test_names_that_files_or_dvc_cannot_have_are_refused(tmp_path: Path) -> None:
    """A dot would part a key of DVC, `given` is the file that the dataset itself brings, and
    `reference` is an author."""
    shared = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    lexical, lead = shared["judges"]["lexical"], shared["systems"]["lead"]
    changed = {
        "judges": {name: lexical for name in ("lexical", "gpt-4.1", "given")},
        "segmentations": shared["segmentations"] | {"v1.0": {"kind": "whole"}},
        "systems": shared["systems"] | {"reference": lead},
    }
    found = problems(project(tmp_path, shared=changed))
    assert sorted(found) == [
        "params.yaml > judges > given: the name is taken; choose another",
        "params.yaml > judges > gpt-4.1: use letters, digits, _ and - alone",
        "params.yaml > segmentations > v1.0: use letters, digits, _ and - alone",
        "params.yaml > systems > reference: the name is taken; choose another",
    ]


def test_not_utf8_not_yaml_not_there(tmp_path: Path) -> None:
    assert "does not exist" in problems(tmp_path)[0]
    path = tmp_path / "params.yaml"
    path.write_bytes(b"seed: \xff\n")
    assert "not UTF-8 at byte 6" in problems(tmp_path)[0]
    path.write_text("a: [1,", encoding="utf-8")
    assert "not readable as YAML" in problems(tmp_path)[0]


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
def test_blocks_are_checked_against_their_kind(
    monkeypatch: pytest.MonkeyPatch, block: dict[str, Any], said: str
) -> None:
    record = SimpleNamespace(options=Kind)
    monkeypatch.setattr(kinds, "record_of", lambda _index, _kind: record)
    with pytest.raises(BadInput) as caught:
        kinds.choose({"one": "a.module"}, block, where="here")
    assert said in caught.value.problems[0]


def test_blocks_print_the_same_whatever_their_order() -> None:
    assert printed({"kind": "soap", "b": 2, "a": 1}) == printed({"a": 1, "kind": "soap", "b": 2})
    assert printed({"kind": "soap", "b": 2, "a": 1}) == "soap,a=1,b=2"
