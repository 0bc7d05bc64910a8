"""tune: statements and their passages -> a model of BARTScore, or with corruptions one of CTC."""

from metassay.tables.corruptions import CORRUPTIONS
from metassay.tuning.run import to_mark, to_write, tune
from metassay.tuning.tasks import BARTSCORE, CTC
from stages.doorway import StageIO, enter
from stages.learning import examples, order


def main(io: StageIO) -> None:
    """Tune a model on the statements of a benchmark, as one of its alignments reads them."""
    wanted, out = order(io)
    if io.param("tune") == "ctc":
        rows = to_mark(examples(io), io.read(CORRUPTIONS), wanted.training)
        io.note(tune(CTC, wanted, rows, out))
    else:
        io.note(tune(BARTSCORE, wanted, to_write(examples(io), wanted.training), out))


if __name__ == "__main__":
    enter(main)
