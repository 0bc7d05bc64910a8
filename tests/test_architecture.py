"""The house keeps its directions, and its files stay readable."""

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

from tests.architecture import (
    ASSAY,
    FLOOR,
    PACKAGES,
    PIPELINE,
    ROOT,
    arrows,
    imports,
    lines,
    room,
    sources,
    upward,
)
from tests.form import (
    chained_conditionals,
    conditional_unpacks,
    loops_in_loops,
    prepositional_names,
    unpacked_literals,
    vague_names,
)


def test_every_file_lies_in_a_room() -> None:
    files = [file for package in PACKAGES for file in sources(package)]
    assert {room(file) for file in files} == set(FLOOR)


def test_rooms_import_only_downwards() -> None:
    assert not upward()


def test_statistics_know_nothing_of_the_project() -> None:
    assert not [
        f"{file} imports {name}"
        for file in sources("metassay/statistics")
        for name in imports(file)
        if not name.startswith("metassay.statistics")
    ]


def test_the_assay_knows_nothing_of_the_pipeline() -> None:
    assert not [
        f"{file} imports {target}"
        for file, target in arrows()
        if room(file) in ASSAY and room(target) in PIPELINE
        # Records of users' own kinds: it gathers those of the pipeline for them.
        if file != Path("metassay/kinds.py")
    ]


def test_papers_use_what_users_use() -> None:
    """Public names of the package alone: no stage, no flow, and no name with _."""
    names = [
        (file, name)
        for file in sources("papers")
        for name in imports(file)
        if not name.startswith("papers")
    ]
    assert names
    assert not [
        f"{file} imports {name}"
        for file, name in names
        if not name.startswith("metassay.") or "._" in name
    ]


def lines_of_imports(file: Path) -> int:
    body = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
    imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    return sum((node.end_lineno or 0) - node.lineno + 1 for node in imports)


def test_stages_stay_doorways() -> None:
    shared = {"stages/declared.py", "stages/doorway.py"}  # what all doorways go through
    long = {
        str(file)
        for file in sources("stages")
        if lines(file) - lines_of_imports(file) > 65
    }
    assert long <= shared


def test_files_stay_readable() -> None:
    files = [file for package in PACKAGES for file in sources(package)]
    assert not {str(file) for file in files if lines(file) > 800}


RULES = (
    unpacked_literals,
    conditional_unpacks,
    chained_conditionals,
    loops_in_loops,
    vague_names,
    prepositional_names,
)


@cache
def breaches() -> dict[str, list[str]]:
    """Where each rule's form stands, by the rule's name. Files are read once for all rules."""
    places: dict[str, list[str]] = {rule.__name__: [] for rule in RULES}
    for package in (*PACKAGES, "tests"):
        for file in sources(package):
            tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
            for rule in RULES:
                places[rule.__name__] += [f"{file}:{what}" for what in rule(tree)]
    return places


def library_breaches(rule: str) -> list[str]:
    return [place for place in breaches()[rule] if not place.startswith("tests/")]


def test_no_literal_is_unpacked_into_another() -> None:
    """`[*(1, 2), 3]` and `{**{"a": 1}, "b": 2}` save a line and cost a second reading."""
    assert not breaches()["unpacked_literals"]


def test_nothing_is_unpacked_on_a_condition() -> None:
    """`[*(more if wanted else []), last]` hides an `if`; a list that grows says it plainly."""
    assert not breaches()["conditional_unpacks"]


def test_no_conditional_stands_inside_another() -> None:
    """`a if b else c if d else e` is read twice; `if` with names is read once."""
    assert not breaches()["chained_conditionals"]


def test_no_comprehension_has_three_loops() -> None:
    """Two loops are a table; with three, a name for the inner ones helps."""
    assert not library_breaches("loops_in_loops")


def test_names_say_what_things_are() -> None:
    assert not breaches()["vague_names"]


def test_functions_are_named_by_verbs_and_nouns() -> None:
    """`read_json`, not `_of_json`; the keys of sheets and users' own kinds still have some."""
    of_own_kinds = ("metassay/generation/record.py", "metassay/labelled/records.py")
    of_sheets = ("metassay/tabular/sheet.py",)
    names = library_breaches("prepositional_names")
    assert not [name for name in names if not name.startswith(of_own_kinds + of_sheets)]


def test_no_path_of_one_machine_is_in_the_project() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    pattern = re.compile(r"(?<![\w.])/(?:home|root|work|tmp)/[a-z]")
    places = []
    for name in filter(None, tracked):
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        if pattern.search(text) and name != "tests/test_architecture.py":
            places.append(name)
    assert not places
