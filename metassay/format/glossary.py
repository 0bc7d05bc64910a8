"""The glossary: a sentence for each term, the same on pages, in the terminal and in docs.

    python -m metassay.format.glossary docs/glossary.md

glossary_terms.py has the terms, in groups.
"""

import sys
from pathlib import Path
from typing import NamedTuple

from metassay.format.glossary_terms import GROUPS, NUMBERS

START = """\
# Glossary

One sentence for each term, the same on pages, in the terminal (`metassay show --terms`) and here.
Generated from `metassay/format/glossary_terms.py` by `make docs`.
"""


class Term(NamedTuple):
    """A term's group, its sentence, and further information, which can be empty."""

    group: str
    says: str
    more: str

    @property
    def whole(self) -> str:
        """Sentence and further information."""
        return f"{self.says} {self.more}".strip()


def terms(**numbers: str) -> dict[str, Term]:
    """Return all terms in order. `numbers`: a study's `useful`, `alpha` and `fewest`,
    as text; by default those of a new project's params.yaml.
    """
    values = {**NUMBERS, **numbers}
    by_name = {}
    for group, entries in GROUPS.items():
        for name, entry in entries.items():
            by_name[name] = Term(
                group=group,
                says=entry.says.format(**values),
                more=entry.more.format(**values),
            )
    return by_name


def page() -> str:
    """Return docs/glossary.md: a table per group."""
    lines = [START]
    group = ""
    for name, term in terms().items():
        if term.group != group:
            group = term.group
            lines += [f"\n## {group}\n", "| term | what it means |", "|---|---|"]
        lines.append(f"| {name} | {term.whole} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
