"""What a kind of judge is: one frozen record per module of this folder, exported as `KIND`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from metassay.judges.protocol import Judge
from metassay.needs import Needs
from metassay.options import Options


@dataclass(frozen=True, kw_only=True)
class JudgeKind(Needs):
    """One kind of judge: what a kind in params.yaml > judges stands for.

    `make(options)` gives the judge, which can answer the `instruments` of these names (keys of
    `metassay.pairing.instruments.INSTRUMENTS`). `requests` says what it would ask of language
    models; None: it asks none.
    """

    options: type[Options]
    make: Callable[[Any], Judge]
    instruments: tuple[str, ...]
    requests: Callable[..., Any] | None = None
