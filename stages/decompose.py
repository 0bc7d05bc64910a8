"""decompose: parts -> units (statements with their citations, and claims)."""

from pathlib import Path

from metassay.desk import ProjectDesk, shown_datasets
from metassay.params import load
from metassay.tables import PARTS, RESPONSES, SOURCES, UNITS, read, write
from metassay.units.decompositions import check_claims, decomposition_of, take_apart
from stages.doorway import enter, table, warn


def main(key: str) -> None:
    """Cut every leaf part of one benchmark into statements and claims."""
    params = load()
    benchmark = params.benchmarks[key]
    options = decomposition_of(params, benchmark.decomposition)
    parts, sources = read(PARTS, table(key, "parts")), read(SOURCES, table(key, "sources"))
    # Texts may repeat the examples that their system was shown, so those are cleared as well.
    with ProjectDesk(params, key, datasets=shown_datasets(params, key)) as desk:
        at = f"params.yaml > benchmarks > {key}"
        check_claims(options, Path(benchmark.claims), desk.raw, where=at)
        apart = take_apart(parts, sources, options, desk)
        responses = desk.responses()
    warn(apart.warnings)
    write(UNITS, apart.units, table(key, "units"))
    write(RESPONSES, responses, table(key, "responses/decompose"))


if __name__ == "__main__":
    enter(main)
