"""Each benchmark of speed/ runs to its end on its smallest input."""

import importlib
import sys
from pathlib import Path

import pytest
import torch

from metassay.metrics.faithfulness import ctc_consistency
from metassay.models import encoders, likelihood, pair_scores
from tests.page.conftest import chromium  # noqa: F401 - a fixture, for speed/page.py

ROOT = Path(__file__).parent.parent
NAMES = sorted(file.stem for file in (ROOT / "speed").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_of_the_smallest_size_ends_and_says_something(
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    if name == "bertscore":
        request.getfixturevalue("mirror")
    if name == "page":
        monkeypatch.setenv("CHROMIUM", request.getfixturevalue("chromium"))
    monkeypatch.setattr(sys, "argv", [name, "--quick"])
    monkeypatch.chdir(ROOT)
    for module in (ctc_consistency, likelihood, pair_scores):
        # benchmarks put their own there
        monkeypatch.setattr(module, "load", module.load)
    monkeypatch.setattr(encoders, "load_encoder", encoders.load_encoder)
    benchmark = importlib.import_module(f"speed.{name}")
    for constant, smallest in benchmark.QUICK.items():
        assert hasattr(benchmark, constant)
        monkeypatch.setattr(benchmark, constant, smallest)
    threads = torch.get_num_threads()
    try:
        benchmark.main()
    finally:
        torch.set_num_threads(threads)
    assert capsys.readouterr().out
