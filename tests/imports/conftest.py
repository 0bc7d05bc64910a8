from pathlib import Path

import pytest

from tests.imports.importing import Importer


@pytest.fixture
def importer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Importer:
    return Importer(tmp_path, capsys)
