"""`metassay.meta_eval` and the command: one way, two doors; other names, slices, ratings alone."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal

import metassay
from metassay.api.eval_request import LARGEST
from metassay.api.example import ARGUMENTS, example
from metassay.api.reading import EVERYBODY
from metassay.cli.main import main, parser
from metassay.cli.parsing import spread
from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.meta_evaluation.analysis import Evaluation
from metassay.meta_evaluation.evaluate import evaluate
from metassay.reporting.contract_page import TABLES
from metassay.reporting.sentences import make_certificates
from metassay.tables.parquet import round_trip
from tests.api.small_study import FEW, TEXT, choices, problems, put


def saved(folder: Path | str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).glob("*.csv")}


def test_files_and_frames_give_the_same_bytes(here, frames, no_page) -> None:
    put(*frames)
    words = "--lower noise scores.csv --lower grade --scale grade=ordinal ratings.csv --resamples"
    words += " 20 --permutations 100 --confound words --out out"
    assert main(["meta-eval", *words.split()]) == 0
    options: dict[str, Any] = {
        "scale": {"grade": "ordinal"},
        "confounds": "words",
        **FEW,
    }
    results = metassay.meta_eval(*frames, lower=["noise", "grade"], **options)
    results.save(here / "frames")
    assert saved("out") == saved("frames")
    assert len(saved("out")) == len(results.tables) > 5
    of_files = choices()
    assert of_files["better"] == {
        "good": "higher",
        "noise": "lower",
        "words": "neither",
    }
    assert of_files["criteria"]["grade"]["better"] == "lower"
    assert of_files["options"]["confounds"] == ["words"]
    assert of_files["columns"]["doc"] == "doc_id"
    assert of_files | {"scores": 0, "ratings": 0} == choices("frames") | dict(
        scores=0, ratings=0
    )
    with pytest.raises(BadInput, match="holds something already"):
        results.save(here / "frames")


@pytest.mark.parametrize("kind", ["long, shuffled, nullable", "whole keys, objects"])
def test_one_study_in_other_frames_has_the_same_tables(
    frames, results, kind: str
) -> None:
    scores, ratings = frames
    if kind == "whole keys, objects":
        # One frame has '3' and the other 3.0 where both had 3.
        number = [frame["doc_id"].str[1:] for frame in frames]
        keyed = (
            f.assign(doc_id=n.astype(int)) for f, n in zip(frames, number, strict=True)
        )
        results = metassay.meta_eval(*keyed, **FEW)
        scores = (
            scores.assign(doc_id=number[0]).astype("object").where(scores.notna(), None)
        )
        grades = [repr(grade) for grade in ratings["grade"]]
        ratings = ratings.assign(doc_id=number[1].astype(float), grade=grades)
    else:
        long = (
            scores.melt(TEXT, var_name="metric"),
            ratings.melt([*TEXT, "rater"], None, "criterion"),
        )
        scores, ratings = (
            f.sample(frac=1, random_state=3).convert_dtypes() for f in long
        )
    other = metassay.meta_eval(scores, ratings, **FEW)
    for name, table in results.tables.items():
        assert_frame_equal(other.tables[name], table)


def test_the_stage_and_the_files_give_the_same_digits(frames) -> None:
    """Sums in another order are a rounding error apart; that is a tie through both doors."""
    scores, ratings = frames
    noise = [0.1 + 0.2 if row % 2 else 0.3 for row in range(len(scores))]
    scores = scores.assign(noise=noise, good=scores["good"] / 3)
    ratings = ratings.assign(grade=ratings["grade"] / 7)
    ratings.loc[[3, 11], "grade"] = np.nan
    results = metassay.meta_eval(scores, ratings, **FEW)
    long = scores.rename(columns={"system": "author"}).melt(
        ["doc_id", "author"], None, "metric"
    )
    of_stage = long.assign(
        part="full", judge="none", low=long["value"], high=long["value"], n_expected=1, n_judged=1,
        n_failed=0, statistics=None, recipe="by hand",
    )  # fmt: skip
    rated = ratings.rename(columns={"system": "author", "grade": "value"})
    rated = rated.assign(study="ratings", part="full", unit="text", criterion="grade")
    stored = (
        round_trip(TABLES["scores"], of_stage),
        round_trip(TABLES["ratings"], rated),
    )
    criteria = {"grade": Criterion(low=-10, high=10, better="higher", scale="interval")}
    tables = evaluate(
        Evaluation(*stored, criteria, results.choices["better"], results.options)
    )
    numbers = round_trip(TABLES["evidence"], tables.pop("evidence"))
    tables["certificates"] = make_certificates(numbers, results.certification)
    for name, table in tables.items():
        ours, theirs = (
            frame.drop(columns="recipe", errors="ignore")
            for frame in (results.tables[name], round_trip(TABLES[name], table))
        )
        assert_frame_equal(ours, theirs)
    assert results.correlations.query("metric == 'noise'")["value"].isna().all()


def test_numbers_are_not_taken_through_texts(frames) -> None:
    scores, ratings = frames
    narrow = scores["good"].astype("float32")
    each = [scores.assign(good=good) for good in (narrow, narrow.astype("float64"))]
    assert_frame_equal(
        *(metassay.meta_eval(s, ratings, **FEW).correlations for s in each)
    )


def test_faults_of_both_frames_come_at_once_with_their_labels(frames) -> None:
    scores, ratings = frames
    wrong = scores.set_index(pd.Index([f"row {n}" for n in range(len(scores))]))
    wrong["good"] = wrong["good"].astype("object")
    wrong.loc["row 3", "good"] = "a text of somebody who wrote it"
    wrong.loc["row 4", "noise"] = np.inf
    lines = problems(wrong, pd.concat([ratings, ratings.iloc[[5]]]))
    starts = (
        "scores: row 'row 3': 'good' is not a finite number; write",
        "scores: row 'row 4': 'noise' is 'inf', which is not a finite number",
        "ratings: row 5: the same doc_id, system, rater a second time",
    )
    assert [line[: len(start)] for line, start in zip(lines, starts, strict=True)] == [
        *starts
    ]
    assert "somebody" not in "".join(lines)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda s: s.rename(columns={"good": 3}),
            "1 column(s) are not named by texts, the first",
        ),
        (lambda s: s.iloc[:0], "scores: has no row"),
        (
            lambda s: s.set_axis([*TEXT, "m", "m", "n"], axis=1),
            "scores: column 'm' occurs twice",
        ),
        (lambda s: s.assign(doc_id=None), "40 rows: 'doc_id' is empty (first: row 0);"),
        (lambda s: s.assign(author="a"), "both of the columns 'system' and 'author'"),
        (
            lambda s: s.drop(columns="doc_id"),
            "column 'doc_id' is missing; name it in the header, ",
        ),
    ],
)
def test_what_is_wrong_with_a_frame(frames, change, message: str) -> None:
    assert any(message in line for line in problems(change(frames[0]), frames[1]))


def test_ratings_are_needed_and_options_known(frames) -> None:
    assert "meta_eval(ratings=...)" in problems(frames[1])[0]
    (line,) = problems(*frames, resample_count=3)
    assert "resample_count=: unknown key; remove it" in line
    assert "did you mean 'resample'?" in line
    lines = problems(
        *frames, confounds=["words", "good", "noise"], lower=["words", "gud"]
    )
    known = "there are: 'good', 'noise', 'words', 'grade'"
    assert f"lower='gud': no metric or criterion has this name; {known}" in lines[0]
    assert "confounds='words': lower= names it, too" in lines[1]
    assert "confounds=: every column of scores is a confound" in lines[2]


def test_columns_may_have_other_names(here, frames, results, no_page) -> None:
    """In both files, through the one door; in one of them each, through the other."""
    scores, ratings = frames
    names = {"doc_id": "id", "system": "model", "rater": "who"}
    both = [frame.rename(columns=names) for frame in frames]
    other = metassay.meta_eval(*both, doc="id", system="model", rater="who", **FEW)
    assert_frame_equal(other.certificates, results.certificates)
    renamed = scores.rename(columns={"system": "model"})
    words = put(renamed, ratings.rename(columns={"rater": "who", "doc_id": "id"}))
    options = ["--columns", "doc=id", "system=model", "rater=who", "--out", "out"]
    assert main([*words, *options]) == 0
    certificates = results.certificates.to_csv(index=False).encode()
    assert saved("out")["certificates.csv"] == certificates


def test_names_that_no_file_has_or_both(here, frames, capsys) -> None:
    words = put(frames[0].assign(id="x"), frames[1])
    assert main([*words, "--columns", "doc=id", "system=model", "rater=doc_id"]) == 2
    lines = capsys.readouterr().err
    assert (
        "--columns system=model: there is no such column: scores.csv has 'doc_id',"
        in lines
    )
    assert (
        "; ratings.csv has 'doc_id', 'system', 'rater', 'grade'; name one of them"
        in lines
    )
    assert (
        "scores.csv: line 1: has both of the columns 'id' and 'doc_id'; remove one, or"
        in lines
    )
    assert main([*put(*frames), "--columns", "doc=system"]) == 2
    line = capsys.readouterr().err
    assert (
        "column 'system' is named for two of document, system, rater and --by" in line
    )


def test_a_system_that_one_file_lacks_is_an_error_and_both_a_note(
    here, frames, capsys
) -> None:
    scores, ratings = frames
    assert main(put(scores.drop(columns="system"), ratings)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert (
        "scores.csv: line 1: column 'system' is missing; add it, or say which" in line
    )
    assert "ratings.csv has 'system'; only where both files lack it" in line
    alone = [frame[frame["system"] == "a"].drop(columns="system") for frame in frames]
    results = metassay.meta_eval(*alone, **FEW)
    note = "neither file has a column 'system': all texts count as one system's"
    assert any(note in line for line in results.notes)
    rows = results.certificates.query("metric == 'good' and level == 'global'")
    assert rows["value"].item() > 0.3
    line = problems(scores.drop(columns="system"), alone[1])[0]
    assert "keep one row, or add a column 'system'" in line


def test_a_form_that_asks_for_a_name_has_a_rater(frames) -> None:
    scores, ratings = frames
    named = ratings.rename(columns={"rater": "Your name"})
    assert len(metassay.meta_eval(scores, named, **FEW).agreement)
    (line,) = problems(scores, ratings.rename(columns={"rater": "initials"}))
    assert (
        "keep one row, or name the column that says who rated: rater='COLUMN'" in line
    )


def test_a_misnamed_system_is_named(here, frames, results, capsys) -> None:
    scores, ratings = frames
    ratings = ratings.replace({"system": {"gpt-4": "GPT4"}, "doc_id": {"d9": "d09"}})
    assert main(put(scores, ratings)) == 0
    printed = capsys.readouterr().out
    for line in (
        "ratings.csv names system 'GPT4' (20 rows) that scores.csv does not have; did you mean",
        "scores.csv names system 'gpt-4' (10 rows) that ratings.csv does not",
        "ratings.csv and scores.csv spell 1 document differently (first: 'd09'",
    ):
        assert f"WARNING: {line}" in printed
    assert printed.index("WARNING") < printed.index("texts with scores and ratings")
    lines = problems(scores, ratings.assign(system="x" + ratings["system"]))
    assert "nothing to compare" in lines[0]
    assert any("names system 'xa'" in line for line in lines)
    assert set(results.table("warnings")["kind"]) == {"size"}


def test_slices_are_studies_of_their_own(frames, results) -> None:
    scores, ratings = frames
    scores = scores.assign(section=np.where(scores["doc_id"] < "d5", "plan", "exam"))
    sliced = metassay.meta_eval(scores, ratings, by="section", **FEW)
    plan = [frame[frame["doc_id"] < "d5"] for frame in frames]
    name = "ratings, section=plan"
    alone = metassay.meta_eval(plan[0], plan[1].assign(study=name), **FEW)

    def of_study(table: pd.DataFrame, study: str) -> pd.DataFrame:
        rows = table[table["study"] == study].reset_index(drop=True)
        return rows.drop(columns="recipe", errors="ignore")

    tables = (
        "certificates",
        "correlations",
        "agreement",
        "confounds",
        "raters",
        "significance",
    )
    for key in tables:
        table = sliced.tables[key]
        studies = ["ratings", "ratings, section=exam", name]
        assert sorted(table["study"].unique()) == studies, key
        assert_frame_equal(
            of_study(table, "ratings"), of_study(results.tables[key], "ratings")
        )
    assert_frame_equal(
        of_study(sliced.certificates, name), of_study(alone.certificates, name)
    )
    assert "slices by section, with their texts: exam (20), plan (20)" in sliced.notes
    fewer = metassay.meta_eval(scores, plan[1], by="section", **FEW)
    assert "section=exam: no text with scores and ratings: not evaluated" in fewer.notes
    assert "ratings, section=exam" not in set(fewer.certificates["study"])


def test_slices_of_texts_missing_and_too_few(frames) -> None:
    scores, ratings = frames
    kinds = ratings.assign(kind=ratings["system"].map({"a": "x", "b": "y", "c": "y"}))
    kinds = kinds[kinds["doc_id"] != "d9"]
    kinds.loc[kinds["doc_id"] == "d0", "kind"] = np.nan
    kinds.loc[(kinds["doc_id"] == "d1") & (kinds["system"] == "a"), "kind"] = "rare"
    results = metassay.meta_eval(
        scores.assign(lang="en"), kinds, by=["kind", "lang"], **FEW
    )
    assert "slices by kind, with their texts: rare (1), x (7), y (16)" in results.notes
    # Those of d0, those by gpt-4, and those of d9, whose slice differs within
    # documents.
    assert "16 texts without kind: in no slice, only in the whole" in results.notes
    rare = results.certificates[results.certificates["study"] == "ratings, kind=rare"]
    assert len(rare)
    assert rare["value"].isna().all()
    assert "ratings, lang=en" in set(results.certificates["study"])


def test_one_text_has_one_value_and_a_column_few(here, frames, capsys) -> None:
    scores, ratings = frames
    other = ratings.assign(section=["exam", *["plan"] * (len(ratings) - 1)])
    assert main([*put(scores.assign(section="plan"), other), "--by", "section"]) == 2
    line = capsys.readouterr().err
    assert (
        "ratings.csv: line 2: 'section' differs from another row of the same text"
        in line
    )
    assert "('d0'/'a'/'full'); give each text one value" in line
    many = pd.concat([scores.assign(doc_id=f"{n}", page=n) for n in range(60)])
    rated = ratings.assign(doc_id="1").drop_duplicates([*TEXT, "rater"])
    (line,) = problems(many.drop_duplicates(TEXT), rated, by="page")
    assert line == "by='page': has 60 values; slice by a column of 50 at most"
    assert "'rater' is named for two of" in problems(scores, ratings, by="rater")[0]
    (line,) = problems(scores, ratings, by="metric")
    assert "by='metric': there is no such column: scores has 'doc_id'," in line


def test_ratings_alone_are_agreement_and_means(here, frames, results, capsys) -> None:
    ratings = frames[1]
    assert main([*put(None, ratings), "--scale", "grade=ordinal", "--out", "out"]) == 0
    assert set(saved("out")) == {"agreement.csv", "raters.csv", "warnings.csv"}
    raters = pd.read_csv(here / "out/raters.csv").set_index(["rater", "author"])
    for rater, rows in ratings.groupby("rater"):
        grade, of_a = rows["grade"], rows.loc[rows["system"] == "a", "grade"]
        expected = len(grade), np.mean(grade), np.std(grade, ddof=1)
        assert_allclose(
            raters.loc[(rater, EVERYBODY), ["n", "mean", "sd"]].tolist(), expected
        )
        assert raters.loc[(rater, "a"), "mean"] == pytest.approx(of_a.mean(), abs=1e-12)
    assert raters.loc[(EVERYBODY, EVERYBODY), "n"] == len(ratings)
    alone = metassay.meta_eval(ratings=ratings, **FEW)
    assert_frame_equal(alone.agreement, results.agreement)
    assert_frame_equal(alone.raters, results.raters)
    printed = capsys.readouterr().out
    assert "SD (n − 1)" in printed
    assert "krippendorff_alpha_ordinal" in printed
    assert main([*put(None, ratings), "--compared", "good"]) == 2
    assert "name SCORES before RATINGS" in capsys.readouterr().err
    assert alone.answer == ()
    assert "agreement" in repr(alone)
    assert alone._repr_html_().count("<p>") == len(repr(alone).splitlines())


@pytest.mark.parametrize(
    "words",
    [
        "scores.csv ratings.csv --lower noise words",
        "--lower noise,words scores.csv ratings.csv",
        "--lower noise --lower=words -- scores.csv ratings.csv",
        "--lower noise scores.csv --lower words ratings.csv",
        "scores.csv --lower noise words ratings.csv",
        "--lower noise words scores.csv --seed 0 ratings.csv",
        "--seed 0 --lower noise words --seed 0 scores.csv ratings.csv",
        "--lower noise words --scale grade=ordinal a=nominal scores.csv ratings.csv",
    ],
)
def test_names_end_where_files_begin(here, words: str) -> None:
    chosen = parser().parse_args(spread(["meta-eval", *words.split()]))
    assert chosen.files == [Path("scores.csv"), Path("ratings.csv")]
    assert chosen.lower == ["noise", "words"]
    assert chosen.scale in ([], ["grade=ordinal", "a=nominal"])


def test_what_is_a_name_and_what_a_file(here) -> None:
    (here / "noise").touch()
    (here / "made up").touch()
    for words, names, files in (
        (("--lower", "noise", "made up", "x"), ["noise"], ["made up", "x"]),
        (("--lower", "a", "B.TSV", "c.parquet"), ["a"], ["B.TSV", "c.parquet"]),
        (("--lower=a.csv", "b.csv"), ["a.csv"], ["b.csv"]),
        (("--lower", "a", "b.x", "--", "-c", "--d"), ["a", "b.x"], ["-c", "--d"]),
    ):
        chosen = parser().parse_args(spread(["meta-eval", *words]))
        assert (chosen.lower, [str(file) for file in chosen.files]) == (names, files)
    assert spread(["ledger", "import", "--", "a"]) == ["ledger", "import", "--", "a"]


@pytest.mark.parametrize(
    "words", ["a.csv b.csv", "a.csv b.csv --lower", "--by section", "--"]
)
def test_an_option_without_a_name_says_so(here, capsys, words: str) -> None:
    code: object = 0
    try:
        code = main(["meta-eval", "--lower", *words.split()])
    except SystemExit as stopped:
        code = stopped.code
    assert code == 2
    assert "--lower: " in capsys.readouterr().err


def test_the_example_is_what_it_says(here, capsys) -> None:
    assert main(["meta-eval", "--example", "study"]) == 0
    command = f"metassay meta-eval {ARGUMENTS} --out results"
    assert f"  {command}\n" in capsys.readouterr().out
    assert command in (here / "study/README.md").read_text("utf-8")
    assert main(["meta-eval", "--example", "again"]) == 0
    for file in (here / "study").iterdir():
        assert file.read_bytes() == (here / "again" / file.name).read_bytes()
    assert main(["meta-eval", "--example", "study"]) == 2
    assert "--example" in capsys.readouterr().err
    scores, ratings = example()
    assert len(scores) == 240
    assert len(scores.columns) - len(TEXT) < LARGEST
    results = metassay.meta_eval(
        scores, ratings, lower=["errors"], compared=[], resamples=100
    )
    rows = results.correlations[results.correlations["coefficient"] == "pearson"]
    value = rows.set_index(["criterion", "level", "metric"])["value"]
    assert value["faithful", "document", "entails"] > 0.6
    assert value["faithful", "system", "fluency"] > 0.9
    assert (
        value["faithful", "document", "fluency"]
        < value["faithful", "document", "entails"]
    )
    assert abs(value["faithful", "global", "readability"]) < 0.15
    assert value["errors", "global", "entails"] < -0.4
    assert value["faithful", "global", "binary"] > 0.4


def test_a_result_shows_its_answer() -> None:
    """Of eight systems, one metric follows people and the other knows nothing."""
    rng = np.random.default_rng(3)
    keys = pd.DataFrame(product([f"d{n}" for n in range(30)], "abcdefgh"), columns=TEXT)
    quality = rng.normal(size=(30, 1)) + rng.normal(size=(30, 8)) + np.arange(8)
    follows = quality.ravel() + 0.2 * rng.normal(size=240)
    scores = keys.assign(**{"<b>follows</b>": follows, "idle": rng.normal(size=240)})
    rated = keys.assign(rater="r", grade=quality.ravel())
    results = metassay.meta_eval(scores, rated, permutations=500)
    assert len(results.answer) == 3
    assert all(
        "<b>follows</b>" in line and "idle" not in line for line in results.answer
    )
    assert repr(results).splitlines()[:3] == list(results.answer)
    shown = results._repr_html_()
    assert "<b>" not in shown
    assert shown.count("&lt;b&gt;follows") == 3
    assert (
        results.table("certificates")
        is results.certificates
        is results.tables["certificates"]
    )
    assert "raters" in dir(results)
    with pytest.raises(
        AttributeError, match="no table is called 'certificate' here; there are: d"
    ):
        results.table("certificate")
