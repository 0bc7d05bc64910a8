"""What tests of `metassay meta-eval` ask for."""

import pytest


@pytest.fixture
def no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the page out where it is not the point: it takes longer than the tables."""
    monkeypatch.setattr("metassay.reporting.meta_page.write_meta_page", lambda *_, **__: None)
