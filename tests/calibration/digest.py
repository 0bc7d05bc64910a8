"""docs/calibration.md, the page for readers, from the tables of rates.md.

    python -m tests.calibration.digest

The page has each promise beside the worst simulated rate, the power of studies, and the
kinds of studies that still mislead. rates.md has every table.
"""

import re
from pathlib import Path
from typing import NamedTuple

from tests.calibration.summary import RATES, summary, table

PAGE = Path(__file__).parents[2] / "docs" / "calibration.md"


class Misled(NamedTuple):
    """A kind of study that rates.md simulates, and the claim that it can mislead to."""

    section: str  # the heading in rates.md
    column: str  # of the share of studies that make the claim, with the rules of today
    says: str


MISLED = (
    Misled(
        section="Classes of systems or documents",
        column="`use`, after",
        says="raters set some systems apart, and the metric knows only which: `use`",
    ),
    Misled(
        section="Raters who are not alike",
        column="as good as a rater, after",
        says="a rater has the scale reversed or rates at random: as good as a rater",
    ),
    Misled(
        section="Raters who are not alike",
        column="`promising` or `use`, after",
        says="each rater has systems or documents of their own: `promising` or `use`",
    ),
    Misled(
        section="Versions, topics and orders that nobody names",
        column="`promising` or `use`, after",
        says="versions or topics that nobody names: `promising` or `use`",
    ),
)

TEXT = """# How often Metassay is wrong

Every rate on this page comes from simulated studies, in which the truth is known. Tests are at
the 5 % level and intervals at 95 %. You can rerun the simulations in a clone of the repository:

```sh
python -m tests.calibration.page
```

This takes about two hours on two cores. `tests/calibration/rates.md` in the repository has every
table, with the design of each simulation. The command writes it anew.

## What is promised

{summary}
## How large must a study be?

The table gives the share of studies that call a metric `use` / `promising`, in per cent, by the
metric's true correlation with human ratings. Nineteen other metrics know nothing, and the metric
has to stand out among all twenty. A primary metric was named before anybody saw results.

{power}
To compare two metrics with each other, both metrics measure the same quality, and the worse one is
noisier. The figure shows how often a study detects the difference:

![Share of studies that detect the worse metric](figures/power.png)

## Studies that are not as verdicts suppose

Some studies can mislead any correlation. The table gives the worst simulated share of studies that
make the false claim, in per cent, with the rules of today. Three numbers are for any two texts, two
texts of one document, and two systems.

{misled}
### Classes of systems or documents

If raters find some systems far worse than the others, a metric that only recognizes those systems
correlates with the ratings. It does tell good systems from bad ones, but it may know nothing about
the others. With eight systems, classes and chance look alike. The texts of one system tell them
apart: a metric that does not follow people among those rarely gets `use` for two systems. A metric
that follows them, and yet cannot rank the other systems, still gets `use` in some studies.

## Raters who stand out

A report names raters who agree less with the others than the others do among themselves. The test
covers all raters of a study at once. Ratings near the ceiling of the scale need more documents
before anybody can stand out.

## Comparisons of two states

With five documents, no comparison can show a change: the smallest possible p is 1/16, and the
output says `cannot tell`. With 26 documents, a system that loses a tenth of its true claims is
almost always named. Intervals are left out where fewer than six documents changed.

## May the judge replace a rater?

The published alternative annotator test assumes that items are independent. If several items come
from one document, it passes judges that are worse than the limit allows. Metassay's test allows for
documents. The price is that it rarely passes even a good judge if documents are few or large: label
more documents.

## Which labels next?

`metassay study export --next` draws texts with chances that suit the decision. It saves labels if
the judge is sure of most texts, or if single texts are scored by a weak metric. It saves little if
only a few systems are compared.
"""


def page(rates: str) -> str:
    """Return docs/calibration.md."""
    sections = rates[rates.index("\n## ") + 1 :]
    return TEXT.format(
        summary="\n".join(summary(sections)),
        power="\n".join(_tables(sections, "What it takes to be used")),
        misled="\n".join(_misled(sections)),
    )


def _tables(sections: str, heading: str) -> list[str]:
    """The lines of a section's tables, with an empty line after each."""
    section = re.search(
        rf"^###? {re.escape(heading)}\n(.*?)(?=^##|\Z)", sections, re.M | re.S
    )
    if section is None:
        raise ValueError(f"rates.md has no section {heading!r}")
    blocks = re.findall(r"(?:^\|.*\n)+", section[1], re.M)
    return [*"\n".join(blocks).splitlines(), ""]


def _misled(sections: str) -> list[str]:
    """A table of the worst share of each false claim, and of the study that it is of."""
    rows = []
    for kind in MISLED:
        worst: tuple[float, list[str]] = (-1.0, [])
        place = None
        for line in _tables(sections, kind.section):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if cells[0] in ("deceiving", "honest"):
                deceiving = cells[0] == "deceiving" and kind.column in cells
                place = cells.index(kind.column) if deceiving else None
                continue
            if place is None or not line or set(line) <= set("|-"):
                continue
            shares = [float(share) for share in cells[place].split(" / ")]
            if max(shares) > worst[0]:
                worst = (max(shares), [cells[0], cells[1], cells[place]])
        rows.append([kind.says, *worst[1]])
    return table(
        ["the study, and the claim", "worst kind", "systems x documents", "share"], rows
    )


def write_page() -> None:
    """Write docs/calibration.md from rates.md as it is."""
    PAGE.write_text(page(RATES.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write_page()
