"""The runs of `metassay reevaluate`."""

from metassay.tables.columns import table
from metassay.tables.leaderboard import LEADERBOARD

HISTORY = table(
    "history",
    "the runs of `metassay reevaluate` for one benchmark",
    "run",
    """
    run text: when it ended: UTC, as 2026-01-05T06:00:12Z
    revision text?: git's commit, with + if files differ from it; null without git
    did run again|nothing to do|failed: whether anything that its stages read was another than
      before
    stages integer: stages that were looked at again
    accepted text?: the accepted numbers: start of their lock's SHA-256
    compared integer?: rows compared with these; null if nothing was
    regressed integer?: how many of these got worse
    improved integer?: how many got better
    changed integer?: how many changed that have no better direction
    cannot_tell integer?: of how many one cannot tell
    causes texts: what differs from what made the accepted numbers
    certificates integer?: certificates with another verdict than accepted
    missing integer: answers of language models that are missing
    alarms integer?: alarms of the drift sentinel; null without anchors
    status integer: the exit code for this benchmark: 0, 1, 3 or 4
    """,
)

HISTORY_MEANS = table(
    "history_means",
    "the leaderboard's means of whole texts after each run that made them again",
    "run part metric judge author",
    """
    run text: the run, as in `history`; a run that is not here has the means before it
    part metric judge author
    mean real?: the mean over the documents whose score is defined
    low high n_documents n_undefined n_failed better
    verdict text?: beside the accepted mean, as in `changes`; null if not compared
    recipe
    """,
    LEADERBOARD.columns,
)
