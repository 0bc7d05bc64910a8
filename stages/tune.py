"""tune: statements and their passages, or rated texts and references -> a model of a metric."""

from metassay.tables.corruptions import CORRUPTIONS
from metassay.tables.parts import PARTS
from metassay.tables.ratings import RATINGS
from metassay.tuning.run import marking_rows, rating_rows, tune, writing_rows
from metassay.tuning.tasks import BARTSCORE, CTC, QUALITY
from stages.doorway import StageIO, program
from stages.learning import examples, order


@program
def main(io: StageIO) -> None:
    model, out = order(io)
    if io.param("tune") == "quality":
        source = io.benchmark_io(io.param("from"))
        texts, ratings = source.read(PARTS), source.read(RATINGS)
        rows = rating_rows(texts, ratings, io.param("criterion"), model.training)
        io.note(tune(QUALITY, model, rows, out))
    elif io.param("tune") == "ctc":
        rows = marking_rows(examples(io), io.read(CORRUPTIONS), model.training)
        io.note(tune(CTC, model, rows, out))
    else:
        io.note(tune(BARTSCORE, model, writing_rows(examples(io), model.training), out))
