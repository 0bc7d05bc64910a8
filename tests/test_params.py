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
SAMPLE, TRIED = "benchmarks/sample/params.yaml", "benchmarks/tried/params.yaml"


def project(root: Path, *, shared: dict[str, Any] | None = None, **sample: Any) -> Path:
    """Our own params files, with other keys of the root's or of the sample's; ... takes one out."""
    for name, changes in (("params.yaml", shared or {}), (SAMPLE, sample)):
        content = yaml.safe_load((ROOT / name).read_text("utf-8")) | changes
        put(
            root / name,
            {key: value for key, value in content.items() if value is not ...},
        )
    return root


def put(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(content), encoding="utf-8")


def problems(root: Path) -> list[str]:
    with pytest.raises(BadInput) as caught:
        load(root)
    return list(caught.value.problems)


def test_committed_params_are_sound(tmp_path):
    params = load(ROOT)
    assert list(params.every) == sorted(
        path.name for path in (ROOT / "benchmarks").iterdir()
    )
    assert params.judge_tests["wice_dev"].test == "nli"
    assert params.benchmarks["sample"].decomposition == "clauses"
    assert params.benchmarks["sample"].writers == ["lead", "longest_turn"]
    assert load(project(tmp_path, seen={"lexical": "fitted: half of it"}))


def test_every_problem_is_told_at_once_with_what_is_known(tmp_path):
    sample = {"segmentaton": "soap", "published": "t", "dataset": ...}
    assert problems(project(tmp_path, shared={"pairng": {}}, **sample)) == [
        "params.yaml > pairng: unknown key; remove it or correct its spelling",
        f"{SAMPLE} > dataset: missing; add it",
        f"{SAMPLE} > published: must be a valid list",
        f"{SAMPLE} > segmentaton: unknown key; remove it or correct its spelling; did you mean"
        " 'segmentation'?",
    ]
    assert problems(project(tmp_path, judges=["gpt"], segmentation="nope")) == [
        f"{SAMPLE} > segmentation: 'nope' is not in params.yaml > segmentations; known:"
        f" {sorted(load(ROOT).segmentations)}",
        f"{SAMPLE} > judges: 'gpt' is not in params.yaml > judges; known: ['lexical',"
        " 'lexical_strict', 'semantic']",
    ]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"name": "other"},
            "name: is 'other', but the folder is 'sample'; make them equal",
        ),
        (
            {"decompositions": []},
            "decompositions: 0 are named here and under released_claims",
        ),
        (
            {"metrics": ["rouge", "rouge"]},
            "metrics: 'rouge' is named twice; name it once",
        ),
        ({"few_shot": {"lead": "x"}}, "systems: 'lead' is under few_shot as well"),
        ({"questions": []}, "questions: is empty and so is rubrics, but judges is not"),
        ({"judges": []}, "judges: is empty, but questions or rubrics are not"),
        ({"seen": ...}, "seen: missing; add it"),
        (
            {"seen": {"lexical": "fitted: half of it", "semantic": "looked at"}},
            "seen: 'semantic' is not among what it tries: ['lexical']; remove it, or correct its",
        ),
        *(
            (
                {"seen": {"lexical": wrong}},
                "seen > lexical: must begin with unseen, looked at or f",
            )
            for wrong in ("no", "fittedness", "fitted:", "unseen: a\nb", "")
        ),
    ],
)
def test_a_benchmark_must_make_sense_by_itself(tmp_path, changes, problem):
    (line,) = problems(
        project(tmp_path, **{"judges": ["lexical"], "seen": {}} | changes)
    )
    assert (
        line.removeprefix(f"{SAMPLE} > ")
        .replace("Value error, ", "")
        .startswith(problem)
    )


