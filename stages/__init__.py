"""One doorway per stage: parse params, read tables, call one library function, write."""

import os
import platform

# With AVX-512 numpy rounds logarithms and exponentials otherwise: tables would depend
# on it.
if platform.machine() in ("x86_64", "AMD64"):
    newest = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"
    os.environ.setdefault("NPY_DISABLE_CPU_FEATURES", newest)

# Small matrices gain nothing from threads, which wait for each other in a loop: two
# took three times the processor time of one. PyTorch has threads of its own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
