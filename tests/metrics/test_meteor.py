"""METEOR by hand, against a published value, by another program, and with a small WordNet."""

from collections.abc import Iterator
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import nltk
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.corpus import wordnet

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.metrics import meteor
from metassay.metrics.describe import Measured

PLAIN = meteor.MeteorOptions(synonyms="none")
SYNONYMS = meteor.MeteorOptions(synonyms="wordnet")
NOUNS = ("fever", "pyrexia")


def score(candidate: str, reference: str, options: Any = PLAIN) -> float | None:
    (measured,) = meteor.measure([candidate], [reference], options)["meteor"]
    assert measured.statistics is None
    return measured.value


def test_meteor_by_hand() -> None:
    # 6 of 7 words match, in the runs "the president" and "spoke to the audience".
    precision, recall, penalty = 6 / 7, 1, 0.5 * (2 / 6) ** 3
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    text = "the president then spoke to the audience"
    value = score(text, "The president spoke to the audience")
    assert value == pytest.approx(mean * (1 - penalty), abs=1e-12)
    assert value == pytest.approx(0.965392, abs=1e-6)


def test_the_value_that_nltk_publishes() -> None:
    """Printed in its documentation of `single_meteor_score`; no synonym is in these texts."""
    text = (
        "It is a guide to action which ensures that the military always obeys the"
        " commands of the party"
    )
    reference = (
        "It is a guide to action that ensures that the military will forever heed Party"
        " commands"
    )
    assert score(text, reference) == pytest.approx(0.6944, abs=5e-5)


def test_words_match_by_their_stem_and_marks_are_words() -> None:
    # climbs / climbing, and both full stops: 3 of 3 in one run
    assert score("she climbs.", "She climbing.") == pytest.approx(1 - 0.5 / 27)
    assert score("she climbs", "She climbing.") < 1 - 0.5 / 27


# No word is twice in a text, so there is one way to match them.
WORDS = st.permutations(["fever", "cough", "knee", "rash", "20", "mg"])


@settings(deadline=None)
@given(WORDS, st.integers(0, 6), WORDS, st.integers(0, 6))
def test_equal_to_a_program_of_its_definition(
    text: list[str], n: int, reference: list[str], m: int
) -> None:
    text, reference = text[:n], reference[:m]
    value = score(" ".join(text), " ".join(reference))
    matched = [word for word in text if word in reference]
    if not text and not reference:
        assert value is None
    elif not matched:
        assert value == 0
    else:
        following = set(pairwise(reference))
        joined = sum(pair in following for pair in pairwise(text))
        runs = len(matched) - joined
        precision, recall = len(matched) / len(text), len(matched) / len(reference)
        mean = 10 * precision * recall / (recall + 9 * precision)
        penalty = 0.5 * (runs / len(matched)) ** 3
        assert value == pytest.approx(mean * (1 - penalty))


def test_empty_texts() -> None:
    columns = meteor.measure(["", " ", "fever"], ["", "fever", "\n"], PLAIN)
    zero = Measured(0.0, None)
    assert columns == {"meteor": [Measured(None, None), zero, zero]}


def test_a_text_with_itself_is_best_of_all_orders() -> None:
    words = ["no", "fever", "or", "cough"]
    orders = [score(" ".join(order), " ".join(words)) for order in permutations(words)]
    assert max(orders) == orders[0] == pytest.approx(1 - 0.5 / 4**3)


def test_there_is_no_default_for_synonyms() -> None:
    with pytest.raises(BadInput, match=r"synonyms: missing"):
        parse(meteor.MeteorOptions, {}, where="test")


# ---- WordNet -------------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which alone NLTK looks for its data."""
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    # As if it had not been looked for, before and after.
    fresh = nltk.corpus.LazyCorpusLoader(
        "wordnet", nltk.corpus.WordNetCorpusReader, None
    )
    monkeypatch.setattr(nltk.corpus, "wordnet", fresh)
    yield tmp_path
    # NLTK leaves its files open.
    for file in vars(fresh).get("_data_file_map", {}).values():
        file.close()


def write_wordnet(folder: Path) -> None:
    """Write a WordNet in its own format: one noun, which has two words."""
    folder.mkdir(parents=True)
    parts = ("noun", "verb", "adj", "adv")
    for name in ("lexnames", "index.sense", "cntlist.rev"):
        (folder / name).write_text("")
    for part in parts:
        for name in (f"index.{part}", f"data.{part}", f"{part}.exc"):
            (folder / name).write_text("")
    (folder / "lexnames").write_text("00\tnoun.state\t1\n")
    licence = "  1 WordNet 3.0 Copyright\n"
    words = " ".join(f"{word} 0" for word in NOUNS)
    place = f"{len(licence):08}"
    line = f"{place} 00 n {len(NOUNS):02x} {words} 000 | a high temperature\n"
    (folder / "data.adj").write_text(licence)
    (folder / "data.noun").write_text(licence + line)
    index = "".join(f"{word} n 1 0 1 0 {place}  \n" for word in NOUNS)
    (folder / "index.noun").write_text(licence + index)


@pytest.mark.filterwarnings("ignore:The multilingual functions are not available")
def test_synonyms_of_wordnet_match_and_the_recipe_says_which(data: Path) -> None:
    write_wordnet(data / "corpora" / "wordnet")
    assert score("no pyrexia", "no fever", SYNONYMS) == 1 - 0.5 / 8
    assert score("no pyrexia", "no fever", PLAIN) == 0.5 * 0.5
    assert "|synonyms:wordnet-3.0|" in meteor.recipe(SYNONYMS)
    assert "|synonyms:none|" in meteor.recipe(PLAIN)


def test_without_wordnet_nothing_is_measured_by_less(data: Path) -> None:
    assert not list(data.iterdir())
    message = r"finds no WordNet .* run `python -m nltk.downloader wordnet`"
    with pytest.raises(BadInput, match=message):
        score("no pyrexia", "no fever", SYNONYMS)
    with pytest.raises(BadInput, match=message):
        meteor.recipe(SYNONYMS)
    assert score("no fever", "no fever", PLAIN) == 1 - 0.5 / 8
    assert wordnet is not nltk.corpus.wordnet  # the tests' own
