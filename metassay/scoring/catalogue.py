"""Descriptions of all metrics, and their list in docs/metrics.md.

`python -m metassay.scoring.catalogue` writes the list anew, and the names that
`metassay.tables.known_metrics` has for code that knows no metric.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from pathlib import Path

import pandas as pd

from metassay.core.errors import raise_problems
from metassay.core.kinds import choose, is_path, record_of
from metassay.core.options import FROM_DATASET, PARAMS
from metassay.core.params import Params
from metassay.metrics import METRICS, released
from metassay.metrics.describe import COPYING, JUDGED, RELEASED, Description, add_list
from metassay.metrics.faithfulness import FAITHFULNESS
from metassay.scoring.pairing import measures
from metassay.tables.names import base_metric

# Blocks of params.yaml with metrics, and the index of their kinds.
BLOCKS = {
    "metrics": METRICS,
    "costly_metrics": METRICS,
    "statement_metrics": FAITHFULNESS,
}
_count = partial(
    Description, better="neither", range=(0, None), family=COPYING, source="a count"
)
STATEMENT_DESCRIPTIONS = (  # of single statements, beside metrics
    Description(
        "support_probability",
        "a judge's probability that the aligned passages entail a statement",
        better="higher",
        range=(0, 1),
        missing="null where the judge gives none, and where nothing is aligned",
        source="Adams et al. 2023, section 6.2: entailment by aligned sentences",
        family=JUDGED,
    ),
    _count(
        "aligned_passages",
        "passages of the source that a statement is read against",
        missing="0 where nothing is aligned",
    ),
    _count(
        "unread",
        "share of the tokens of the aligned passages that a model did not read, of a statement",
        missing="0 where all were read",
    ),
)


@cache
def descriptions() -> dict[str, Description]:
    """Describe judged measures, every kind of metric, and released scores, by name."""
    described = [*measures.DESCRIPTIONS.values(), *STATEMENT_DESCRIPTIONS]
    for index in (METRICS, FAITHFULNESS):
        for kind in index:
            described += record_of(index, kind).descriptions
    described += released.DESCRIPTIONS.values()
    return {description.name: description for description in described}


def add_readings(
    described: Mapping[str, Description], metrics: Iterable[str]
) -> dict[str, Description]:
    """Add a description of each metric `NAME@ALIGNMENT` whose NAME is described."""
    names = {name: base_metric(name) for name in set(metrics) - set(described)}
    readings = {
        n: replace(described[base], name=n)
        for n, base in names.items()
        if base in described
    }
    return {**described, **readings}


def user_descriptions(params: Params, benchmark: str) -> dict[str, Description]:
    """Describe the benchmark's metrics whose kind is a dotted path, by name.

    versions.yaml has the versions of their kinds.
    """
    records = [
        choose(
            BLOCKS[block],
            getattr(params, block)[name],
            where=f"{PARAMS} > {block} > {name}",
        ).record
        for block, name in params.benchmarks[benchmark].measured_by
        if is_path(str(getattr(params, block)[name].get("kind")))
    ]
    described = chain.from_iterable(record.descriptions for record in records)
    return {description.name: description for description in described}


def check_given(criteria: pd.DataFrame) -> None:
    """Raise BadInput for each metric that came with data and has a name of Metassay's.

    Table `criteria` has a row of kind `given` for each.
    """
    described = descriptions()
    names = criteria.loc[criteria["kind"] == FROM_DATASET, "metric"]
    raise_problems(
        f"scores.csv: metric {name!r} is one of Metassay's own; rename it, such as own_{name}"
        for name in names
        if name in described and described[name].family != RELEASED
    )


Block = tuple[str, str]  # metrics or costly_metrics, and a name of params.yaml there


def find_duplicates(
    blocks: Sequence[Block], gives: Mapping[Block, Sequence[str]]
) -> Iterator[str]:
    """Return a line for each set of a benchmark's blocks that give the same metric.

    `gives` has the metrics of each valid block.
    """
    givers: dict[str, list[str]] = {}
    for block in blocks:
        for metric in gives.get(block, []):
            givers.setdefault(metric, []).append(" > ".join(block))
    first: dict[tuple[str, ...], str] = {}
    for metric, names in givers.items():
        first.setdefault(tuple(names), metric)
    for both, metric in first.items():
        if len(both) > 1:
            yield f"{metric} is measured by {' and '.join(both)}; name one of them"


def write_known() -> str:
    """Return the module that has the names of all metrics, and which end of each is better."""
    directions: dict[bool, dict[str, str]] = {False: {}, True: {}}
    for name, metric in descriptions().items():
        directions[metric.family == RELEASED][name] = metric.better
    lines = [
        '"""Metassay\'s metrics by name, and which end of each is better. Generated."""',
        "",
        "# `make docs` writes this file of the metrics' own descriptions.",
    ]
    for name, is_released in (("METRICS", False), ("RELEASED", True)):
        lines += ["", f"{name} = {{"]
        pairs = directions[is_released].items()
        lines += [f'    "{metric}": "{better}",' for metric, better in pairs]
        lines.append("}")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    page = Path("docs/metrics.md")
    text = add_list(page.read_text(encoding="utf-8"), descriptions())
    page.write_text(text, encoding="utf-8")
    Path("metassay/tables/known_metrics.py").write_text(write_known(), encoding="utf-8")
