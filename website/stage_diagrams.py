"""The diagrams of docs/map.md, drawn from the table of stages.

PYTHONPATH=. python website/stage_diagrams.py docs/map.md
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from metassay.core.stages import SORTS, Stages


def diagram(stages: Stages) -> str:
    """The way of the data in Mermaid: stages, and tables but for `responses` and `notes`."""
    modules = {stage.module: stage for stage in stages}  # some stages share one
    made = {name: _names(stage.writes) for name, stage in modules.items()}
    read = {name: _names(stage.reads) for name, stage in modules.items()}
    *_, report = modules
    used = {table for name in modules if name != report for table in read[name]}
    lines, drawn = ["flowchart TD"], dict[str, str]()
    for name, stage in modules.items():
        into = [
            drawn[table] for table in read[name] if (table in used) != (name == report)
        ]
        first = ['raw[("data/raw/")]'] if stage.files == ("${raw}",) else []
        left = [table for table in made[name] if table not in used]
        if len(left) > 3:  # they are shown, and nothing else reads them
            rest = f'{name}_tables[("{", ".join(left[:3])} and {len(left) - 3} more")]'
            drawn |= dict.fromkeys(left, rest)
        for table in made[name]:
            drawn.setdefault(table, f"{table}[({table})]")
        outs = dict.fromkeys(drawn[table] for table in made[name])
        after = " & ".join(outs) if outs else 'page["reports/NAME/"]'
        lines.append(
            f"  {' & '.join(dict.fromkeys([*first, *into]))} --> {name} --> {after}"
        )
    nodes = set[str]()

    def once(node: re.Match[str]) -> str:
        new = node[1] not in nodes
        nodes.add(node[1])
        return node[0] if new else node[1]

    return re.sub(r"(\w+)\[[^]]+\]", once, "\n".join(lines))


def _names(tables: Iterable[str]) -> list[str]:
    found = dict.fromkeys(table.partition("/")[0] for table in tables)
    return [table for table in found if table not in ("responses", "notes")]


def with_diagrams(page: str) -> str:
    """A page whose first diagrams are those of each sort of folder that has a report, in order."""
    shown = [stages for stages, _, _ in SORTS.values() if stages[-1].name == "report"]
    every = map(diagram, shown)
    fence = re.compile(r"(?<=^```mermaid\n).*?(?=\n```)", re.MULTILINE | re.DOTALL)
    return fence.sub(lambda found: next(every, found[0]), page)


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(with_diagrams(page.read_text(encoding="utf-8")), encoding="utf-8")
