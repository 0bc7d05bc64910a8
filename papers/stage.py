"""The stage of a paper: tables of benchmarks -> reports/figures/PAPER/.

`python -m papers.stage NAME`, in the root of the repository. papers/dvc.yaml has a stage
for each paper, which declares the tables that it reads.
"""

import sys
from pathlib import Path

from metassay.core import parent_watch
from metassay.core.errors import BadInput
from metassay.core.exit_codes import BAD_INPUT
from papers.draw import damage_lines, draw_here, summary
from papers.index import find_records


def main(paper: str) -> None:
    """Draw a paper whole; BadInput if it has no such name, or reads damaged files."""
    papers = find_records(Path())
    if paper not in papers:
        raise BadInput(
            f"{paper!r}: no paper has this name; choose from {', '.join(papers)}"
        )
    outcome = draw_here(paper, papers[paper])
    for line in summary(outcome):
        print(f"note: {line}", file=sys.stderr)
    if outcome.damaged:  # incomplete: dvc.lock must not record it
        raise BadInput(damage_lines(outcome.damaged))


if __name__ == "__main__":
    parent_watch.watch()
    try:
        main(sys.argv[1])
    except BadInput as error:
        for problem in error.problems:
            print(problem, file=sys.stderr)
        sys.exit(BAD_INPUT)
