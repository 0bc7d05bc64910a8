"""Statistics have the same bytes whichever kernels of BLAS and LAPACK a processor is given."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import hashlib
import numpy as np
from metassay.statistics.facet_weights import fit
from metassay.statistics.layout import default_layout
from metassay.statistics.partials import less_any_shape

rng, bytes_ = np.random.default_rng(3), hashlib.sha256()
for n in (5, 40):
    side, control = (rng.normal(size=(6, n)).round(1) for _ in range(2))
    bytes_.update(less_any_shape(side, control, "spearman", default_layout((6, n))).tobytes())
    shares = np.where(rng.random((n + 20, 5)) < 0.2, np.nan, rng.random((n + 20, 5)))
    shares[:, 0], overall = 0.5, rng.random(n + 20) - 0.2
    counts = rng.integers(0, 3, size=(20, n + 20))
    for method in ("complete", "renormalised"):
        for non_negative in (False, True):
            hashes = fit(overall, shares, counts, method, non_negative=non_negative)
            assert np.isfinite(hashes).any()
            bytes_.update(hashes.tobytes())
print(bytes_.hexdigest())
"""


def test_no_digit_depends_on_the_processor() -> None:
    """Four kernels of OpenBLAS, which round sums in four orders."""
    root = Path(__file__).parent.parent.parent
    hashes = set()
    for kernel in ("Prescott", "Nehalem", "Sandybridge", "Haswell"):
        environment = {
            **os.environ,
            "PYTHONPATH": str(root),
            "OPENBLAS_CORETYPE": kernel,
        }
        command = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            cwd=root,
        )
        hashes.add(done.stdout)
    assert len(hashes) == 1


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="AVX-512 is of x86"
)
@pytest.mark.parametrize(
    "module", ["stages.meta_evaluate", "flows.fork_server", "flows.worker"]
)
def test_stages_compute_without_avx_512(module: str) -> None:
    """However they are started: numpy has read what it may use before anything is computed."""
    root = Path(__file__).parent.parent.parent
    program = (
        f"import os, {module}; from numpy._core import _multiarray_umath as numpy;"
        # of which numpy has code for those that it dispatches
        "has = numpy.__cpu_features__;"
        "print(os.environ['NPY_DISABLE_CPU_FEATURES'],"
        " [n for n in numpy.__cpu_dispatch__ if has[n] and '512' in n])"
    )
    environment = {
        name: value for name, value in os.environ.items() if "NPY_" not in name
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment | {"PYTHONPATH": str(root)},
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("AVX512F ")
    assert done.stdout.endswith("[]\n")
