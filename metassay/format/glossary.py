"""The glossary: a sentence for each term, the same on pages, in the terminal and in docs.

    python -m metassay.format.glossary docs/glossary.md

glossary.yaml has the terms, in groups.
"""

import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from metassay.core import strict_yaml

FILE = Path(__file__).with_suffix(".yaml")
START = """\
# Glossary

One sentence for each term, the same on pages, in the terminal (`metassay show --terms`) and here.
Generated from `metassay/format/glossary.yaml` by `make docs`.
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
    content = _content()
    values = {**content["numbers"], **numbers}
    by_name = {}
    for group, group_terms in content["groups"].items():
        for term, entry in group_terms.items():
            fields = {"says": entry} if isinstance(entry, str) else entry
            says, more = (
                fields.get(key, "").format(**values) for key in ("says", "more")
            )
            by_name[term] = Term(group, says, more)
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


@cache
def _content() -> Any:
    return strict_yaml.load(FILE)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
