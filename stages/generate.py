"""generate: sources -> texts of one system, and what language models were asked for them."""

from pathlib import Path

from metassay.desk import ProjectDesk
from metassay.generation import SYSTEMS, check_reads, write_texts
from metassay.params import load, options_of
from metassay.tables import RESPONSES, SOURCES, TEXTS, read, write
from stages.doorway import enter, table, warn


def main(key: str) -> None:
    """Let one system write for one benchmark."""
    params = load()
    entry = params.generating[key]
    where = f"params.yaml > systems > {entry.system}"
    options = options_of(params.systems[entry.system], SYSTEMS, where=where)
    sources = read(SOURCES, table(entry.benchmark, "sources"))
    with ProjectDesk(params, entry.benchmark) as desk:
        at = f"params.yaml > generating > {key}"
        check_reads(options, Path(entry.reads), desk.raw, where=at)
        written = write_texts(sources, entry.system, options, desk)
        responses = desk.responses()
    warn(written.warnings)
    write(TEXTS, written.texts, table(entry.benchmark, f"texts/{entry.system}"))
    write(RESPONSES, responses, table(entry.benchmark, f"responses/generate-{entry.system}"))


if __name__ == "__main__":
    enter(main)
