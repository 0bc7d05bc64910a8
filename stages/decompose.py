"""decompose: parts -> units (statements with their citations, and claims)."""

from metassay.params import load, options_of
from metassay.tables import PARTS, SOURCES, UNITS, read, write
from metassay.units import DECOMPOSITIONS, decompose
from stages.doorway import enter, table


def main(key: str) -> None:
    """Cut every leaf part of one benchmark into statements and claims."""
    params = load()
    name = params.benchmarks[key].decomposition
    block = params.decompositions[name]
    options = options_of(block, DECOMPOSITIONS, where=f"params.yaml > decompositions > {name}")
    parts, sources = read(PARTS, table(key, "parts")), read(SOURCES, table(key, "sources"))
    write(UNITS, decompose(parts, sources, options), table(key, "units"))


if __name__ == "__main__":
    enter(main)
