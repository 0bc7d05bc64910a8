"""align: statements -> the source passages each is read against."""

from metassay.alignment import ALIGNMENTS as KINDS
from metassay.alignment.align import align_units
from metassay.params import load, options_of
from metassay.tables import ALIGNMENTS, SOURCES, UNITS, read, write
from stages.doorway import enter, table


def main(key: str) -> None:
    """Align the statements of one benchmark."""
    params = load()
    name = params.benchmarks[key].alignment
    kinds = {kind: alignment.options for kind, alignment in KINDS.items()}
    where = f"params.yaml > alignments > {name}"
    options = options_of(params.alignments[name], kinds, where=where)
    sources, units = read(SOURCES, table(key, "sources")), read(UNITS, table(key, "units"))
    write(ALIGNMENTS, align_units(sources, units, name, options), table(key, "alignments"))


if __name__ == "__main__":
    enter(main)
