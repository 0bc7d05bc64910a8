"""What figures and tables of all tasks of the paper share."""

from papers.record import Line, lines_by

MEDCON = Line(
    title="MEDCON",
    ours={"metric": "medcon_f1"},
    printed={"quantity": "MEDCON"},
)


def claim_recall(evaluator: str) -> Line:
    """Return our semantic judge's claim recall, beside that of a printed evaluator."""
    return Line(
        title="Claim Recall, semantic",
        ours={"metric": "claim_recall", "judge": "semantic"},
        printed={"quantity": "Claim Recall", "evaluator": evaluator},
    )


def claim_precision(evaluator: str) -> Line:
    """Return our semantic judge's claim precision, beside that of a printed evaluator."""
    return Line(
        title="Claim Precision, semantic",
        ours={"metric": "claim_precision", "judge": "semantic"},
        printed={"quantity": "Claim Precision", "evaluator": evaluator},
    )


def claim_scores(evaluator: str) -> list[Line]:
    """Return claim recall and precision of our two judges; the lexical one has no print."""
    recall_of_words = lines_by(
        "metric",
        {"Claim Recall, lexical": "claim_recall"},
        ours={"judge": "lexical"},
    )
    precision_of_words = lines_by(
        "metric",
        {"Claim Precision, lexical": "claim_precision"},
        ours={"judge": "lexical"},
    )
    return [
        claim_recall(evaluator),
        *recall_of_words,
        claim_precision(evaluator),
        *precision_of_words,
    ]


OTHER_JUDGE = """
    ours are by other judges than the paper's, and another judge means another level;
    what can be compared is the order of the systems.
"""
