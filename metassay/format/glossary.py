"""The glossary: one sentence for each term, the same on pages, in the terminal and in docs.

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
    """A term's group, its sentence, and more to know of it, which may be empty."""

    group: str
    says: str
    more: str

    @property
    def whole(self) -> str:
        """All that is known of it."""
        return f"{self.says} {self.more}".strip()


def terms(**numbers: str) -> dict[str, Term]:
    """Every term, in order. `numbers` are a study's own `useful`, `alpha` and `fewest`, as text;
    by default those of params.yaml as a new project has it."""
    content = _content()
    filled = {**content["numbers"], **numbers}
    every = {}
    for group, some in content["groups"].items():
        for term, entry in some.items():
            whole = {"says": entry} if isinstance(entry, str) else entry
            says, more = (whole.get(key, "").format(**filled) for key in ("says", "more"))
            every[term] = Term(group, says, more)
    return every


def page() -> str:
    """docs/glossary.md: a table per group."""
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
