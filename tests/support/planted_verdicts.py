"""Whether the certificates of the sample say what was planted in it.

What is expected is computed here from planted/ and the texts, and from no rating and no
table of the meta-evaluation.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from metassay.tables.certificates import CERTIFICATES
from metassay.tables.parquet import read
from metassay.tables.scores import SCORES

KEY = ["doc_id", "author"]
METRIC = ["metric", "judge"]
NAMED = ("claim_recall", "lexical")  # before anybody looked: design > primary


def check_verdicts(data: Path, tables: Path) -> None:
    """Each planted verdict is there, and nothing better is said of what was planted to be bad.

    data: the sample's folder; tables: those of its run.
    """
    rates = json.loads((data / "planted/rates.json").read_text("utf-8"))
    planted = pd.read_csv(data / "planted/statements.csv", keep_default_na=False)
    lines = (data / "texts.jsonl").read_text("utf-8").splitlines()
    texts = (
        pd.DataFrame(map(json.loads, lines))
        .dropna(subset="text")
        .set_index(KEY)["text"]
    )
    scores = read(SCORES, tables / "scores.parquet")
    scores = scores[
        (scores["part"] == "full") & scores["author"].isin(list(rates["systems"]))
    ]
    by_text = scores.pivot_table(index=KEY, columns=METRIC, values="value")
    certificates = read(CERTIFICATES, tables / "certificates.parquet")
    verdicts = certificates.set_index(["criterion", "level", *METRIC])[
        "verdict"
    ].sort_index()

    faults = planted.groupby(KEY)["fault"]
    covered = faults.agg(lambda each: each.isin(["", "invention"]).mean())
    stated = planted[planted["fault"] != "omission"].groupby(KEY)["fault"]
    wrong = stated.agg(lambda each: each.ne("").mean())
    words = np.log2(texts.str.split().str.len())

    # One metric sees what is covered, of any two texts and of any two systems.
    assert between_systems(by_text, covered)[NAMED] > 0.95
    assert within_documents(by_text, covered)[NAMED] > 0.6
    for level in ("global", "document"):
        assert verdicts["completeness", level, *NAMED] == "use", level
    # With eight systems, the interval for three criteria at once begins near 0.
    assert verdicts["completeness", "system", *NAMED] == "promising"

    # Usefulness was drawn from length alone: what goes with length within documents
    # sees no more.
    length = within_documents(by_text, words)
    usefulness = verdicts["usefulness", "document"]
    follow = usefulness[usefulness.index.isin(length[length > 0.5].index)]
    oppose = usefulness[usefulness.index.isin(length[length < -0.4].index)]
    assert len(follow) >= 3
    assert set(follow) == {"explained by words"}, follow
    assert "contrary" in set(oppose), oppose
    assert set(oppose) <= {"contrary", "too weak", "cannot tell"}, oppose

    # Some metric sees what is preferred, fewer faults; 8 systems are too few to show
    # which one.
    seen = between_systems(by_text, -wrong)
    assert seen.max() > 0.6
    preference = verdicts["preference", "system"]
    assert preference[seen[preference.index].idxmax()] == "cannot tell"
    assert set(preference) <= {"cannot tell", "too weak"}, preference


def within_documents(by_text: pd.DataFrame, truth: pd.Series) -> pd.Series:
    """Pearson's correlation of each metric with the truth among a document's texts, on average."""
    joined = by_text.reindex(truth.index.intersection(by_text.index))
    with np.errstate(all="ignore"):  # a metric that is the same for all texts has none
        each = [
            rows.corrwith(truth.reindex(rows.index))
            for _, rows in joined.groupby("doc_id")
        ]
    return pd.concat(each, axis=1).mean(axis=1)


def between_systems(by_text: pd.DataFrame, truth: pd.Series) -> pd.Series:
    """The same of the systems' means."""
    return by_text.groupby("author").mean().corrwith(truth.groupby("author").mean())
