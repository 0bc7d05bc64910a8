"""generate: sources -> texts of one system, and what language models were asked for them."""

from metassay.generation import SYSTEMS
from metassay.generation.record import write_texts
from metassay.llm.needs import FEW_SHOT
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.responses import RESPONSES
from stages.connect import check_folder, connect
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Let one system write for one benchmark."""
    name = given.item
    system = given.chosen(SYSTEMS, "systems", name)
    check_folder(given, system, FEW_SHOT)
    sources = given.read(SOURCES)
    with connect(given, system, sources["dataset"]) as session:
        written = write_texts(sources, name, system, session.provide(system))
        asked = session.finish()
    given.note([*written.warnings, *asked.notes])
    given.write(TEXTS, written.texts, name)
    given.write(RESPONSES, asked.responses, f"generate-{name}")


if __name__ == "__main__":
    enter(main)
