"""The gains of attacks on judges as a table: `python -m tests.labelled.attack_table`.

It reads the cards of the two benchmarks, which `metassay run attacks_facts
attacks_facts_recall` makes. docs/measured.md has the table.
"""

import pandas as pd

from metassay.text.edits.attacks import ATTACKS

TESTS = {"precision": "attacks_facts", "recall": "attacks_facts_recall"}
FILE = "data/tables/{}/attack_gains.parquet"
MINUS = "\u2212"


def main() -> None:
    """Print the table."""
    cards = {
        direction: pd.read_parquet(FILE.format(name))
        for direction, name in TESTS.items()
    }
    columns = [
        (judge, direction)
        for direction, card in cards.items()
        for judge in card["judge"].unique()
    ]
    names = [f"{judge}, {direction}" for judge, direction in columns]
    print(f"| attack | {' | '.join(names)} |")
    print("|---" * (len(names) + 1) + "|")
    plain = [_rows(cards, *column)["plain"].iloc[0] for column in columns]
    shares = " | ".join(_number(share) for share in plain)
    print(f"| passes without an attack | {shares} |")
    for attack in ATTACKS:
        cells = [_cell(_rows(cards, *column), attack) for column in columns]
        print(f"| `{attack}` | {' | '.join(cells)} |")


def _rows(cards: dict[str, pd.DataFrame], judge: str, direction: str) -> pd.DataFrame:
    card = cards[direction]
    return card[card["judge"] == judge].set_index("attack")


def _cell(rows: pd.DataFrame, attack: str) -> str:
    """Return a gain with its interval: bold if the judge is gamed, `?` if it cannot tell."""
    if attack not in rows.index:
        return ""
    row = rows.loc[attack]
    gain = _number(row["gain"])
    if row["verdict"] == "gamed by":
        gain = f"**{gain}**"
    unsure = "?" if row["verdict"] == "cannot tell" else ""
    return f"{gain} [{_number(row['low'])}, {_number(row['high'])}]{unsure}"


def _number(value: float) -> str:
    text = f"{abs(value):.2f}".lstrip("0")
    if text == ".00":
        return "0"
    return f"{MINUS if value < 0 else ''}{text}"


if __name__ == "__main__":
    main()
