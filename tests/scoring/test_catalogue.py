"""What is known of metrics by their names."""

from dataclasses import replace
from pathlib import Path

from metassay.scoring.catalogue import add_readings, descriptions, write_known
from metassay.tables import known_metrics


def test_a_metric_by_an_alignment_is_described_as_the_metric() -> None:
    known = descriptions()
    more = add_readings(known, ["bleu", "summac_zs@gain", "nobody@gain"])
    assert more.keys() - known.keys() == {"summac_zs@gain"}
    assert replace(more["summac_zs@gain"], name="summac_zs") == known["summac_zs"]


def test_known_names_are_those_of_the_metrics() -> None:
    """`make docs` writes them."""
    written = Path(known_metrics.__file__).read_text(encoding="utf-8")
    assert written == write_known()
    every = known_metrics.METRICS | known_metrics.RELEASED
    assert every == {name: d.better for name, d in descriptions().items()}
