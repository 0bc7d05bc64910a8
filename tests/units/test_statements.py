"""statements.py: sentences with their citations parsed off."""

from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.units.statements import Statement, statements


def test_text_citations_and_spans() -> None:
    text = "PLAN\n- Rest [0]. Drink.[2][1]\n- [4]\nWait"
    found = statements(text)
    assert found == [
        Statement("Rest.", (0,), 7, 16),
        Statement("Drink.", (2, 1), 17, 29),
        Statement("Wait", (), 36, 40),
    ]
    assert [text[one.start : one.end] for one in found] == ["Rest [0].", "Drink.[2][1]", "Wait"]


def test_marks_of_table24_state_nothing() -> None:
    assert statements("#####EMPTY#####") == []
    assert statements("objective_results: #####EMPTY#####.") == []
    text = "EXAM__lf1__Lungs clear.__lf1____lf1__Skin: dry__lf1__"
    found = statements(text)
    assert [one.text for one in found] == ["Lungs clear.", "Skin: dry"]
    assert [text[one.start : one.end] for one in found] == ["Lungs clear.", "Skin: dry"]


def test_nothing_stated() -> None:
    assert statements("") == statements("[3] [4]\n...") == statements("RESULTS:") == []


@settings(deadline=None)
@given(st.lists(st.sampled_from(["He fell", ".", " ", "[1]", "\n", "- ", "!"]), max_size=12))
def test_every_statement_has_words(pieces: list[str]) -> None:
    for one in statements("".join(pieces)):
        assert any(map(str.isalnum, one.text))
        assert len(set(one.citations)) == len(one.citations)
