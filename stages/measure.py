"""measure: parts -> scores of metrics that need no judge: all cheap ones, or one costly one."""

from metassay.core.options import CHEAP
from metassay.metrics import METRICS
from metassay.metrics.measure import measure
from metassay.tables.documents import SOURCES
from metassay.tables.parts import PARTS
from metassay.tables.scores import MEASUREMENTS
from metassay.units import SEGMENTATIONS
from metassay.units.record import recipe_of
from stages.doorway import StageIO, program
from stages.workers import executor


@program
def main(io: StageIO) -> None:
    block = "costly_metrics" if io.item else "metrics"
    names = [io.item] if io.item else io.param("metrics")
    io.watch_tuned()
    segmentation = io.choose(SEGMENTATIONS, "segmentations", io.param("segmentation"))
    with executor(io) as over:
        measured = measure(
            io.read(SOURCES),
            io.read(PARTS),
            [io.choose(METRICS, block, name) for name in names],
            segmentation=recipe_of(segmentation, io.models()),
            executor=over,
        )
    io.note(measured.warnings)
    io.write(MEASUREMENTS, measured.table, io.item or CHEAP)
