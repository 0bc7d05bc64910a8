"""judge: pairs -> one verdict per pair of one judge."""

from metassay.judges import JUDGES
from metassay.judges.run import judge_pairs
from metassay.params import load, options_of
from metassay.tables import JUDGMENTS, PAIRS, read, write
from stages.doorway import enter, table


def main(key: str) -> None:
    """Let one judge read the pairs of one benchmark."""
    params = load()
    entry = params.judging[key]
    block = params.judges[entry.judge]
    kinds = {kind: judge.options for kind, judge in JUDGES.items()}
    options = options_of(block, kinds, where=f"params.yaml > judges > {entry.judge}")
    judge = JUDGES[block["kind"]].make(options)
    judgments = judge_pairs(read(PAIRS, table(entry.benchmark, "pairs")), entry.judge, judge)
    write(JUDGMENTS, judgments, table(entry.benchmark, f"judgments/{entry.judge}"))


if __name__ == "__main__":
    enter(main)
