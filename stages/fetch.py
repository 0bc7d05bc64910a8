"""fetch: a dataset's raw files, from their URL or a mirror, to data/raw/<dataset>."""

import os
from pathlib import Path

from metassay.datasets.fetch import fetch
from metassay.datasets.registry import find, load_registry
from stages.doorway import enter


def main(dataset: str) -> None:
    """Fetch one dataset of the registry; METASSAY_MIRROR names a local copy to take it from."""
    mirror = os.environ.get("METASSAY_MIRROR")
    fetch(
        dataset,
        find(load_registry(), dataset),
        Path("data/raw") / dataset,
        mirror=Path(mirror) if mirror else None,
    )


if __name__ == "__main__":
    enter(main)
