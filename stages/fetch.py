"""fetch: URLs of the registry, or a mirror -> raw files, checked by their sha256."""

import os
from pathlib import Path

from metassay.datasets.fetch import fetch
from stages.doorway import StageIO, program


@program
def main(io: StageIO) -> None:
    name, mirror = io.benchmark, os.environ.get("METASSAY_MIRROR")
    out = io.path(f"data/raw/{name}")
    fetch(name, io.dataset(name), out, mirror=Path(mirror) if mirror else None)
