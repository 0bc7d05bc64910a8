"""boundaries.py: what splitters get wrong in clinical and scientific text, each as an example."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    "[doctor] hi mr . james , i am dr . lee . |so . |it is ms . roe .",
    "Miss A B C. |She came with Doctor F. |I rested.",
    'He died in his 80s of "old age." |She lives.',
    'He said "it hurts." and left. |"It hurts!" she said.',
    "It is so (mostly (at night. Or so).) |She sleeps (badly. |He does not.",
    "She has 5% (10% then.) |He has more .) |We wait.",
    "We said \u201cWhy? Now?\u201d and left. |It was [late. Too late] then.",
    "Great ! |how are you ? |fine !",
    "Wait \u2026 it hurts\u2026 |Now it is good.. |so we go.... |then rest.",
    "Is it so?|Then rest (a lot).|We wait 5%.|Then so .|we go..|so it is.",
    "See node.js on .NET 4.5 at a.b/c?d=e and i don?t know.",
    "It hurts a lot , fig . 5 . |See ref . , fig. [2] and Eq. 3 , etc. , and Tel. : 5.",
    "\u75db\u3044\u3002|\u4f11\u3080\u3002|\u5bdd\u308b\u3002",
    "**Rest.** |_Sleep._ |Drink.",
    "Swelling.\\ |Denies pain.",
    "It is late. . ! |So we go.",
    "1. |Rest. |2. |Sleep.",
    "Smith et al. (2010) and Lee et al. |They left in Oct. 2010, i.e. Monday.",
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


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=80))
def test_any_text_has_boundaries_before_visible_characters(line: str) -> None:
    starts = boundaries(line)
    assert starts == sorted(set(starts))
    assert all(0 < at < len(line) and not line[at].isspace() for at in starts)


@pytest.mark.parametrize(
    "line",
    [
        "(" * 100_000 + " a. B",
        "(" * 50_000 + ")" * 50_000 + " a. B",
        ".[" + "1" * 100_000 + "x. B",
        ". " * 100_000 + "B",
        "." * 300_000,
        "." + ")" * 100_000 + "x. B",
        "a" * 200_000 + ". B",
        "a." + " " * 200_000,
        ' " a. B' * 30_000,
        "He fell for long. " * 10_000,
    ],
)
def test_time_grows_with_the_length_alone(line: str) -> None:
    start = time.process_time()
    boundaries(line)
    assert time.process_time() - start < 2
