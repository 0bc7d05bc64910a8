"""meta_evaluate: scores x ratings -> how far to trust each metric, and each rater."""

from metassay.core.options import Design, parse
from metassay.core.progress import bars
from metassay.meta_evaluation.analysis import Evaluation
from metassay.meta_evaluation.evaluate import RESULT_TABLES, evaluate
from metassay.meta_evaluation.layouts import groups_of
from metassay.meta_evaluation.options import MetaOptions
from metassay.tables.criteria import CRITERIA, rubric_criteria
from metassay.tables.documents import SOURCES
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from metassay.tables.statement_scores import STATEMENT_SCORES
from stages.doorway import StageIO, program
from stages.workers import executor


@program
def main(io: StageIO) -> None:
    where = "params.yaml > meta_evaluation"
    planned = parse(
        Design, io.param("design"), where=f"{io.entry.params_file} > design"
    )
    chosen = {**io.shared("meta_evaluation"), **planned.choices}
    options = parse(MetaOptions, chosen, where=where)
    board = io.read(LEADERBOARD)
    better = dict(zip(board["metric"], board["better"], strict=True))
    ratings, rubrics = io.read(RATINGS), io.read(CRITERIA)
    notes: list[str] = []
    groups = groups_of(
        planned,
        io.read(SOURCES),
        ratings["author"].unique(),
        f"{io.entry.params_file} > design",
    )
    with executor(io) as over, bars() as progress:
        evaluation = Evaluation(
            io.read(SCORES),
            ratings,
            io.criteria(),
            better,
            options,
            rubric_criteria(rubrics),
            groups=groups,
            statement_scores=io.read(STATEMENT_SCORES),
            note=notes.append,
            progress=progress,
            executor=over,
        )
        analyses = evaluate(evaluation)
    io.note(notes)
    for name, frame in analyses.items():
        io.write(RESULT_TABLES[name], frame)
