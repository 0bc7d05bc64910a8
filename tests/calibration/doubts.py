"""Studies that are not as verdicts suppose: how often they deceive, before and after.

    python -m tests.calibration.doubts            # cells without results, then the page
    python -m tests.calibration.doubts classes    # all cells of this section again, then the page
    python -m tests.calibration.doubts --page     # the page alone

A `Doubt` is a row: it draws a study and says which claims were made of it. Sections
stand in `sections()`. Results are kept in results/SECTION.json, so that one row can be
simulated by itself. `--before` keeps results as those of the rules before: run it
before a rule changes.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import numpy as np

from tests.calibration.digest import write_page
from tests.calibration.summary import RATES, table

RESULTS = Path(__file__).with_name("results")  # a file per section
HEADING = "## Studies that are not as verdicts suppose"
SHAPES = ((8, 40), (16, 100))
METRICS = (1, 3, 20)
STUDIES = 200
WHENS = ("before", "after")

Shape = tuple[int, int]
# Heads of columns -> whether the claim was made, by level or whatever the section
# compares.
Outcome = Mapping[str, Sequence[bool]]


class Doubt(NamedTuple):
    """A kind of study, and how one is drawn and judged.

    `draw(rng, shape, n_metrics)` draws a study and returns its outcome. `honest`:
    claims are true, and those lost are power.
    """

    name: str
    draw: Callable[[np.random.Generator, Shape, int], Outcome]
    honest: bool = False
    shapes: Sequence[Shape] = SHAPES
    metrics: Sequence[int] = METRICS
    studies: int = STUDIES


class Section(NamedTuple):
    """Doubts of one kind, and what the page says of them."""

    name: str  # in the results, and for the command
    title: str
    says: str
    doubts: Sequence[Doubt]


class Cell(NamedTuple):
    """A doubt in studies of one shape, with so many metrics."""

    section: str
    doubt: Doubt
    shape: Shape
    n_metrics: int

    @property
    def key(self) -> str:
        """Its name in the file of results."""
        systems, documents = self.shape
        return f"{self.section}: {self.doubt.name}; {systems} x {documents}; {self.n_metrics}"


def sections() -> list[Section]:
    """All sections, in the order of the page."""
    # They import this module.
    from tests.calibration import (
        chosen_labels,
        classes,
        many,
        raters,
        selected,
        unnamed,
    )

    return [
        classes.SECTION,
        raters.SECTION,
        selected.SECTION,
        chosen_labels.SECTION,
        unnamed.SECTION,
        many.SECTION,
    ]


def cells(chosen: Sequence[Section]) -> Iterator[Cell]:
    for section in chosen:
        for doubt in section.doubts:
            for shape in doubt.shapes:
                for n_metrics in doubt.metrics:
                    yield Cell(section.name, doubt, shape, n_metrics)


def simulate(cell: Cell, runs: int | None = None) -> dict[str, list[float]]:
    """Per cent of studies in which each claim was made, by head; `n` has their number."""
    n = runs or cell.doubt.studies
    rng = np.random.default_rng([*cell.shape, cell.n_metrics, *cell.key.encode()])
    outcomes = [cell.doubt.draw(rng, cell.shape, cell.n_metrics) for _ in range(n)]
    rates = {
        head: [
            round(100 * float(share), 1)
            for share in np.mean([o[head] for o in outcomes], 0)
        ]
        for head in outcomes[0]
    }
    return {**rates, "n": [n]}


# ---- the page --------------------------------------------------------------------------------


def page_section(
    results: Mapping[str, Mapping[str, Mapping[str, list[float]]]],
) -> list[str]:
    """The section of tests/calibration/rates.md, as lines."""
    lines = [
        HEADING,
        "",
        "Per cent of studies, at global / document / system level where a cell has three numbers,"
        " before these rules and with them. Where metrics know nothing, any of them counts; in"
        " honest studies one follows people, and the others know nothing. A dash was not simulated."
        " `python -m tests.calibration.doubts` simulates what is missing, and with the name of a"
        " section all of its rows again.",
        "",
    ]
    for section in sections():
        lines += [f"### {section.title}", "", *section.says.strip().splitlines(), ""]
        for honest, title in ((False, "Deceiving"), (True, "Honest")):
            doubts = [doubt for doubt in section.doubts if doubt.honest == honest]
            of_section = cells([section._replace(doubts=doubts)])
            there = [
                cell for cell in of_section if "after" in results.get(cell.key, {})
            ]
            lines += _tables(title, there, results)
    return lines


def _tables(title: str, there: Sequence[Cell], results: Mapping) -> list[str]:
    """A table for each set of heads among the cells."""
    by_heads: dict[tuple[str, ...], list[Cell]] = {}
    for cell in there:
        heads = tuple(head for head in results[cell.key]["after"] if head != "n")
        by_heads.setdefault(heads, []).append(cell)
    lines = []
    for heads, same in by_heads.items():
        columns = [f"{head}, {when}" for head in heads for when in WHENS]
        rows = []
        for cell in same:
            of_cell = results[cell.key]
            numbers = [
                _numbers(of_cell, head, when) for head in heads for when in WHENS
            ]
            n = of_cell["after"]["n"][0]
            by = f"{cell.shape[0]} x {cell.shape[1]}"
            rows.append([cell.doubt.name, by, cell.n_metrics, n, *numbers])
        first = [title.lower(), "systems x documents", "metrics", "studies"]
        lines += table([*first, *columns], rows)
    return lines


def _numbers(
    rates: Mapping[str, Mapping[str, list[float]]], head: str, when: str
) -> str:
    return " / ".join(f"{rate:g}" for rate in rates.get(when, {}).get(head, [])) or "–"


def read_results() -> dict:
    """Results before and after of every cell, by its key."""
    files = sorted(RESULTS.glob("*.json"))
    return {
        key: of for file in files for key, of in json.loads(file.read_text()).items()
    }


def keep(cell: Cell, when: str, rates: Mapping[str, list[float]]) -> None:
    """Add rates to the file of the section."""
    file = RESULTS / f"{cell.section}.json"
    results = json.loads(file.read_text()) if file.exists() else {}
    results[cell.key] = {**results.get(cell.key, {}), when: dict(rates)}
    lines = [
        f"{json.dumps(key)}: {json.dumps(results[key])}" for key in sorted(results)
    ]
    file.parent.mkdir(exist_ok=True)
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def write_section(results: Mapping) -> None:
    """Replace the section of rates.md; the rest stays as it is."""
    text = RATES.read_text(encoding="utf-8")
    before, _, rest = text.partition(f"{HEADING}\n")
    after = rest.partition("\n## ")[2]
    section = "\n".join(page_section(results))
    RATES.write_text(
        f"{before}{section}\n" + (f"## {after}" if after else ""), encoding="utf-8"
    )


def main() -> None:
    """Simulate what is asked for or missing, keep the results, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sections", nargs="*", help="simulate all cells of these again")
    parser.add_argument("--only", default="", help="cells whose key contains this")
    parser.add_argument(
        "--before", action="store_true", help="keep results as those before"
    )
    parser.add_argument("--page", action="store_true", help="write the page only")
    parser.add_argument("--studies", type=int, help="so many per cell")
    args = parser.parse_args()
    when = "before" if args.before else "after"
    for cell in () if args.page else cells(sections()):
        missing = when not in read_results().get(cell.key, {})
        if args.only not in cell.key or not (missing or cell.section in args.sections):
            continue
        start = monotonic()
        rates = simulate(cell, args.studies)
        keep(cell, when, rates)
        print(f"{monotonic() - start:6.0f} s  {cell.key}: {rates}", flush=True)
    write_section(read_results())
    write_page()


if __name__ == "__main__":
    main()
