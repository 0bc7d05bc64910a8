import pandas as pd
import pytest

from metassay.checks import check_sources
from metassay.errors import BadInput


def test_documents_without_a_source_are_counted_and_the_first_is_named() -> None:
    sources = pd.DataFrame({"doc_id": ["a", "b"]})
    check_sources("parts", ["b", "a", "b"], sources)
    with pytest.raises(BadInput, match=r"parts: 2 of its documents .* the first is doc_id 'c'"):
        check_sources("parts", ["d", "c", "a", "d"], sources)
