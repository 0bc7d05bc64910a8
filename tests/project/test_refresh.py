"""`metassay update` in a project whose own files are not as they should be."""

import shutil
from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.project.refresh import refresh
from tests.conftest import ROOT

FILES = ("params.yaml", "data/registry.yaml", "benchmarks/sample/params.yaml")


@pytest.mark.parametrize("registry", ["", "- one\n", None])
def test_a_registry_without_blocks_or_that_is_gone_is_no_crash(
    tmp_path: Path, registry: str | None
) -> None:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    file = tmp_path / "data/registry.yaml"
    file.unlink()
    if registry is not None:
        file.write_text(registry, encoding="utf-8")
    with pytest.raises(BadInput, match=r"registry\.yaml.*; "):
        refresh(tmp_path)
