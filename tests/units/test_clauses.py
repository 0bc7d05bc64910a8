"""clauses.py: each rule by example, what it must leave alone, and that no word is lost."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.text.tokens import content_tokens
from metassay.units.statements import clauses

# "|" parts the claims.
CUT = [
    ("Lungs are clear; stop aspirin.", "Lungs are clear.|Stop aspirin."),
    (
        "The film was normal, but the monitor showed a pause.",
        "The film was normal.|The monitor showed a pause.",
    ),
    ("He has gout [3], and he takes iron.", "He has gout.|He takes iron."),
    ("I offered a brace but the patient declined.", "I offered a brace.|The patient declined."),
    ("The skin is dry and there is no rash.", "The skin is dry.|There is no rash."),
    ("he walks and he swims", "he walks|he swims"),
    ("She takes iron and denies pain.", "She takes iron.|She denies pain."),
    (
        "Ms. Roe walks daily, but reports no falls.",
        "Ms. Roe walks daily.|Ms. Roe reports no falls.",
    ),
    ("Pt denies nausea, vomiting.", "Pt denies nausea.|Pt denies vomiting."),
    (
        "Skin: He denies itching, rash, or hives over the past week.",
        "Skin: He denies itching over the past week.|Skin: He denies rash over the past week."
        "|Skin: He denies hives over the past week.",
    ),
    ("Denies fever and chills!", "Denies fever!|Denies chills!"),
    ("Negative for fever, chills.", "Negative for fever.|Negative for chills."),
    ("There is no edema or redness.", "There is no edema.|There is no redness."),
    ("No evidence of gout or bursitis.", "No evidence of gout.|No evidence of bursitis."),
    (
        "Endorses cough, shortness of breath, and fatigue.",
        "Endorses cough.|Endorses shortness of breath.|Endorses fatigue.",
    ),
    (
        "She has gout and she denies fever or chills.",
        "She has gout.|She denies fever.|She denies chills.",
    ),
]

LEFT = [
    "He reports nausea and vomiting.",
    "He has nausea, vomiting, and pain.",
    "Denies cough; fever; chills.",
    "He took it (for a week; then a month) and rested.",
    'She said "I am well, and I am fine."',
    "Is he well, and he is fine?",
    "If he coughs and he is hot, call.",
    "She denies that she smokes and she drinks.",
    "I do not think he coughs and he is hot.",
    "The left knee and the right knee were tender.",
    "He reports that his left knee, right knee, and his elbow were tender.",
    "She has a son who is well and denies pain.",
    "The patient and his wife agree and endorse it.",
    "He denies chest or back pain.",
    "He reports sharp, stabbing, and burning pain.",
    "No cervical, axillary, or inguinal nodes.",
    "No acute fracture or dislocation.",
    "No tenderness in the neck, back, or hips.",
    "No distress, alert and oriented.",
    "No limits and return to work.",
    "Denies fever but has chills.",
    "He denies pain since March 3, 2021.",
    "He denies taking 1,000 or 2,000 units.",
    "No fever other than at night, or chills.",
    "Neither fever nor chills are reported.",
    "Take it between meals and it is fine.",
    "Range 2-3, 4 to 5, and 120/80 or 7.2.",
    "Rest",
    "...",
]


@pytest.mark.parametrize(("statement", "expected"), CUT)
def test_cut(statement: str, expected: str) -> None:
    assert clauses(statement) == expected.split("|")


@pytest.mark.parametrize("statement", LEFT)
def test_left_whole(statement: str) -> None:
    assert clauses(statement) == [statement]


def test_nothing_and_noise() -> None:
    assert clauses("") == clauses("  ") == []
    noise = "He is well and he is " * 200
    assert clauses(noise) == [noise.strip()]


def _one_of(pieces: str) -> st.SearchStrategy[str]:
    return st.sampled_from(pieces.split("|"))


OPENING = _one_of("he |The patient |Skin: she |Mr. Roe |no |There is no |")
VERB = _one_of("denies |reports |is |has no |takes |endorses any |")
ITEM = _one_of(
    "fever|chest pain|7.2 mg|edema|a rash [2]|shortness of breath|he left|not|March 3, 2021"
    "|(mild; old)|120/80|gout that hurts|pain over the past week"
)
JOINT = _one_of(", | and | or |, but |; |, and | and denies | and she ")
STATEMENT = st.builds(
    "{0}{1}{2}{3}{4}".format,
    OPENING,
    VERB,
    ITEM,
    st.lists(st.builds(str.__add__, JOINT, ITEM), max_size=4).map("".join),
    _one_of(".||!"),
)


@settings(deadline=None)
@given(st.one_of(STATEMENT, st.text(st.characters(codec="utf-8"), max_size=60)))
def test_no_content_word_is_lost_and_none_is_invented(statement: str) -> None:
    plain = statement.replace("[2]", "")  # claims have no citations
    need = Counter(content_tokens(plain))
    found = clauses(statement)
    have = Counter(token for clause in found for token in content_tokens(clause.replace("[2]", "")))
    assert need <= have
    assert set(have) <= set(need)
    assert all(clause.strip() == clause for clause in found)
    if len(found) > 1:
        assert all(any(map(str.isalpha, clause)) for clause in found)
