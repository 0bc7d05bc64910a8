"""decompose: parts -> units (statements with their citations, and claims)."""

from metassay.llm.needs import RELEASED_CLAIMS
from metassay.tables.documents import SOURCES
from metassay.tables.parts import PARTS
from metassay.tables.responses import RESPONSES
from metassay.tables.units import UNITS
from metassay.units import DECOMPOSITIONS
from stages.connect import check_folder, connect
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Cut every leaf part of one benchmark into statements and claims."""
    decomposition = given.chosen(DECOMPOSITIONS, "decompositions", given.item)
    check_folder(given, decomposition, RELEASED_CLAIMS)
    parts, sources = given.read(PARTS), given.read(SOURCES)
    repeated = [name for names in parts["repeats"] for name in names]
    with connect(given, decomposition, [*sources["dataset"], *repeated]) as session:
        apart = decomposition.record.take_apart(
            parts, sources, decomposition.options, session.provide(decomposition)
        )
        asked = session.finish()
    given.note([*apart.warnings, *asked.notes])
    given.write(UNITS, apart.units)
    given.write(RESPONSES, asked.responses, "decompose")


if __name__ == "__main__":
    enter(main)
