"""The runs of `metassay reevaluate`."""

from metassay.tables.columns import RECIPE
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.parquet import Table, choice, integer, real, text, texts

HISTORY = Table(
    "history",
    "the runs of `metassay reevaluate` for one benchmark",
    ("run",),
    {
        "run": text("when it ended: UTC, as 2026-01-05T06:00:12Z"),
        "revision": text(
            "git's commit, with + if files differ from it; null without git", null=True
        ),
        "did": choice(
            *("run again", "nothing to do", "failed"),
            meaning="whether anything that its stages read was another than before",
        ),
        "stages": integer("stages that were looked at again"),
        "accepted": text("the accepted numbers: start of their lock's SHA-256", null=True),
        "compared": integer("rows compared with these; null if nothing was", null=True),
        "regressed": integer("how many of these got worse", null=True),
        "improved": integer("how many got better", null=True),
        "changed": integer("how many changed that have no better direction", null=True),
        "cannot_tell": integer("of how many one cannot tell", null=True),
        "causes": texts("what differs from what made the accepted numbers"),
        "certificates": integer("certificates with another verdict than accepted", null=True),
        "missing": integer("answers of language models that are missing"),
        "alarms": integer("alarms of the drift sentinel; null without anchors", null=True),
        "status": integer("the exit code for this benchmark: 0, 1, 3 or 4"),
    },
)

HISTORY_MEANS = Table(
    "history_means",
    "the leaderboard's means of whole texts after each run that made them again",
    ("run", "part", "metric", "judge", "author"),
    {
        "run": text("the run, as in `history`; a run that is not here has the means before it"),
        **{name: LEADERBOARD.columns[name] for name in ("part", "metric", "judge", "author")},
        "mean": real("the mean over the documents whose score is defined", null=True),
        **{name: LEADERBOARD.columns[name] for name in ("low", "high", "n_documents")},
        **{name: LEADERBOARD.columns[name] for name in ("n_undefined", "n_failed", "better")},
        "verdict": text(
            "beside the accepted mean, as in `changes`; null if not compared", null=True
        ),
        "recipe": RECIPE,
    },
)
