"""boundaries.py: what pysbd alone gets wrong in clinical text, each as an example."""

import random
import re
import time
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.text import boundaries as module
from metassay.text.boundaries import boundaries

# "|" stands where a sentence begins.
CUTS = [
    "He fell. |She rose.",
    "Dr. Lee saw Mr. Roe vs. placebo at St. Mary. |She left.",
    "Take 20 mg. daily with 2 tabs. of it approx. 5 times. |She left.",
    "Take 20 mg. |She left.",
    "Lisinopril 10 mg p.o. daily and p.o. Tylenol q.d. |She rested.",
    "She came at 5 p.m. |She left, e.g. The dog did.",
    "The pain is at 7. |She rates it 8. |We wait.",
    "Her A1c is 7.2. |Weight is .5 kg more.",
    "She has hepatitis B. |He has hepatitis C. |Take vitamin D. |E. coli grew.",
    "J. Roe and R. Doe came. |So did I. |The end.",
    "She has MS. |She walks.",
    "She is ill. |I saw a mass. |I told the man. |I left.",
    "He is 5'10\". |She is 5'4\". |They came.",
    'She said "I fell. I rose." |Then she left.',
    "It hurts (at rest. Always). |She left.",
    "Is it sore ? |yes . |it is .",
    "Wait... it hurts. |Why?! |No idea!",
    "(a) rest is good. |(b) sleep is good.",
    "No. 5 is art. 7 of p. 3. |Done.",
    "U.S. |He left.",
    'He said "no. |She left.',
    "Seen in the E.R. by staff.",
    "nothing ends here",
    "one stop only.",
    "",
]


@pytest.mark.parametrize("marked", CUTS)
def test_clinical_sentences(marked: str) -> None:
    line = marked.replace("|", "")
    cut = list(line)
    for at in reversed(boundaries(line)):
        cut.insert(at, "|")
    assert "".join(cut) == marked


def test_pysbd_gives_up_and_the_plain_rule_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_segments", lambda shadow: [shadow[1:]])  # a character is lost
    assert boundaries("He fell. She rose. so it is.") == [9]
    monkeypatch.undo()
    long = "He fell for long. " * 1000
    assert boundaries(long) == [match.end() for match in re.finditer(r"\. (?=H)", long)]


def test_no_warning_of_pysbd_surfaces() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        re.purge()  # so that its patterns are compiled again
        assert boundaries("He fell -- it was late -- and rose. She left.") == [36]


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=80))
def test_any_text_has_boundaries_before_visible_characters(line: str) -> None:
    found = boundaries(line)
    assert found == sorted(set(found))
    assert all(0 < at < len(line) and not line[at].isspace() for at in found)


MISLEADING = (
    ".?! \"'()[]{}-&\\1a.B"
    "\u222f\u266c\u0238\u2609\u2668\u260e\u01aa\u2602\u201c\u201d\u3002\u300c\uff08"
)


def test_pysbd_keeps_every_character_of_what_it_is_shown() -> None:
    draw = random.Random(7)
    for _ in range(1500):
        line = "".join(draw.choices(MISLEADING, k=draw.randint(1, 40)))
        shadow = module._shadow(line)
        assert len(shadow) == len(line)
        assert [c == " " for c in shadow] == [c.isspace() for c in line]
        assert "".join(module._segments(shadow)) == shadow.replace(" ", ""), line


def test_a_small_cache_of_patterns_does_not_slow_it_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(re, "_MAXCACHE", 50)
    boundaries("He fell. She rose.")
    compiled = []
    monkeypatch.setattr(re._compiler, "compile", lambda *args: compiled.append(args))
    assert boundaries("He rose. She fell.") == [9]
    assert compiled == []


@pytest.mark.parametrize(
    "line", ["(" * 9_900 + " a. B", ".[" + "1" * 5_000 + "x. B", ". " * 4_900 + "B", "." * 99_999]
)
def test_no_line_takes_for_ever(line: str) -> None:
    start = time.process_time()
    boundaries(line)
    assert time.process_time() - start < 3
