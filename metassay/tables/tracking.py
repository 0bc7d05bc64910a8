"""Values over time: differences, runs of `metassay watch check`, and the drift sentinel."""

from metassay.tables.columns import (
    AUTHOR,
    BETTER,
    BOOLEAN,
    DOC_ID,
    HIGH,
    INTEGER,
    JUDGE,
    METRIC,
    PART,
    REAL,
    RECIPE,
    TEXT,
    TEXT_LIST,
)
from metassay.tables.parquet import Column, Table

CHANGES = Table(
    name="changes",
    says=(
        "what differs between two states of a benchmark, or two of its systems, on "
        "the same documents"
    ),
    key=("part", "metric", "judge", "author"),
    columns={
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "author": Column(
            TEXT,
            "`reference` or a system's name; of two systems compared, the second",
        ),
        "verdict": Column(
            TEXT,
            (
                "what is shown, after adjustment for all rows; `changed` of a metric "
                "without a better direction; `same numbers` if nothing differs "
                "beyond rounding"
            ),
            choices=(
                "regressed",
                "improved",
                "changed",
                "no difference shown",
                "same numbers",
                "cannot tell",
            ),
        ),
        "why": Column(
            TEXT,
            "why one cannot tell, and what missing answers could do; else empty",
        ),
        "lacks_answers": Column(
            BOOLEAN,
            "whether missing answers leave the verdict open, or are more than before",
        ),
        "before": Column(
            REAL,
            "mean before over the documents that have both scores",
            null=True,
        ),
        "after": Column(
            REAL,
            "mean after over the same documents",
            null=True,
        ),
        "difference": Column(
            REAL,
            "after less before",
            null=True,
        ),
        "low": Column(
            REAL,
            "lower end of its interval, for other documents, of this row alone",
            null=True,
        ),
        "high": HIGH,
        "least": Column(
            REAL,
            "the smallest difference that missing answers leave possible",
            null=True,
        ),
        "most": Column(
            REAL,
            "the largest such difference",
            null=True,
        ),
        "p": Column(
            REAL,
            "of this row alone, two-sided; null if nothing differs",
            null=True,
        ),
        "p_adjusted": Column(
            REAL,
            "adjusted for all rows: what the verdict rests on",
            null=True,
        ),
        "smallest_p": Column(
            REAL,
            "no p can be smaller with so few documents that differ",
            null=True,
        ),
        "n": Column(INTEGER, "documents that have both scores"),
        "n_changed": Column(INTEGER, "how many of these differ"),
        "n_only_before": Column(
            INTEGER,
            "documents that have the score before alone; left out",
        ),
        "n_only_after": Column(
            INTEGER,
            "documents that have the score after alone; left out",
        ),
        "n_failed_before": Column(INTEGER, "answers that are missing before"),
        "n_failed_after": Column(INTEGER, "answers that are missing after"),
        "better": BETTER,
        "same_recipe": Column(
            BOOLEAN,
            "whether both were measured alike; if not, that may be the cause",
        ),
    },
)

CHANGED_DOCUMENTS = Table(
    name="changed_documents",
    says="the documents behind each row of `changes`: those whose score moved furthest",
    key=("part", "metric", "judge", "author", "position"),
    columns={
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "author": Column(
            TEXT,
            "`reference` or a system's name; of two systems compared, the second",
        ),
        "position": Column(INTEGER, "1 for the document that moved furthest"),
        "doc_id": DOC_ID,
        "before": Column(REAL, "its score before"),
        "after": Column(REAL, "its score after"),
        "difference": Column(REAL, "after less before"),
        "n_failed": Column(INTEGER, "answers that are missing behind these two scores"),
    },
)

HISTORY = Table(
    name="history",
    says="the runs of `metassay watch check` for one benchmark",
    key=("run",),
    columns={
        "run": Column(TEXT, "when it ended: UTC, as 2026-01-05T06:00:12Z"),
        "revision": Column(
            TEXT,
            "git's commit, with + if files differ from it; null without git",
            null=True,
        ),
        "did": Column(
            TEXT,
            "whether anything that its stages read was another than before",
            choices=(
                "run again",
                "nothing to do",
                "failed",
            ),
        ),
        "stages": Column(INTEGER, "stages that were looked at again"),
        "accepted": Column(
            TEXT,
            "the accepted numbers: start of their lock's SHA-256",
            null=True,
        ),
        "compared": Column(
            INTEGER,
            "rows compared with these; null if nothing was",
            null=True,
        ),
        "regressed": Column(
            INTEGER,
            "how many of these got worse",
            null=True,
        ),
        "improved": Column(
            INTEGER,
            "how many got better",
            null=True,
        ),
        "changed": Column(
            INTEGER,
            "how many changed that have no better direction",
            null=True,
        ),
        "cannot_tell": Column(
            INTEGER,
            "of how many one cannot tell",
            null=True,
        ),
        "causes": Column(TEXT_LIST, "what differs from what made the accepted numbers"),
        "certificates": Column(
            INTEGER,
            "certificates with another verdict than accepted",
            null=True,
        ),
        "missing": Column(INTEGER, "answers of language models that are missing"),
        "alarms": Column(
            INTEGER,
            "alarms of the drift sentinel; null without anchors",
            null=True,
        ),
        "status": Column(
            INTEGER,
            (
                "the exit code for this benchmark: 0, 1, 3, 4 or 5 (4, too, for "
                "drift of old)"
            ),
        ),
    },
)

