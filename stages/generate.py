"""generate: sources -> texts of one system, and the calls of language models for them."""

from metassay.generation import SYSTEMS
from metassay.generation.record import write_texts
from metassay.llm.needs import FEW_SHOT, all_datasets
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.responses import RESPONSES
from stages.connect import check_folder, connect
from stages.doorway import StageIO, program
from stages.workers import executor


@program
def main(io: StageIO) -> None:
    name = io.item
    system = io.choose(SYSTEMS, "systems", name)
    check_folder(io, system, FEW_SHOT)
    sources = io.read(SOURCES)
    repeated = [*sources["dataset"], *all_datasets([system])]
    with (
        connect(io, system, sources["dataset"]) as session,
        executor(io, repeated) as over,
    ):
        written = write_texts(sources, name, system, session.provide(system), over)
        answers = session.finish()
    io.note([*written.warnings, *answers.notes])
    io.write(TEXTS, written.texts, name)
    io.write(RESPONSES, answers.responses, f"generate-{name}")
