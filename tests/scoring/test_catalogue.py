"""What is known of metrics by their names."""

from dataclasses import replace

from metassay.scoring.catalogue import add_readings, descriptions


def test_a_metric_by_an_alignment_is_described_as_the_metric() -> None:
    known = descriptions()
    more = add_readings(known, ["bleu", "summac_zs@gain", "nobody@gain"])
    assert more.keys() - known.keys() == {"summac_zs@gain"}
    assert replace(more["summac_zs@gain"], name="summac_zs") == known["summac_zs"]
