"""The params files: unknown keys, wrong types and dangling names are told, all of them at once."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from metassay.core import kinds
from metassay.core.errors import BadInput
from metassay.core.options import Options, recipe_text
from metassay.core.params import load

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
    params = load(ROOT)
    assert list(params.every) == sorted(path.name for path in (ROOT / "benchmarks").iterdir())
    assert params.judge_tests["wice_dev"].test == "nli"
    found = params.benchmarks
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
        " spelling; did you mean 'segmentation'?",
    ]


def test_names_that_lead_nowhere_are_told_with_what_is_known(tmp_path: Path) -> None:
    found = problems(project(tmp_path, judges=["gpt"], segmentation="nope"))
    assert found == [
        "benchmarks/sample/params.yaml > segmentation: 'nope' is not in params.yaml >"
        f" segmentations; known: {sorted(load(ROOT).segmentations)}",
        "benchmarks/sample/params.yaml > judges: 'gpt' is not in params.yaml > judges; known:"
        " ['lexical', 'lexical_strict', 'semantic']",
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "other"}, "name: is 'other', but the folder is 'sample'; make them equal"),
        ({"decompositions": []}, "decompositions: 0 are named here and under released_claims"),
        ({"metrics": ["rouge", "rouge"]}, "metrics: 'rouge' is named twice; name it once"),
        ({"few_shot": {"lead": "x"}}, "systems: 'lead' is under few_shot as well"),
        ({"questions": []}, "questions: is empty and so is rubrics, but judges is not"),
        ({"judges": []}, "judges: is empty, but questions or rubrics are not"),
    ],
)
def test_a_benchmark_must_make_sense_by_itself(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    (found,) = problems(project(tmp_path, **changes))
    assert found.startswith(f"benchmarks/sample/params.yaml > {said}")


def test_a_folder_with_a_test_is_checked_as_a_test_of_judges(tmp_path: Path) -> None:
    root = project(tmp_path)
    path = root / "benchmarks/mine/params.yaml"
    path.parent.mkdir()
    mine = {"name": "my", "test": "nli", "dataset": "d", "raw": "r", "options": {"ways": 2}}
    mine |= {"seen": {}}
    path.write_text(yaml.safe_dump(mine | {"judges": ["gpt"] * 2, "published": []}), "utf-8")
    where = "benchmarks/mine/params.yaml > "
    assert problems(root)[:2] == [
        f"{where}name: is 'my', but the folder is 'mine'; make them equal",
        f"{where}judges: 'gpt' is named twice; name it once",
    ]
    assert problems(root)[2].startswith(f"{where}judges: 'gpt' is not in params.yaml > judges")
    path.write_text(yaml.safe_dump(mine | {"judges": [], "systems": []}), "utf-8")
    assert problems(root) == [
        f"{where}published: missing; add it",
        f"{where}systems: unknown key; remove it or correct its spelling",
    ]
    path.write_text(yaml.safe_dump(mine | {"name": "mine", "judges": [], "published": []}), "utf-8")
    found = load(root)
    assert list(found.judge_tests) == ["mine"]
    assert list(found.every) == ["mine", "sample"]


def test_what_choices_saw_is_said_of_judges_that_are_tried(tmp_path: Path) -> None:
    said = {"lexical": "fitted: half of it", "semantic": "looked at"}
    where = "benchmarks/sample/params.yaml > seen"
    assert problems(project(tmp_path, seen=said, judges=["lexical"])) == [
        f"{where}: 'semantic' is not among what it tries: ['lexical']; remove it, or correct its"
        " name"
    ]
    for wrong in ("no", "fittedness", "fitted:", "unseen: a\nb", ""):
        (found,) = problems(project(tmp_path, seen={"lexical": wrong}))
        assert found.startswith(f"{where} > lexical: ")
        assert "must begin with unseen, looked at or fitted" in found
    assert load(project(tmp_path, seen={"lexical": "fitted: half of it"}))
    assert problems(project(tmp_path, seen=...)) == [f"{where}: missing; add it"]


def test_a_test_of_segmentations_is_one_of_its_own(tmp_path: Path) -> None:
    root = project(tmp_path)
    path = root / "benchmarks/mine/params.yaml"
    path.parent.mkdir()
    mine = {"name": "mine", "test": "segmentation", "dataset": "d", "raw": "r", "options": {}}
    mine |= {"seen": {}}
    path.write_text(yaml.safe_dump(mine | {"segmentations": ["gpt"], "judges": []}), "utf-8")
    where = "benchmarks/mine/params.yaml > "
    assert problems(root) == [f"{where}judges: unknown key; remove it or correct its spelling"]
    path.write_text(yaml.safe_dump(mine | {"segmentations": ["gpt"] * 2}), "utf-8")
    twice, *unknown = problems(root)
    assert twice == f"{where}segmentations: 'gpt' is named twice; name it once"
    assert unknown[0].startswith(f"{where}segmentations: 'gpt' is not in params.yaml >")
    path.write_text(yaml.safe_dump(mine | {"segmentations": ["whole"]}), "utf-8")
    found = load(root)
    assert list(found.segment_tests) == list(found.every)[:1] == ["mine"]
    assert not found.judge_tests


def test_names_of_every_block_follow_one_rule(tmp_path: Path) -> None:
    """A dot would part a key of DVC, `given` is the file that the dataset itself brings, and
    `reference` is an author."""
    shared = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    lexical, lead = shared["judges"]["lexical"], shared["systems"]["lead"]
    changed = {
        "judges": {name: lexical for name in ("lexical", "gpt-4.1", "Given", "none")},
        "segmentations": shared["segmentations"] | {"v1.0": {"kind": "whole"}},
        "systems": shared["systems"] | {"reference": lead, "Longest-Turn": lead},
        "models": {"é": {}},
        "endpoints": {" x": {}},
    }
    form = "use letters, digits, _ and - of ASCII alone, first a letter or digit"
    found = problems(project(tmp_path, shared=changed, judges=["lexical"]))
    assert sorted(found) == [
        f"params.yaml > endpoints >  x: {form}",
        "params.yaml > judges > Given: the name is taken; choose another",
        f"params.yaml > judges > gpt-4.1: {form}; its real name goes to shown_as",
        "params.yaml > judges > none: the name is taken; choose another",
        f"params.yaml > models > é: {form}",
        f"params.yaml > segmentations > v1.0: {form}",
        "params.yaml > systems > longest_turn: differs from Longest-Turn in case or - alone; choose"
        " another name",
        "params.yaml > systems > reference: the name is taken; choose another",
    ]


def test_criteria_are_words_that_a_page_can_show(tmp_path: Path) -> None:
    scale = {"low": 0, "high": 1, "better": "higher"}
    names = ["Fluency (1-5)", "fluency (1-5)", "caf\u00e9", "cafe\u0301", "a\tb", " ", "x" * 201]
    found = problems(project(tmp_path, criteria={name: scale for name in names}))
    where = "benchmarks/sample/params.yaml > criteria > "
    assert {line.removeprefix(where).partition(": ")[2] for line in found} == {
        "looks like Fluency (1-5); choose another name",
        "looks like cafe\u0301; choose another name",
        "use printable characters, without blanks around them",
        "has 201 characters; shorten it to 200",
    }
    assert len(found) == 5


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
        ({"k": 1}, "here > kind: missing; choose from"),
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
    assert recipe_text({"kind": "soap", "b": 2, "a": 1}) == recipe_text(
        {"a": 1, "kind": "soap", "b": 2}
    )
    assert recipe_text({"kind": "soap", "b": 2, "a": 1}) == "soap,a=1,b=2"
