"""Statistics have the same bytes whichever kernels of BLAS and LAPACK a processor is given."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import hashlib
import numpy as np
from metassay.statistics.facet_weights import fit
from metassay.statistics.layout import plain
from metassay.statistics.partials import less_any_shape

rng, bytes_ = np.random.default_rng(3), hashlib.sha256()
for n in (5, 40):
    side, control = (rng.normal(size=(6, n)).round(1) for _ in range(2))
    bytes_.update(less_any_shape(side, control, "spearman", plain((6, n))).tobytes())
    shares = np.where(rng.random((n + 20, 5)) < 0.2, np.nan, rng.random((n + 20, 5)))
    shares[:, 0], overall = 0.5, rng.random(n + 20) - 0.2
    counts = rng.integers(0, 3, size=(20, n + 20))
    for method in ("complete", "renormalised"):
        for non_negative in (False, True):
            found = fit(overall, shares, counts, method, non_negative=non_negative)
            assert np.isfinite(found).any()
            bytes_.update(found.tobytes())
print(bytes_.hexdigest())
"""


def test_no_digit_depends_on_the_processor() -> None:
    """Four kernels of OpenBLAS, which round sums in four orders."""
    root = Path(__file__).parent.parent.parent
    found = set()
    for kernel in ("Prescott", "Nehalem", "Sandybridge", "Haswell"):
        environment = {**os.environ, "PYTHONPATH": str(root), "OPENBLAS_CORETYPE": kernel}
        command = [sys.executable, "-c", PROGRAM]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, cwd=root
        )
        found.add(done.stdout)
    assert len(found) == 1
