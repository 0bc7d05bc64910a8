"""measure: parts -> scores of metrics that need no judge: all cheap ones, or one costly one."""

from metassay.core.options import CHEAP
from metassay.llm.endpoints import parse_models
from metassay.metrics import METRICS
from metassay.metrics.measure import measure
from metassay.tables.documents import SOURCES
from metassay.tables.parts import PARTS
from metassay.tables.scores import MEASUREMENTS
from metassay.units import SEGMENTATIONS
from metassay.units.recipes import recipe_of
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Measure the texts of one benchmark."""
    block = "costly_metrics" if given.item else "metrics"
    names = [given.item] if given.item else given.own("metrics")
    segmentation = given.chosen(SEGMENTATIONS, "segmentations", given.own("segmentation"))
    models = parse_models(given.shared("endpoints"), given.shared("models"))
    measured = measure(
        given.read(SOURCES),
        given.read(PARTS),
        [given.chosen(METRICS, block, name) for name in names],
        segmentation=recipe_of(segmentation, models),
    )
    given.note(measured.warnings)
    given.write(MEASUREMENTS, measured.table, given.item or CHEAP)


if __name__ == "__main__":
    enter(main)
