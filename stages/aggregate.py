"""aggregate: judgments and measurements -> scores; scores -> leaderboard."""

import pandas as pd

from metassay.core.options import JUDGED, Design, parse
from metassay.meta_evaluation.layouts import cluster_labels
from metassay.scoring.aggregation.combinations import (
    combined_scores,
    describe,
    parse_combination,
)
from metassay.scoring.aggregation.judged import judged_scores
from metassay.scoring.aggregation.leaderboard import (
    LeaderboardOptions,
    document_clusters,
    leaderboard,
)
from metassay.scoring.aggregation.rubrics import rubric_scores
from metassay.scoring.aggregation.statements import judged_statements, read_statements
from metassay.scoring.catalogue import (
    add_readings,
    check_given,
    descriptions,
    user_descriptions,
)
from metassay.scoring.pairing.questions import Questions
from metassay.scoring.rubrics.ask import rubric_descriptions
from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.criteria import CRITERIA
from metassay.tables.documents import DOCUMENT_CLUSTERS, SOURCES
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.pairs import PAIRS
from metassay.tables.parts import PARTS
from metassay.tables.scores import MEASUREMENTS, SCORES
from metassay.tables.statement_scores import STATEMENT_SCORES
from metassay.tables.units import UNITS
from stages.doorway import StageIO, program
from stages.setup import setup_of


@program
def main(io: StageIO) -> None:
    questions = {
        name: io.options(Questions, f"questions.{name}")
        for name in io.param("questions")
    }
    setup = setup_of(io, questions)
    pairs = io.read(PAIRS)
    judgments = io.read(JUDGMENTS)
    parts, units = io.read(PARTS), io.read(UNITS)
    sources = io.read(SOURCES)
    statements = read_statements(sources, parts, units, io.read_each(ALIGNMENTS))
    io.write(
        STATEMENT_SCORES, judged_statements(statements, pairs, judgments, setup), JUDGED
    )
    criteria = io.read(CRITERIA)
    check_given(criteria)
    graded = pairs["measure"].isin(criteria["metric"])
    judged = judged_scores(parts, units, pairs[~graded], judgments, setup)
    by_rubric = rubric_scores(
        criteria, pairs[graded], judgments, setup.segmentation, setup.version
    )
    scores = pd.concat([judged, by_rubric, io.read(MEASUREMENTS)], ignore_index=True)
    blocks = {
        name: io.shared(f"combinations.{name}") for name in io.param("combinations")
    }
    combinations = {name: parse_combination(blocks, name) for name in blocks}
    metrics = {
        **descriptions(),
        **user_descriptions(io.project, io.benchmark),
        **rubric_descriptions(criteria),
        **{name: describe(name, block) for name, block in combinations.items()},
    }
    metrics = add_readings(metrics, scores["metric"].unique())
    combined = combined_scores(scores, combinations, metrics)
    scores = pd.concat([scores, combined], ignore_index=True)
    options = io.options(LeaderboardOptions, "aggregation")
    where = f"{io.entry.params_file} > design"
    design = parse(Design, io.param("design"), where=where)
    clusters = document_clusters(scores, cluster_labels(design, sources, where))
    labels = dict(zip(clusters["doc_id"], clusters["cluster"], strict=True))
    io.write(SCORES, scores)
    io.write(DOCUMENT_CLUSTERS, clusters)
    io.write(LEADERBOARD, leaderboard(scores, metrics, options, labels))
