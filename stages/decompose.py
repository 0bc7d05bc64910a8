"""decompose: parts -> units (statements with their citations, and claims)."""

from metassay.desk import ProjectDesk
from metassay.params import load
from metassay.tables import PARTS, RESPONSES, SOURCES, UNITS, read, write
from metassay.units.decompositions import decomposition_of, take_apart
from stages.doorway import enter, table, warn


def main(key: str) -> None:
    """Cut every leaf part of one benchmark into statements and claims."""
    params = load()
    options = decomposition_of(params, params.benchmarks[key].decomposition)
    parts, sources = read(PARTS, table(key, "parts")), read(SOURCES, table(key, "sources"))
    with ProjectDesk(params, key) as desk:
        apart = take_apart(parts, sources, options, desk)
        responses = desk.responses()
    warn(apart.warnings)
    write(UNITS, apart.units, table(key, "units"))
    write(RESPONSES, responses, table(key, "responses/decompose"))


if __name__ == "__main__":
    enter(main)