HISTORY_MEANS = Table(
    name="history_means",
    says="the leaderboard's means of whole texts after each run that made them again",
    key=("run", "part", "metric", "judge", "author"),
    columns={
        "run": Column(
            TEXT,
            "the run, as in `history`; a run that is not here has the means before it",
        ),
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "author": AUTHOR,
        "mean": Column(
            REAL,
            "the mean over the documents whose score is defined",
            null=True,
        ),
        "low": Column(
            REAL,
            "lower end of macro's interval, from a bootstrap over documents",
            null=True,
        ),
        "high": Column(
            REAL,
            "upper end of that interval",
            null=True,
        ),
        "n_documents": Column(
            INTEGER,
            "documents for which this author has a row in `scores`",
        ),
        "n_undefined": Column(INTEGER, "how many of these documents have a null score"),
        "n_failed": Column(INTEGER, "the sum of n_failed in `scores`"),
        "better": BETTER,
        "verdict": Column(
            TEXT,
            "beside the accepted mean, as in `changes`; null if not compared",
            null=True,
        ),
        "recipe": RECIPE,
    },
)

ANCHORS = Table(
    name="anchors",
    says=(
        "the questions by which an LLM judge is watched, drawn once: "
        "benchmarks/NAME/sentinel/anchors/. It has keys and answers and no text, so "
        "that it can be committed"
    ),
    key=("pair_id",),
    columns={
        "pair_id": Column(TEXT, "the pair that is asked again; a hash of its texts"),
        "item": Column(
            INTEGER,
            "what was drawn together: all pairs that one item of a metric rests on",
        ),
        "stratum": Column(
            TEXT,
            (
                "what it was drawn from: the questions of some measures, by the "
                "stored verdict; equally many are drawn from each"
            ),
        ),
        "instrument": Column(TEXT, "what is asked of premise and hypothesis"),
        "measure": Column(TEXT, "the question's place in a measure, as in table pairs"),
        "doc_id": DOC_ID,
        "author": AUTHOR,
        "part": PART,
        "verdict": Column(
            TEXT,
            (
                "the stored answer: a label, or a grade as text. Null if the pair is "
                "asked only since others are asked with it"
            ),
            null=True,
        ),
        "repeats": Column(
            TEXT_LIST,
            (
                "the answers of the same judge to the same questions when they were "
                "drawn, one for each repetition; empty where there was none"
            ),
        ),
        "weight": Column(
            REAL,
            "how many of the author's items in this stratum each drawn one stands for",
        ),
        "covered": Column(
            REAL,
            (
                "share of the author's items about such questions that are of strata "
                "of which some were drawn"
            ),
        ),
        "recipe": Column(TEXT, "the judge's signature: its model, prompt and settings"),
        "anchor_set": Column(TEXT, "hash of the questions and their stored verdicts"),
    },
)

DRIFT = Table(
    name="drift",
    says=(
        "every check of an LLM judge against its anchors: "
        "benchmarks/NAME/sentinel/drift.parquet"
    ),
    key=("benchmark", "judge", "when"),
    columns={
        "benchmark": Column(TEXT, "the benchmark that the anchors are of"),
        "judge": JUDGE,
        "when": Column(TEXT, "when it was checked, in UTC: 2026-11-22T06:00:00Z"),
        "state": Column(
            TEXT,
            (
                "what came of it; cannot tell: too many answers are missing, or it "
                "could not be asked; retired: the endpoint has no such model any "
                "more; another judge: params.yaml asks by another model, prompt or "
                "setting than the anchors were answered by, so that nothing was asked"
            ),
            choices=(
                "no alarm",
                "alarm",
                "cannot tell",
                "retired",
                "another judge",
            ),
        ),
        "alarm": Column(BOOLEAN, "whether somebody has to look: alarm or retired"),
        "why": Column(TEXT, "the same in a sentence"),
        "anchor_set": Column(TEXT, "hash of the questions and their stored verdicts"),
        "anchors": Column(INTEGER, "questions with a stored verdict"),
        "answered": Column(INTEGER, "of these, how many have a verdict now"),
        "failed": Column(
            INTEGER,
            "how many have none; they are unknown, and never count as changed",
        ),
        "false_alarm": Column(
            REAL,
            "the stated rate of false alarms per check of one judge",
        ),
        "changed": Column(
            INTEGER,
            "verdicts that differ from the stored ones",
            null=True,
        ),
        "expected": Column(
            REAL,
            "how many would differ by repeated judging alone",
            null=True,
        ),
        "high": Column(
            INTEGER,
            "the most that may be chance",
            null=True,
        ),
        "p_changed": Column(
            REAL,
            "chance of so many or more by repeated judging alone",
            null=True,
        ),
        "shift": Column(
            INTEGER,
            (
                "verdicts that went up (towards the first label, such as entailed, "
                "or a higher grade) less those that went down"
            ),
            null=True,
        ),
        "shift_low": Column(
            INTEGER,
            "the least that may be chance",
            null=True,
        ),
        "shift_high": Column(
            INTEGER,
            "the greatest that may be chance",
            null=True,
        ),
        "p_shift": Column(
            REAL,
            "chance of such a shift, either way, by repeated judging alone",
            null=True,
        ),
        "spent": Column(
            REAL,
            "what the check can have cost at most; null without prices",
            null=True,
        ),
        "currency": Column(
            TEXT,
            "of `spent`",
            null=True,
        ),
    },
)
