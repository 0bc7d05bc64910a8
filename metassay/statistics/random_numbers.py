"""Random numbers that are the same on every machine, each use with its own."""

import hashlib

import numpy as np


def generator(seed: int, *key: str) -> np.random.Generator:
    """Return a random generator that depends on the seed and the key alone."""
    digest = hashlib.sha256("\x1f".join(key).encode()).digest()
    words = [
        int.from_bytes(digest[i : i + 4], "little") for i in range(0, len(digest), 4)
    ]
    return np.random.default_rng([seed, *words])
