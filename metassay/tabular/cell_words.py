"""Words that stand in cells: of scales, of labels, of statuses and of summaries."""

# Cells of a status, folded, that leave open whether a row counts.
DOUBTFUL_STATUS = frozenset(
    (
        "rejected",
        "returned",
        "timed_out",
        "timeout",
        "cancelled",
        "canceled",
        "discarded",
        "draft",
        "drafts",
        "pending",
        "preview",
        "survey_preview",
        "spam",
        "survey_test",
        "test",
        "incomplete",
        "partial",
        "skipped",
        "deleted",
        "withdrawn",
        "screened_out",
        "excluded",
        "invalid",
        "failed",
        "no_consent",
        "abgelehnt",
        "unvollständig",
        "in_progress",
        "not_started",
        "started",
    )
)
# Cells of a check of attention that failed.
FAILED_CHECK = frozenset(
    (
        "0",
        "fail",
        "failed",
        "false",
        "no",
        "n",
        "incorrect",
        "wrong",
        "nein",
        "falsch",
        "not_passed",
        "inattentive",
    )
)
# What the first cell of a row below the table says that sums up the rows above.
SUMMARIES = frozenset(
    (
        "mean",
        "means",
        "average",
        "averages",
        "avg",
        "median",
        "mode",
        "sum",
        "total",
        "totals",
        "sd",
        "std",
        "stdev",
        "variance",
        "min",
        "max",
        "count",
        "n",
        "mittelwert",
        "durchschnitt",
        "summe",
        "gesamt",
        "anzahl",
        "standardabweichung",
    )
)

# Labels in words, 0 and 1. Whether 1 is better depends on what was asked.
LABELS = (
    ("no", "yes"),
    ("n", "y"),
    ("false", "true"),
    ("nein", "ja"),
    ("falsch", "wahr"),
)
# Labels that say by themselves which is better: the worse, then the better.
VERDICTS = (
    ("fail", "pass"),
    ("failed", "passed"),
    ("incorrect", "correct"),
    ("wrong", "right"),
)
# Grades in words, in order; which of a column's are there is seen, not which lack.
GRADES = (
    (
        "strongly disagree",
        "disagree",
        "somewhat disagree",
        "slightly disagree",
        "neutral",
        "undecided",
        "neither agree nor disagree",
        "slightly agree",
        "somewhat agree",
        "agree",
        "strongly agree",
    ),
    (
        "very poor",
        "poor",
        "fair",
        "acceptable",
        "average",
        "good",
        "very good",
        "excellent",
    ),
    (
        "very bad",
        "bad",
        "mediocre",
        "okay",
        "ok",
        "good",
        "very good",
        "excellent",
    ),
    (
        "not at all",
        "slightly",
        "somewhat",
        "moderately",
        "very",
        "extremely",
    ),
    (
        "never",
        "rarely",
        "sometimes",
        "often",
        "always",
    ),
    (
        "none",
        "minimal",
        "mild",
        "minor",
        "moderate",
        "major",
        "severe",
    ),
    (
        "very low",
        "low",
        "medium",
        "high",
        "very high",
    ),
    (
        "no",
        "not sure",
        "unsure",
        "partially",
        "partly",
        "mostly",
        "yes",
    ),
    (
        "incorrect",
        "partially correct",
        "partly correct",
        "mostly correct",
        "correct",
    ),
    (
        "trifft nicht zu",
        "trifft eher nicht zu",
        "teils/teils",
        "trifft eher zu",
        "trifft zu",
    ),
)
