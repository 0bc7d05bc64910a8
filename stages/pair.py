"""pair: units and their evidence -> the questions put to judges."""

from metassay.core.options import parse
from metassay.scoring.pairing.pairs import build_pairs
from metassay.scoring.pairing.questions import Questions
from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.documents import SOURCES
from metassay.tables.pairs import PAIRS
from metassay.tables.parts import PARTS
from metassay.tables.units import UNITS
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Build the pairs of one block of questions of one benchmark."""
    where = f"params.yaml > questions > {given.item}"
    options = parse(Questions, given.shared(f"questions.{given.item}"), where=where)
    tables = (given.read(SOURCES), given.read(PARTS), given.read(UNITS), given.read(ALIGNMENTS))
    given.write(PAIRS, build_pairs(*tables, options), given.item)


if __name__ == "__main__":
    enter(main)
