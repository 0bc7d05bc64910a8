"""fetch: a dataset's raw files, from their URL or a mirror, to data/raw/<dataset>."""

import os
from pathlib import Path

from metassay.core.options import parse
from metassay.datasets.fetch import fetch
from metassay.datasets.registry import Dataset
from stages.doorway import REGISTRY, Given, enter


def main(given: Given) -> None:
    """Fetch one dataset of the registry; METASSAY_MIRROR names a local copy to take it from."""
    name = given.benchmark
    dataset = parse(Dataset, given.registered(name), where=f"{REGISTRY} > datasets > {name}")
    mirror = os.environ.get("METASSAY_MIRROR")
    fetch(name, dataset, given.path(f"data/raw/{name}"), mirror=Path(mirror) if mirror else None)


if __name__ == "__main__":
    enter(main)
