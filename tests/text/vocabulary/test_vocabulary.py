"""The vocabulary's halves: which word is of which, for good, and that nothing is of both."""

from collections import Counter

import pytest

from metassay.text.vocabulary import CLOSED, SPLIT, groups, terms, word_key, words
from metassay.text.vocabulary.group import SEED, Group, half
from metassay.text.vocabulary.inflection import plural, verb_forms

# Judges' rules and training were made for the training half as it is here: a change of
# these lines shows a test's words to them.
TRAIN = """
    metformin warfarin ibuprofen kidney hip pneumonia gout displaced soft rise improve stop
    utilize physician
"""
TEST = """
    lisinopril prednisone albuterol knee liver radius hypertension hepatitis mild chronic resolve
    surgery swelling x-ray
"""


def test_the_halves_are_what_they_were() -> None:
    assert SEED == 67
    assert {half(name) for name in TRAIN.split()} == {"train"}
    assert {half(name) for name in TEST.split()} == {"test"}
    assert half("Metformin") == half("metformin")


@pytest.mark.parametrize(
    ("kind", "fewest"),
    [
        ("drug", 300),
        ("anatomy", 180),
        ("diagnosis", 250),
        ("opposite", 160),
        ("course", 30),
        ("synonym", 200),
    ],
)
def test_a_kind_is_parted_evenly(kind: str, fewest: int) -> None:
    every = groups(kind)
    assert len(every) >= fewest
    assert 0.4 <= len(groups(kind, "test")) / len(every) <= 0.6
    assert len(groups(kind, "train")) + len(groups(kind, "test")) == len(every)
    assert words(kind, "train").isdisjoint(words(kind, "test"))


def test_a_group_is_never_parted() -> None:
    for kind in SPLIT:
        for group in groups(kind):
            assert (
                len(
                    {
                        term.group.half
                        for key in _names(group)
                        for term in terms(kind)[key]
                    }
                )
                == 1
            )
    assert {"lisinopril", "zestril", "prinivil"} <= words("drug", "test")
    assert {"kidney", "kidneys", "renal"} <= words("anatomy", "train")
    assert {"rose", "risen", "fell", "fallen", "falling"} <= words("opposite", "train")
    assert {"hypertension", "high blood pressure", "HTN"} <= words("diagnosis", "test")


def _names(group: Group) -> set[str]:
    return {word_key(n) for side in group.sides for n in side if n not in group.unread}


def test_a_word_is_of_one_group_of_all_kinds() -> None:
    counts = Counter(
        word
        for kind in (*SPLIT, CLOSED)
        for word, its in terms(kind).items()
        for _ in {term.group for term in its}
    )
    assert [word for word, count in counts.items() if count > 1] == []


def test_what_is_only_written_is_not_read() -> None:
    assert "show" not in terms("synonym")
    assert "demonstrated" in terms("synonym")
    assert "RA" not in terms("diagnosis")
    # Abbreviations are read in capitals alone.
    assert {"COPD", "UTI", "UTIs"} <= terms("diagnosis").keys()
    assert "copd" not in terms("diagnosis")


def test_forms_follow_the_rules_of_english() -> None:
    assert verb_forms("rise") == ("rise", "rises", "rose", "risen", "rising")
    assert verb_forms("stop") == ("stop", "stops", "stopped", "stopped", "stopping")
    assert verb_forms("carry on") == (
        "carry on",
        "carries on",
        "carried on",
        "carried on",
        "carrying on",
    )
    assert verb_forms("agree")[4] == "agreeing"
    assert verb_forms("die")[4] == "dying"
    assert verb_forms("discuss")[1] == "discusses"
    assert [
        plural(noun) for noun in ("biopsy", "x-ray", "loss of taste", "UTI", "sinus")
    ] == [
        "biopsies",
        "x-rays",
        "losses of taste",
        "UTIs",
        "sinuses",
    ]
