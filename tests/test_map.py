"""docs/map.md names every room, each in one line, and no other; its pictures have every stage."""

import re
import subprocess
from collections import Counter
from pathlib import Path

from website.stage_diagrams import with_diagrams

ROOT = Path(__file__).parent.parent
MAP = (ROOT / "docs/map.md").read_text(encoding="utf-8")
INSIDE = ("metassay", "stages", "flows")  # whose modules and folders are rooms as well


def rooms() -> set[str]:
    """Folders and files at the top, and in the packages; but no hidden file and no page to read."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    names = set()
    for name in filter(lambda name: (ROOT / name).exists(), listed.splitlines()):
        first, *rest = name.split("/")
        if not first.startswith(".") and (
            rest or Path(first).suffix not in (".md", "")
        ):
            names.add(f"{first}/" if rest else first)
        if first in INSIDE and (
            len(rest) > 1 or rest[0] not in ("__init__.py", "py.typed")
        ):
            names.add(f"{first}/{rest[0]}/" if len(rest) > 1 else name)
    return names | {"Makefile"}


def test_every_room_has_one_line_and_every_line_a_room() -> None:
    lines = re.findall(r"^- `([^`]+)` .+", MAP, flags=re.MULTILINE)
    named, there = set(lines), rooms()
    unnamed, gone = sorted(there - named), sorted(named - there)
    assert not unnamed, f"docs/map.md lacks a line for {unnamed}"
    assert not gone, f"docs/map.md has a line for {gone}, which is not there"
    assert max(Counter(lines).values()) == 1


def test_the_pictures_are_of_the_table_of_stages() -> None:
    assert with_diagrams(MAP) == MAP, "run `make docs`"
    pictures = re.findall(
        r"^```mermaid\n(.*?)^```", MAP, flags=re.MULTILINE | re.DOTALL
    )
    mermaid = "\n".join(pictures)
    run = [
        path.stem
        for path in sorted((ROOT / "stages").glob("*.py"))
        if "\n@program\n" in path.read_text(encoding="utf-8")
    ]
    assert "meta_evaluate" in run
    for stage in run:
        assert re.search(rf"--> {stage}\b", mermaid), f"docs/map.md: no box for {stage}"
