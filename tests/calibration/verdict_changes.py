"""Verdicts by the rules of an earlier commit beside those of now: the same scores and ratings.

    python -m tests.calibration.verdict_changes 4149fceb^ sample topical_chat

Each benchmark must have been run here. The files of the commit, in a temporary folder,
read its tables, and its own stages `meta_evaluate` and `certify` give the verdicts
before. Rows are printed with the reasons of those that changed, as Markdown.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from metassay.tables.certificates import CERTIFICATES

ROOT = Path(__file__).parents[2]
TABLES = Path("data/tables")
READ = ("sources", "scores", "statement_scores", "leaderboard", "ratings", "criteria")
KEY = list(CERTIFICATES.key)
LEVEL = 0.05


def unpack(commit: str, folder: Path) -> None:
    """Put the files of a commit into a folder."""
    archive = folder / "commit.tar"
    run("git", "archive", "--output", str(archive), commit, where=ROOT)
    shutil.unpack_archive(archive, folder, filter="data")


def certify_at(checkout: Path, name: str) -> pd.DataFrame:
    """Return the certificates that a checkout makes of this project's tables."""
    old, new = (root / TABLES / name for root in (checkout, ROOT))
    old.mkdir(parents=True)
    for table in READ:
        for path in (new / table, new / f"{table}.parquet"):
            if path.is_dir():
                shutil.copytree(path, old / table)
            elif path.exists():
                shutil.copy(path, old)
    for stage in ("meta_evaluate", "certify"):
        run(sys.executable, "-m", f"stages.{stage}", name, where=checkout)
    return pd.read_parquet(old / "certificates.parquet")


def run(*command: str, where: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(where)}
    subprocess.run(command, cwd=where, env=environment, check=True, stdout=sys.stderr)


def changes(before: pd.DataFrame, after: pd.DataFrame) -> Counter[tuple[str, str, str]]:
    """Count rows by verdict before, after, and the reason of the change ("": none)."""
    both = before.merge(after, on=KEY, suffixes=("_before", ""), how="outer")
    counts: Counter[tuple[str, str, str]] = Counter()
    for row in both.to_dict("records"):
        verdicts = str(row["verdict_before"]), str(row["verdict"])
        reason = "" if len({*verdicts}) == 1 else reason_of(row)
        counts[*verdicts, reason] += 1
    return counts


def reason_of(row: dict) -> str:  # noqa: PLR0911 - one return per rule
    """Say which rule of now moved the verdict of a row."""
    if pd.isna(row["verdict_before"]) or pd.isna(row["verdict"]):
        return "the row is there in one of the two only"
    if row["selected"]:
        return "rated texts have more extreme scores"
    if str(row["verdict"]).startswith("explained by") and row["classes"] is not None:
        return f"{row['classes']} explain it"
    if not row["p"] < LEVEL and not pd.isna(row["rests_on"]):
        return f"the relation shows between {row['rests_on']} alone"
    if not row["p"] < LEVEL and row["p_before"] < LEVEL:
        n = row["n_tried"]
        return "no relation is shown any more" + (f" (of {n} tried)" if n > 1 else "")
    if row["rests_on_classes"]:
        return "it may rest on classes"
    if row["p"] < LEVEL and not row["p_before"] < LEVEL:
        return "a relation is shown"
    if row["corrected_low"] < row["corrected_low_before"]:
        return "the lower end is lower"
    return "another"


def main() -> None:
    """Print the verdicts before and now of each benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("commit", help="whose rules are those before")
    parser.add_argument("benchmarks", nargs="+")
    args = parser.parse_args()
    print("| benchmark | before | now | verdicts | why |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        unpack(args.commit, Path(folder))
        for name in args.benchmarks:
            old = certify_at(Path(folder), name)
            new = pd.read_parquet(ROOT / TABLES / name / "certificates.parquet")
            print("\n".join(lines_of(name, changes(old, new))), flush=True)


def lines_of(name: str, counts: Counter[tuple[str, str, str]]) -> Iterator[str]:
    """Yield the rows of a benchmark."""
    same = sum(n for (_, _, reason), n in counts.items() if not reason)
    yield f"| `{name}` | | the same | {same:,} | |"
    moved = [(key, n) for key, n in counts.items() if key[2]]
    for (was, is_now, reason), n in sorted(moved, key=lambda row: -row[1]):
        yield f"| | {was} | {is_now} | {n:,} | {reason} |"


if __name__ == "__main__":
    main()
