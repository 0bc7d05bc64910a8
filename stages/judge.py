"""judge: pairs -> a judgment per pair by one judge, and the calls of language models for them."""

from metassay.judges import JUDGES
from metassay.judges.make import batch_of, claim_datasets, instruments_of, make_judge
from metassay.judges.run import judge_pairs
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.responses import RESPONSES
from stages.connect import connect
from stages.doorway import StageIO, program
from stages.workers import executor


@program
def main(io: StageIO) -> None:
    name = io.item
    chosen = io.choose(JUDGES, "judges", name)
    pairs = io.read(PAIRS)
    repeated = {
        dataset for names in pairs["repeats"].unique() for dataset in names.split()
    }
    repeated.update(
        claim_datasets(io.project.evaluations[io.benchmark], io.project.decompositions)
    )
    with connect(io, chosen, repeated) as session, executor(io, repeated) as over:
        judge = make_judge(chosen, session.provide, over)
        judgments = judge_pairs(
            pairs, name, judge, instruments_of(chosen), batch=batch_of(chosen, over)
        )
        answers = session.finish()
    io.note([*judge.notes, *answers.notes])
    io.write(JUDGMENTS, judgments, name)
    io.write(RESPONSES, answers.responses, f"judge-{name}")