def test_a_folder_with_a_test_is_checked_as_that(tmp_path):
    root, lead = project(tmp_path), f"{TRIED} > "
    base = {"name": "tried", "dataset": "d", "raw": "r", "seen": {}, "options": {}}
    judges = base | {"test": "nli", "judges": [], "published": []}
    segments = base | {"test": "segmentation", "segmentations": ["whole"]}
    twice = judges | {"name": "my", "judges": ["gpt"] * 2}
    del (lacking := judges | {"systems": []})["published"]
    for content, wanted in (
        (
            twice,
            [
                "name: is 'my', but the folder is 'tried'; make them equal",
                "judges: 'gpt' is named",
            ],
        ),
        (twice, ["", "", "judges: 'gpt' is not in params.yaml > judges"]),
        (lacking, ["published: missing; add it", "systems: unknown key; remove it"]),
        (
            segments | {"judges": []},
            ["judges: unknown key; remove it or correct its spelling"],
        ),
        (
            segments | {"segmentations": ["gpt"] * 2},
            [
                "segmentations: 'gpt' is named twice",
                "segmentations: 'gpt' is not in params.yaml >",
            ],
        ),
    ):
        put(root / TRIED, content)
        lines = problems(root)[: len(wanted)]
        for line, start in zip(lines, wanted, strict=True):
            assert line.startswith(lead + start)
    put(root / TRIED, judges)
    params = load(root)
    assert (list(params.judge_tests), list(params.every)) == (
        ["tried"],
        ["sample", "tried"],
    )
    put(root / TRIED, segments)
    params = load(root)
    assert (list(params.segment_tests), params.judge_tests) == (["tried"], {})


def test_names_of_every_block_follow_one_rule(tmp_path):
    """A dot would part a key of DVC, `given` is the file that the dataset itself
    brings, and `reference` is an author.
    """
    shared = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    lexical, lead = shared["judges"]["lexical"], shared["systems"]["lead"]
    changes = {
        "judges": {name: lexical for name in ("lexical", "gpt-4.1", "Given", "none")},
        "segmentations": shared["segmentations"] | {"v1.0": {"kind": "whole"}},
        "systems": shared["systems"] | {"reference": lead, "Longest-Turn": lead},
        "models": {"é": {}},
        "endpoints": {" x": {}},
    }
    form = "use letters, digits, _ and - of ASCII alone, first a letter or digit"
    taken = "the name is taken; choose another"
    assert sorted(problems(project(tmp_path, shared=changes, judges=["lexical"]))) == [
        f"params.yaml > endpoints >  x: {form}",
        f"params.yaml > judges > Given: {taken}",
        f"params.yaml > judges > gpt-4.1: {form}; its real name goes to shown_as",
        f"params.yaml > judges > none: {taken}",
        f"params.yaml > models > é: {form}",
        f"params.yaml > segmentations > v1.0: {form}",
        "params.yaml > systems > longest_turn: differs from Longest-Turn in case or - alone; choose"
        " another name",
        f"params.yaml > systems > reference: {taken}",
    ]


def test_criteria_are_words_that_a_page_can_show(tmp_path):
    scale = {"low": 0, "high": 1, "better": "higher"}
    names = [
        "Fluency (1-5)",
        "fluency (1-5)",
        "caf\u00e9",
        "cafe\u0301",
        "a\tb",
        " ",
        "x" * 201,
    ]
    lines = problems(project(tmp_path, criteria={name: scale for name in names}))
    lead = f"{SAMPLE} > criteria > "
    assert sorted(line.removeprefix(lead).partition(": ")[2] for line in lines) == [
        "has 201 characters; shorten it to 200",
        "looks like Fluency (1-5); choose another name",
        "looks like cafe\u0301; choose another name",
        *["use printable characters, without blanks around them"] * 2,
    ]


class Kind(Options):
    k: int


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        (
            {"kind": "other", "k": 1},
            "here > kind: 'other' is not known; choose from ['one']",
        ),
        ({"k": 1}, "here > kind: missing; choose from"),
        ({"kind": ["one"], "k": 1}, "here > kind: ['one'] is not known"),
        ({"kind": "one", "k": "1"}, "here > k: must be a valid integer"),
        ({"kind": "one", "k": 1, "j": 2}, "here > j: unknown key"),
    ],
)
def test_blocks_are_checked_against_their_kind(monkeypatch, block, problem):
    record = SimpleNamespace(options=Kind)
    monkeypatch.setattr(kinds, "record_of", lambda _index, _kind: record)
    with pytest.raises(BadInput) as caught:
        kinds.choose({"one": "a.module"}, block, where="here")
    assert problem in caught.value.problems[0]


def test_blocks_print_the_same_whatever_their_order():
    blocks = {"kind": "soap", "b": 2, "a": 1}, {"a": 1, "kind": "soap", "b": 2}
    assert {recipe_text(block) for block in blocks} == {"soap,a=1,b=2"}
