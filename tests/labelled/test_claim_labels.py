"""Labelled claims: the three files, what is wrong with them, the sample, and the real set."""

from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.labelled.examine import examine
from metassay.labelled.ingest import IngestedItems, ingest_items
from metassay.labelled.results import cards_of, kinds_table
from metassay.labelled.types import chosen_test as type_of
from metassay.meta_evaluation.options import MetaOptions
from metassay.reporting import judge_test
from metassay.reporting.judge_test import kinds_verdict
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.parquet import empty

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data/sample_claims"
CLAIMS = """item,premise,hypothesis,cluster
c1,Lungs are clear.,The lungs are clear.,note-1
c2,Lungs are clear.,He has pneumonia.,note-1
"""
LABELS = """item,rater,label
c1,ann,entailed
c2,ann,not_entailed
"""


def put(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in ({"claims": CLAIMS, "labels": LABELS} | files).items():
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    return folder


def ingested(
    folder: Path, *, judges: list[str] | None = None, reader: str = "claim_labels"
) -> IngestedItems:
    test = type_of("claim_labels", {"subsets": [], "sample": None}, where="params.yaml")
    return ingest_items(test, reader, folder, dataset="mine", judges=judges or [])


def problems(folder: Path, judges: list[str] | None = None) -> list[str]:
    with pytest.raises(BadInput) as caught:
        ingested(folder, judges=judges)
    return list(caught.value.problems)


def test_texts_may_be_left_out_where_no_judge_reads_them(tmp_path: Path) -> None:
    folder = put(
        tmp_path / "mine",
        claims="item,subset\nc1,easy\nc2,hard\n",
        verdicts="item,judge,probability\nc1,mini,0.9\nc2,mini,0.2\n",
    )
    made = ingested(folder)
    assert len(made.pairs) == 0
    assert made.gold["subset"].tolist() == ["easy", "hard"]
    assert made.verdicts["probability"].tolist() == [0.9, 0.2]
    assert made.verdicts["label"].isna().all()
    fix = "add it, or write judges: [] to examine given verdicts alone"
    assert problems(folder, ["lexical"]) == [
        f"claims.csv: 2 lines: has no {what} for judges to read (first: line 2, item 'c1'); {fix}"
        for what in ("premise", "hypothesis")
    ]


def test_a_kind_is_optional_and_given_to_all_claims_or_none(tmp_path: Path) -> None:
    assert set(ingested(put(tmp_path / "mine")).gold["kind"]) == {"full"}
    head = "item,premise,hypothesis,kind\n"
    claims = head + "c1,Lungs are clear.,Clear lungs.,synonym\nc2,Lungs are clear.,Wheeze.,{}\n"
    made = ingested(put(tmp_path / "mine", claims=claims.format("negation")))
    assert made.gold["kind"].tolist() == ["synonym", "negation"]
    for kind in ("", "full"):
        assert problems(put(tmp_path / "mine", claims=claims.format(kind))) == [
            "claims.csv: line 3: has no kind, and other claims have one (item 'c2');"
            " give each claim a kind, such as 'other', or none"
        ]
    (taken,) = problems(put(tmp_path / "mine", claims=claims.format("all kinds")))
    assert "line 3: the kind's name is taken ('all kinds')" in taken


def test_kinds_of_one_answer_have_a_share_detected_or_false_alarms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of kind `drug` all claims are not entailed, of `synonym` all are, of `mixed` one of two."""
    rows = {  # item: kind, right answer, verdict
        "c1": ("drug", "not_entailed", "not_entailed,ok"),
        "c2": ("drug", "not_entailed", "entailed,ok"),
        "c3": ("drug", "not_entailed", "not_entailed,ok"),
        "c4": ("drug", "not_entailed", ",abstained"),
        "c5": ("synonym", "entailed", "not_entailed,ok"),
        "c6": ("synonym", "entailed", "entailed,ok"),
        "c7": ("mixed", "entailed", "entailed,ok"),
        "c8": ("mixed", "not_entailed", "not_entailed,ok"),
    }
    made = ingested(
        put(
            tmp_path / "mine",
            claims="item,kind\n" + "".join(f"{c},{k}\n" for c, (k, _, _) in rows.items()),
            labels="item,rater,label\n" + "".join(f"{c},me,{r}\n" for c, (_, r, _) in rows.items()),
            verdicts="item,judge,label,status\n"
            + "".join(f"{c},mine,{said}\n" for c, (_, _, said) in rows.items()),
        )
    )
    options = MetaOptions(resamples=20, confidence=0.95, seed=1)
    tables = made.pairs, empty(JUDGMENTS), made.gold, made.ratings, made.verdicts
    cards = cards_of(examine(*tables, options).cards, {"me"})
    table = kinds_table(cards)
    found = {
        (row["kind"], row["measure"]): (row["value"], row["n"], row["n_abstained"])
        for row in table[table["judge"] == "mine"].to_dict("records")
    }
    assert found == {
        ("drug", "detected"): (pytest.approx(2 / 3), 3, 1),
        ("synonym", "false alarms"): (0.5, 2, 0),
        ("mixed", "detected"): (1.0, 1, 0),
        ("mixed", "false alarms"): (0.0, 1, 0),
        ("all kinds", "detected"): (0.75, 4, 1),
        ("all kinds", "false alarms"): (pytest.approx(1 / 3), 3, 0),
    }
    (said,) = kinds_verdict(cards, table, ["mine"])
    assert "of 4 items (1 more without an answer), and" in said  # no kind has five items
    assert said.endswith("of 3 items.")
    monkeypatch.setattr(judge_test, "FEWEST_OF_KIND", 1)
    (said,) = kinds_verdict(cards, table, ["mine"])
    assert "of 4 items (1 more without an answer; least: drug, .67 of 3)" in said
    assert said.endswith("of 3 items (most: synonym, .50 of 2).")


def test_what_is_wrong_in_the_files_is_told_by_line(tmp_path: Path) -> None:
    folder = put(
        tmp_path / "mine",
        claims=CLAIMS + " c3,Again.,B.,\n",
        labels=LABELS + "C2,ben,entailed\nc1,ben,yes\n",
        verdicts="item,judge,label,probability\nc1,mini,maybe,\nc2,maxi,,high\n",
    )
    texts = "\n".join(problems(folder, ["lexical"]))
    for said in (
        "claims.csv: line 4: 'item' has blanks at an end",
        "labels.csv: line 4: the item is not there (item 'C2', which looks like 'c2')",
        "labels.csv: line 5: 'label' is wrong: input should be 'entailed', 'not_entailed' or ''",
        "verdicts.csv: line 2: 'label' is wrong",
        "verdicts.csv: line 3: 'probability' is not a finite number; write a number from 0 to 1",
    ):
        assert said in texts, said
    assert "Lungs" not in texts
    assert "Again" not in texts


def test_a_missing_or_misspelt_file_is_named(tmp_path: Path) -> None:
    folder = put(tmp_path / "mine", verdict="item,judge,label\nc1,mini,entailed\n")
    (warning,) = ingested(folder).warnings
    assert warning.startswith("verdict.csv: is not read; rename it if it is one of claims.csv")
    (folder / "labels.csv").unlink()
    (missing,) = problems(folder)
    assert missing.startswith("labels.csv: is not in")
    assert "docs/benchmarks.md" in missing
    assert "is not a folder" in problems(tmp_path / "nowhere")[0]


def test_absent_verdicts_are_a_warning(tmp_path: Path) -> None:
    folder = put(
        tmp_path / "mine",
        verdicts="item,judge,label\nc1,mini,entailed\n",
    )
    (absent,) = ingested(folder).warnings
    assert "'mini' has no verdict on 1 of 2 claims (first: item 'c2')" in absent


def test_a_sample_takes_its_labels_and_verdicts_along() -> None:
    options = {"subsets": ["invented"], "sample": {"items": 5, "seed": 3}}
    test = type_of("claim_labels", options, where="params.yaml")
    made = ingest_items(test, "claim_labels", SAMPLE, dataset="sample_claims")
    items = set(made.gold["item"])
    assert len(items) == 5
    assert set(made.ratings["doc_id"]) == items == set(made.verdicts["item"])


def test_xsum_factuality(mirror: Path) -> None:
    """The released score on what people were asked about; articles are not there."""
    made = ingested(mirror / "xsum_hallucination", reader="xsum_factuality")
    assert len(made.pairs) == 0
    assert made.gold["subset"].value_counts().to_dict() == {
        "trans2s": 475,
        "tconvs2s": 475,
        "berts2s": 460,
        "ptgen": 459,
    }
    assert made.gold["label"].value_counts().to_dict() == {"not_entailed": 1672, "entailed": 185}
    assert len(made.ratings) == 5597
    assert set(made.verdicts["judge"]) == {"released_entailment"}
    assert made.verdicts["probability"].between(0, 1).all()
    assert len(made.verdicts) == 1862
