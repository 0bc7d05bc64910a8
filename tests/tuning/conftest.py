"""A model that fills masks, trained once."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def filling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that fills a mask with any word, and mostly leaves the rest."""
    pytest.importorskip("torch", reason="needs metassay[models]")
    pytest.importorskip("transformers", reason="needs metassay[models]")
    from tests.tuning.filling import infiller

    return infiller(tmp_path_factory.mktemp("filling"), steps=300)
