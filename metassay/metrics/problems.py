"""Metrics that a benchmark names twice, so that a score would be there twice."""

from collections.abc import Iterator, Mapping, Sequence

Block = tuple[str, str]  # metrics or costly_metrics, and a name of params.yaml there


def measured_twice(blocks: Sequence[Block], gives: Mapping[Block, Sequence[str]]) -> Iterator[str]:
    """One line for each set of a benchmark's blocks that give the same metric.

    `gives` has the metrics of each sound block.
    """
    givers: dict[str, list[str]] = {}
    for block in blocks:
        for metric in gives.get(block, []):
            givers.setdefault(metric, []).append(" > ".join(block))
    first: dict[tuple[str, ...], str] = {}
    for metric, several in givers.items():
        if len(several) > 1:
            first.setdefault(tuple(several), metric)
    for both, metric in first.items():
        yield f"{metric} is measured by {' and '.join(both)}; name one of them"
