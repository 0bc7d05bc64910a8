"""docs/papers.md: every place that it names exists, and it leaves out no table or figure."""

import contextlib
import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from metassay.cli.main import parser
from metassay.generation import SYSTEMS
from metassay.judges import JUDGES
from metassay.metrics import METRICS
from metassay.metrics.faithfulness import FAITHFULNESS
from metassay.reporting.contract_page import TABLES
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS
from metassay.units.alignment import ALIGNMENTS
from papers.index import PAPERS
from tests.conftest import ROOT

PAGE = ROOT / "docs/papers.md"
STATUSES = ("here", "differs", "yours", "not here")
KINDS = {
    "systems": SYSTEMS,
    "segmentations": SEGMENTATIONS,
    "decompositions": DECOMPOSITIONS,
    "alignments": ALIGNMENTS,
    "judges": JUDGES,
    "metrics": METRICS,
    "costly_metrics": METRICS,
    "statement_metrics": FAITHFULNESS,
}
# How many tables and figures each paper has, by their names in the records and in the
# rows of those without numbers.
PRINTED = {
    "DocLens": ("doclens", 36, 9),
    "SimSUM": ("simsum", 0, 2),
    "facet-aware metric": ("fm", 4, 11),
    "Adams et al.": ("adams", 10, 10),
    "Ben Abacha et al.": ("benabacha", 9, 0),
}


N_OF_LEGEND = 2  # cells in a row of the table that explains each status


class Row(NamedTuple):
    """A row of the page's tables of methods."""

    method: str
    places: str
    status: str


def rows() -> Iterator[Row]:
    methods = PAGE.read_text("utf-8").partition("\n## How to make it again\n")[0]
    for line in methods.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) != N_OF_LEGEND:
            assert len(cells) == len(Row._fields), line  # else it would not be counted
            row = Row(*cells)
            if row.status != "status":
                yield row


ROWS = list(rows())
PLACES = [
    (row.method, place) for row in ROWS for place in re.findall("`([^`]+)`", row.places)
]


def test_every_row_has_a_status_and_a_place_or_a_reason() -> None:
    assert len(ROWS) > 100
    for row in ROWS:
        assert row.status in STATUSES, row
        if row.status == "not here":
            assert len(row.places.split()) > 6, row  # a reason, in words
        else:
            assert re.search(r"`|\]\(", row.places), row


def test_the_page_counts_its_rows() -> None:
    counts = Counter(row.status for row in ROWS)
    line = (
        f"Of {len(ROWS)} rows, {counts['here']} are here, {counts['differs']} differ,"
        f" {counts['yours']} need something of yours, and {counts['not here']} are not here."
    )
    assert line in " ".join(PAGE.read_text("utf-8").split())


def exists(place: str) -> bool:
    """Whether a place exists: a path, a command, a kind, a figure, a table or a setting."""
    section, colon, name = place.partition(": ")
    if place.startswith(("metassay ", "make ", "python -m ")):
        return is_command(place)
    if section in KINDS and colon:
        return name in KINDS[section]
    if section in PAPERS and colon:
        return name in {record.name for record in PAPERS[section]}
    if "/" in place:
        return (ROOT / place).exists()
    return place in TABLES or is_setting(place)


def is_command(words: str) -> bool:
    program, *rest = words.split()
    if program == "make":
        return f"\n{rest[0]}:" in (ROOT / "Makefile").read_text("utf-8")
    if program == "python":
        return (ROOT / f"{rest[1].replace('.', '/')}.py").is_file()
    options = [word for word in rest if word.startswith("-")]
    n_words = rest.index(options[0]) if options else len(rest)
    shown = help_of(rest[:n_words])
    return all(word in shown for word in rest[n_words:])


def help_of(command: list[str]) -> str:
    """The help of a command; an unknown one ends the test."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), pytest.raises(SystemExit) as ended:
        parser().parse_args([*command, "--help"])
    assert ended.value.code == 0
    return output.getvalue()


def is_setting(place: str) -> bool:
    """Whether a word is a block or an option that the docs explain."""
    name = place.partition(":")[0]
    params = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    blocks = {
        block for value in params.values() if isinstance(value, dict) for block in value
    }
    if name in blocks or place == "params.yaml":
        return True
    pages = [path for path in (ROOT / "docs").glob("*.md") if path != PAGE]
    return any(
        f"{name}:" in text or f"`{name}`" in text for text in map(Path.read_text, pages)
    )


@pytest.mark.parametrize(("method", "place"), PLACES, ids=lambda x: x[:40])
def test_each_place_exists(method: str, place: str) -> None:
    assert exists(place), f"{method}: {place}"


def test_no_table_and_no_figure_is_left_out() -> None:
    """Each has a record in docs/figures.md, or a row among those without numbers."""
    for title, (paper, n_tables, n_figures) in PRINTED.items():
        named = set(re.findall(r"(table|fig)(\d+)", names_of(paper)))
        for row in ROWS:
            heading, _, rest = row.method.partition(",")
            if heading == title:
                named |= set(numbers_in(rest))
        every = {("table", str(number)) for number in range(1, n_tables + 1)}
        every |= {("fig", str(number)) for number in range(1, n_figures + 1)}
        assert every <= named, (title, sorted(every - named))


def names_of(paper: str) -> str:
    return " ".join(record.name for record in PAPERS[paper])


def numbers_in(text: str) -> Iterator[tuple[str, str]]:
    """Table and figure numbers: `tables 13 to 15`, `figures 1, 2`, `table 19, figure 9`."""
    for kind, numbers in re.findall(r"(table|fig)(?:ure)?s? ([\d, to]+)", text):
        first, *more = map(int, re.findall(r"\d+", numbers))
        listed = range(first, more[0] + 1) if "to" in numbers else [first, *more]
        for number in listed:
            yield kind, str(number)


def test_links_lead_to_headings() -> None:
    for page, anchor in re.findall(
        r"\]\(([\w.-]*)#([\w-]+)\)", PAGE.read_text("utf-8")
    ):
        text = (PAGE.parent / page if page else PAGE).read_text("utf-8")
        headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        slugs = {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings}
        assert anchor in slugs, (page, anchor)


def test_an_invented_place_is_found() -> None:
    invented = (
        "metrics: mists",
        "doclens: table99",
        "prompts/nothing.yaml",
        "make nothing",
        "metassay study export --form nothing",
        "python -m papers.nothing",
        "no_such_table",
    )
    assert not [place for place in invented if exists(place)]
