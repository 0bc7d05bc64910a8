"""The linker by term list: 1 MB of invented text against 100,000 invented terms.

`python speed/concepts.py` first asserts that the mentions are those of a plain search,
which tries all lengths at every word and has no places, then alternates both and prints
the times.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from metassay.concepts.terms import Terms, load_terms, mentions

TERMS, CHARACTERS, WORDS, ROUNDS, SEED = 100_000, 1_000_000, 20_000, 5, 20261126
QUICK = {"TERMS": 500, "CHARACTERS": 5_000, "WORDS": 200, "ROUNDS": 1}


def invented() -> tuple[str, str]:
    """A term list of one to four words a term, and a text, few of whose words are frequent."""
    rng = np.random.default_rng(SEED)
    letters = np.array(list("abcdefghijklmnoprstu"))
    words = [
        "".join(rng.choice(letters, size=size))
        for size in rng.integers(3, 10, size=WORDS)
    ]
    sizes = rng.integers(1, 5, size=TERMS)
    lines = ["term,concept,semantic_type"]
    for number, size in enumerate(sizes):
        lines.append(
            f"{' '.join(words[n] for n in rng.integers(WORDS, size=size))},C{number},t"
        )
    chance = 1 / np.arange(1, WORDS + 1)
    text = " ".join(
        words[n] for n in rng.choice(WORDS, size=180_000, p=chance / chance.sum())
    )
    return "\n".join(lines) + "\n", text[:CHARACTERS]


def plainly(text: str, terms: Terms) -> list[tuple[str, str]]:
    words, at, longest = (
        text.split(),
        0,
        max(name.count(" ") + 1 for name in terms.meanings),
    )
    found = []
    while at < len(words):
        for size in range(longest, 0, -1):
            its = terms.meanings.get(" ".join(words[at : at + size]))
            if its and at + size <= len(words):
                found += [(" ".join(words[at : at + size]), one.concept) for one in its]
                at += size - 1
                break
        at += 1
    return found


def main() -> None:
    listed, text = invented()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "terms.csv"
        path.write_text(listed, encoding="utf-8")
        start = time.process_time()
        terms = load_terms(path)
        loading = time.process_time() - start
    found = [(text[one.start : one.end], one.concept) for one in mentions(text, terms)]
    if found != plainly(text, terms):
        sys.exit("the mentions differ: no timing")
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        plainly(text, terms)
        middle = time.process_time()
        mentions(text, terms)
        times.append((middle - start, time.process_time() - middle))
    plain, here = (statistics.median(column) for column in zip(*times, strict=True))
    print(
        f"{len(text):,} characters, {TERMS:,} terms, {len(found):,} mentions, {ROUNDS} rounds, by"
        f" the processor: plain search {plain:.2f} s, here {here:.2f} s; the list is loaded in"
        f" {loading:.2f} s"
    )


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
