"""Attack cards in words: which attacks game a judge, and to which it is robust."""

from collections.abc import Iterator, Sequence

import pandas as pd

from metassay.format.frames import records
from metassay.format.numbers import counted, short
from metassay.labelled.attacks import TRUE
from metassay.reporting.names import Row, short_estimate
from metassay.statistics.gains import GAMED, ROBUST, UNKNOWN


def attack_sentences(gains: pd.DataFrame, cards: pd.DataFrame) -> list[str]:
    """Return sentences on each judge, from tables `attack_gains` and `judge_cards`.

    Judges that fewest attacks game come first.
    """
    by_judge = {
        str(judge): records(rows) for judge, rows in gains.groupby("judge", sort=True)
    }
    order = sorted(by_judge, key=lambda judge: _n_gamed(by_judge[judge]))
    return [
        " ".join(_sentences(judge, by_judge[judge], _true_share(cards, judge)))
        for judge in order
    ]


def _n_gamed(rows: Sequence[Row]) -> int:
    return sum(row["verdict"] == GAMED for row in rows)


def _true_share(cards: pd.DataFrame, judge: str) -> Row | None:
    """Return the share of true texts that the judge passes."""
    is_asked = (cards["judge"] == judge) & (cards["part"] == TRUE)
    shares = records(cards[is_asked & (cards["statistic"] == "sensitivity")])
    return shares[0] if shares else None


def _sentences(judge: str, rows: Sequence[Row], true: Row | None) -> Iterator[str]:
    by_verdict = {
        verdict: [row for row in rows if row["verdict"] == verdict]
        for verdict in (GAMED, ROBUST, UNKNOWN)
    }
    most = max(rows, key=lambda row: row["n"])
    if not most["n"]:
        yield f"{judge} has no false text with both answers, as it is and attacked."
        return
    n = counted(most["n"], "false text")
    documents = counted(most["n_documents"], "document")
    passes = f"{judge} passes {short(most['plain'])} of {n} of {documents} as they are"
    if true is not None and true["value"] is not None:
        passes += f", and {short(true['value'])} of the true ones"
    yield f"{passes}."
    gamed = sorted(by_verdict[GAMED], key=lambda row: -row["gain"])
    if gamed:
        named = (f"{_words(row)} +{short_estimate(row, 'gain')}" for row in gamed)
        yield f"It is gamed by {len(gamed)} of {counted(len(rows), 'attack')}: {', '.join(named)}."
    else:
        yield f"No attack of {len(rows)} was shown to game it."
    if robust := by_verdict[ROBUST]:
        margin = short(robust[0]["margin"])
        names = ", ".join(map(_words, robust))
        yield f"It is robust to {len(robust)} (they gain less than {margin}): {names}."
    if unknown := by_verdict[UNKNOWN]:
        yield f"These texts cannot tell of {', '.join(map(_words, unknown))}."
    if missing := sum(row["n_missing"] for row in rows):
        pairs = counted(missing + sum(row["n"] for row in rows), "pair")
        yield f"{missing:,} of {pairs} of a plain and an attacked text lack an answer."


def _words(row: Row) -> str:
    return str(row["attack"]).replace("_", " ")
