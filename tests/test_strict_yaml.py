"""A key that is there twice is refused with its lines; all else is what `yaml.safe_load` gives."""

from pathlib import Path

import pytest
import yaml

from metassay import strict_yaml
from metassay.errors import BadInput

ROOT = Path(__file__).parent.parent
LOADERS = [yaml.SafeLoader, *([yaml.CSafeLoader] if yaml.__with_libyaml__ else [])]


@pytest.fixture(params=LOADERS, autouse=True, ids=lambda loader: loader.__name__)
def _loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict_yaml, "_LOADER", request.param)


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "params.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(BadInput) as caught:
        strict_yaml.load(path)
    return [problem.removeprefix(str(path)) for problem in caught.value.problems]


@pytest.mark.parametrize("name", ["params.yaml", "dvc.yaml", "data/registry.yaml"])
def test_files_without_a_repeated_key_are_what_pyyaml_reads(name: str) -> None:
    path = ROOT / name
    assert strict_yaml.load(path) == yaml.safe_load(path.read_text("utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- 1\n- [a, {b: null}]\n",
        "1: whole\n'1': text\n",  # two keys: a number and a text
        "shared: &shared {k: 1, l: 2}\nmine:\n  <<: *shared\n  k: 3\n",
        "one: &one {k: 1}\ntwo: &two {k: 2}\nboth: {<<: [*one, *two]}\n",
        "=: 1\nb: 2\n",
        "a: &a [1]\nb: [*a, *a]\n",
    ],
)
def test_what_yaml_allows_is_read(tmp_path: Path, text: str) -> None:
    assert strict_yaml.load(written(tmp_path, text)) == yaml.safe_load(text)


def test_a_block_that_holds_itself_ends(tmp_path: Path) -> None:
    found = strict_yaml.load(written(tmp_path, "a: &a [1, *a]\n"))
    assert found["a"][1] is found["a"]  # type: ignore[index]


def test_every_repeated_key_is_told_with_where_it_is_and_its_lines(tmp_path: Path) -> None:
    text = """\
metrics:
  rouge: {kind: rouge, stemmer: true, stemmer: false}
  bleu:
    kind: bleu
  rouge:
    kind: rouge
systems:
  - {name: a}
  - name: b
    'name': c
    name: d
metrics: {}
yes: 1
true: 2
shared: &shared {k: 1, k: 2}
again: *shared
"""
    assert problems(written(tmp_path, text)) == [
        " > metrics: is there twice, in lines 1 and 12; keep one",
        " > yes: is there twice, in lines 13 and 14; keep one",
        " > metrics > rouge: is there twice, in lines 2 and 5; keep one",
        " > metrics > rouge > stemmer: is there twice, in line 2; keep one",
        " > systems > 1 > name: is there 3 times, in lines 9, 10 and 11; keep one",
        " > shared > k: is there twice, in line 15; keep one",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: [\n", ": not readable as YAML: line 2: "),
        ("a: 1\nb: c: d\n", ": not readable as YAML: line 2: mapping values are not allowed"),
        ("a: 1\n---\nb: 2\n", ": not readable as YAML: line 2: but found another document"),
        ("? [a, b]\n: 1\n", ": not readable as YAML: line 1: found unhashable key"),
        ("a: !!python/name:os.system\n", ": not readable as YAML: line 1: could not determine a"),
        ("a: \0\n", ": not readable as YAML: unacceptable character #x0000"),
        ("a: 2026-13-01\n", ": not readable as YAML: month must be in 1..12; put dates in quotes"),
        (b"a: \xe9", ": not UTF-8 at byte 3; save it as UTF-8"),
    ],
)
def test_what_is_no_yaml_is_told_in_one_line(tmp_path: Path, text: str, expected: str) -> None:
    (found,) = problems(written(tmp_path, text))
    assert found.startswith(expected)
    assert "\n" not in found


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert problems(tmp_path / "params.yaml") == [" does not exist; run in the project's folder"]
