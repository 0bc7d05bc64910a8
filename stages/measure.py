"""measure: parts -> scores of one metric family that needs no judge."""

from metassay.metrics import METRICS
from metassay.metrics.measure import measure
from metassay.params import load, options_of, printed
from metassay.tables import MEASUREMENTS, PARTS, SOURCES, read, write
from stages.doorway import enter, table


def main(key: str) -> None:
    """Measure the texts of one benchmark."""
    params = load()
    entry = params.measuring[key]
    block = params.metrics[entry.metric]
    kinds = {kind: metric.options for kind, metric in METRICS.items()}
    options = options_of(block, kinds, where=f"params.yaml > metrics > {entry.metric}")
    measured = measure(
        read(SOURCES, table(entry.benchmark, "sources")),
        read(PARTS, table(entry.benchmark, "parts")),
        block["kind"],
        options,
        segmentation=printed(params.segmentations[params.benchmarks[entry.benchmark].segmentation]),
    )
    write(MEASUREMENTS, measured, table(entry.benchmark, f"measurements/{entry.metric}"))


if __name__ == "__main__":
    enter(main)
