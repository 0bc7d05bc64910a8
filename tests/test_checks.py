import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.tables.checks import check_sources, drop_further_references
from metassay.tables.names import is_reference, reference_number


def test_documents_without_a_source_are_counted_and_the_first_is_named() -> None:
    sources = pd.DataFrame({"doc_id": ["a", "b"]})
    check_sources("parts", ["b", "a", "b"], sources)
    with pytest.raises(
        BadInput, match=r"parts: 2 of its documents .* the first is doc_id 'c'"
    ):
        check_sources("parts", ["d", "c", "a", "d"], sources)


def test_who_is_a_reference() -> None:
    numbers = {
        name: reference_number(name)
        for name in ("reference", "reference:2", "reference:12")
    }
    assert numbers == {"reference": 1, "reference:2": 2, "reference:12": 12}
    assert not any(
        map(is_reference, ("reference2", "reference:", "reference:b", "s:2", "s"))
    )
    rows = pd.DataFrame({"author": ["reference", "s", "reference:2", "reference:b"]})
    assert drop_further_references(rows)["author"].tolist() == [
        "reference",
        "s",
        "reference:b",
    ]
