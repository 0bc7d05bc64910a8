"""What YAML readers differ about is refused; all else is what `yaml.safe_load` gives, and DVC's."""

import random
import time
from pathlib import Path

import pytest
import yaml
from ruamel.yaml import YAML

from metassay.core import strict_yaml
from metassay.core.errors import BadInput

ROOT = Path(__file__).parent.parent
LOADERS = [yaml.SafeLoader]
if yaml.__with_libyaml__:
    LOADERS.append(yaml.CSafeLoader)


@pytest.fixture(params=LOADERS, autouse=True, ids=lambda loader: loader.__name__)
def _loader(request, monkeypatch):
    monkeypatch.setattr(strict_yaml, "LOADER", request.param)


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "params.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(BadInput) as caught:
        strict_yaml.load(path)
    return [problem.removeprefix(str(path)) for problem in caught.value.problems]


@pytest.mark.parametrize(
    "text",
    [
        # as some editors save
        *(
            (ROOT / name).read_text("utf-8")
            for name in ("params.yaml", "data/registry.yaml")
        ),
        "",
        "- 1\n- [a, {b: null}]\n",
        "'1': text\n'yes': 2026-11\n",
        "\ufeffa: 1\n",
        "shared: &shared {k: 1, l: 2}\nmine:\n  <<: *shared\n  k: 3\n",
        "one: &one {k: 1}\ntwo: &two {k: 2}\nboth: {<<: [*one, *two]}\n",
        "a: &a [1]\nb: [*a, *a]\n",
    ],
    ids=lambda text: repr(text[:9]),
)
def test_what_yaml_allows_is_what_pyyaml_reads(tmp_path, text):
    assert strict_yaml.load(written(tmp_path, text)) == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a: 1\nb: !!set {x}\n",
            ": line 2: tags (`!`) and directives (`%`) are not read",
        ),
        (
            "a: !!python/name:os.system\n",
            ": line 1: tags (`!`) and directives (`%`) are not read",
        ),
        (
            "%YAML 1.1\n---\na: 1\n",
            ": line 1: tags (`!`) and directives (`%`) are not read",
        ),
    ],
    ids=["set", "python", "directive"],
)
def test_tags_and_directives_are_not_read(tmp_path, text, expected):
    (problem,) = problems(written(tmp_path, text))
    assert problem.startswith(expected)


SOME = (
    "yes",
    "No",
    "on",
    "OFF",
    "=",
    "010",
    "08",
    "0o7",
    "0777",
    "0b11",
    "0x1F",
    "1_000",
    "1:30",
    "1e3",
    "1.0e3",
    "1e400",
    "+.5",
    "-.5",
    "+_1",
    "._1",
    "2026-11-21",
    "2026-13-01",
    "9" * 400,
)


@pytest.mark.parametrize("word", SOME)
def test_words_that_readers_differ_about_are_refused(tmp_path, word):
    (value,) = problems(written(tmp_path, f"a:\n  b: [x, {word}]\n"))
    assert value.startswith(" > a > b > 1: ")
    assert " is read differently by readers of YAML; put text in quotes" in value
    (key,) = problems(written(tmp_path, f"a:\n  {word}: x\n"))
    assert key.endswith(": a key must be text; put it in quotes")
    assert strict_yaml.load(written(tmp_path, f"'{word}': '{word}'\n")) == {word: word}


def test_what_is_read_is_what_dvc_reads(tmp_path):
    """Of thousands of words, alone in a line and between brackets; DVC reads with this reader."""
    rng = random.Random(20261122)
    letters = "0123456789+-._:eExXoObBTZnyauflNY~"
    many = {"".join(rng.choices(letters, k=rng.randint(1, 6))) for _ in range(3000)}
    words = [
        word for word in sorted(many.union(SOME)) if word.strip(":") == word != "-"
    ]
    for form in ("- {}\n", "- [{}]\n"):
        refused = {
            int(problem.split(" > ")[1].partition(":")[0])
            for problem in problems(written(tmp_path, "".join(map(form.format, words))))
        }
        left = [word for place, word in enumerate(words) if place not in refused]
        path = written(tmp_path, "".join(map(form.format, left)))
        assert len(left) > 1000
        assert repr(strict_yaml.load(path)) == repr(YAML(typ="safe").load(path))


