"""What tests of `metassay meta-eval` ask for."""

from pathlib import Path

import pytest

import metassay
from metassay.api.meta_eval import MetaEvaluation
from tests.api.small_study import FEW, Frames, study


@pytest.fixture
def no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the page out where it is not the point: it takes longer than the tables."""
    monkeypatch.setattr(
        "metassay.reporting.meta_page.write_meta_page", lambda *_, **__: None
    )


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, and a wide terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture(scope="session")
def frames() -> Frames:
    """Four systems on ten documents, one score missing; nobody changes them."""
    scores, ratings = study()
    scores.loc[7, "good"] = float("nan")
    return scores, ratings


@pytest.fixture(scope="session")
def results(frames: Frames) -> MetaEvaluation:
    """What the study gives as it is."""
    return metassay.meta_eval(*frames, **FEW)
