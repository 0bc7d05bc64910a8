"""distill: scores of statements -> a model that predicts what the best of them agree on."""

from metassay.tables.ratings import RATINGS
from metassay.tables.statement_scores import STATEMENT_SCORES
from metassay.tuning.run import distillation_rows, tune
from metassay.tuning.tasks import DISTILL
from stages.doorway import StageIO, program
from stages.learning import block, examples, order


@program
def main(io: StageIO) -> None:
    model, out = order(io)
    source = io.benchmark_io(io.param("from"))
    scores, ratings = (source.read(table) for table in (STATEMENT_SCORES, RATINGS))
    rows = distillation_rows(
        examples(io), scores, ratings, block(io, "teachers"), model.training
    )
    io.note(tune(DISTILL, model, rows, out))