def test_every_repeated_key_is_told_with_where_it_is_and_its_lines(tmp_path):
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
shared: &shared {k: 1, k: 2}
again: *shared
"""
    assert problems(written(tmp_path, text)) == [
        " > metrics: occurs twice, in lines 1 and 12; keep one",
        " > metrics > rouge: occurs twice, in lines 2 and 5; keep one",
        " > metrics > rouge > stemmer: occurs twice, in line 2; keep one",
        " > systems > 1 > name: occurs 3 times, in lines 9, 10 and 11; keep one",
        " > shared > k: occurs twice, in line 13; keep one",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: [\n", ": not readable as YAML: line 2: "),
        (
            "a: 1\nb: c: d\n",
            ": not readable as YAML: line 2: mapping values are not allowed",
        ),
        (
            "a: 1\n---\nb: 2\n",
            ": not readable as YAML: line 2: but found another document",
        ),
        ("? [a, b]\n: 1\n", " > line 1: a key must be text"),
        ("a: \0\n", ": not readable as YAML: unacceptable character #x0000"),
        (b"a: \xe9", ": not UTF-8 at byte 3; save it as UTF-8"),
    ],
)
def test_what_is_no_yaml_is_told_in_one_line(tmp_path, text, expected):
    (problem,) = problems(written(tmp_path, text))
    assert problem.startswith(expected)
    assert "\n" not in problem


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    assert problems(tmp_path / "params.yaml") == [
        " does not exist; run in the project's folder"
    ]
    assert problems(tmp_path) == [": cannot be read: Is a directory; put a file there"]

    def refused(path: Path, **_: str) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_text", refused)
    assert problems(written(tmp_path, "a: 1\n"))[0].startswith(
        ": you lack the permission for this"
    )


def test_messages_get_the_line_of_the_key_that_they_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "judges:\n  lexical:\n    kind: lexical\n    'a > b': [x,\n     y]\nmetrics: {}\n"
    written(tmp_path, text)
    for problem, line in {
        "judges > lexical > kind: no": 3,
        "judges > lexical > a > b: no": 4,
        "judges > lexical > a > b > 1 > z: no": 5,
        "judges > lexical > a > b: 'y' is not known": 5,
        "judges > lexical > threshold: missing": 2,
        "metrics: params.yaml > judges has none": 6,
    }.items():
        wanted = [f"params.yaml, line {line} > {problem}"]
        assert strict_yaml.add_lines([f"params.yaml > {problem}"]) == wanted
    unchanged = [
        "params.yaml > systems: missing; add it",
        "params.yaml: line 2: no",
        "other.yaml > a: no",
        "'x' is not in params.yaml > judges; add it",
    ]
    assert strict_yaml.add_lines(unchanged) == unchanged
    nested = "params.yaml > metrics: params.yaml > judges: no"
    assert strict_yaml.add_lines([nested]) == [
        "params.yaml, line 6 > metrics: params.yaml, line 1 > judges: no"
    ]


def test_a_thousand_problems_find_their_lines_at_once(tmp_path):
    path = written(
        tmp_path, "judges:\n" + "".join(f"- k{n}: 1\n" for n in range(10_000))
    )
    start = time.monotonic()
    lines = strict_yaml.add_lines(
        f"{path} > judges > {n} > k{n}: wrong" for n in range(10_000)
    )
    assert lines[-1] == f"{path}, line 10001 > judges > 9999 > k9999: wrong"
    assert time.monotonic() - start < 10
