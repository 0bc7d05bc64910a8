"""judge: pairs -> one judgment per pair of one judge, and what language models were asked."""

from metassay.core.file_names import rubric_files
from metassay.core.options import GIVEN
from metassay.judges import JUDGES
from metassay.judges.make import instruments_of, make_judge
from metassay.judges.problems import released
from metassay.judges.run import judge_pairs
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.responses import RESPONSES
from stages.connect import connect, params_of
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Let one judge read the pairs of one benchmark."""
    name = given.item
    chosen = given.chosen(JUDGES, "judges", name)
    asked_in = [*given.listed("questions"), *rubric_files(given.listed("rubrics"))]
    pairs = given.read(PAIRS, [GIVEN, *asked_in])
    repeated = {dataset for names in pairs["repeats"].unique() for dataset in names.split()}
    benchmark, shared = params_of(given)
    repeated.update(released(benchmark, shared.decompositions))
    with connect(given, chosen, repeated) as session:
        judge = make_judge(chosen, session.provide)
        judgments = judge_pairs(
            pairs, name, judge, instruments_of(chosen), batch=chosen.record.batch
        )
        asked = session.finish()
    given.note([*judge.notes, *asked.notes])
    given.write(JUDGMENTS, judgments, name)
    given.write(RESPONSES, asked.responses, f"judge-{name}")


if __name__ == "__main__":
    enter(main)
