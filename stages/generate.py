"""generate: sources -> texts of one system that runs here."""

from metassay.generation import SYSTEMS, generate
from metassay.params import load, options_of
from metassay.tables import SOURCES, TEXTS, read, write
from stages.doorway import enter, table


def main(key: str) -> None:
    """Let one system write for one benchmark."""
    params = load()
    entry = params.generating[key]
    kinds = {kind: system.options for kind, system in SYSTEMS.items()}
    where = f"params.yaml > systems > {entry.system}"
    options = options_of(params.systems[entry.system], kinds, where=where)
    texts = generate(read(SOURCES, table(entry.benchmark, "sources")), entry.system, options)
    write(TEXTS, texts, table(entry.benchmark, f"texts/{entry.system}"))


if __name__ == "__main__":
    enter(main)
