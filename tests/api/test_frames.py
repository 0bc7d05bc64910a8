"""`metassay.meta_eval` and the command: one way, two doors; other names, slices, ratings alone."""

import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import metassay
from metassay.api.eval_request import LARGEST
from metassay.api.example import ARGUMENTS, example
from metassay.api.meta_eval import MetaEvaluation
from metassay.api.reading import EVERYBODY
from metassay.api.slices import LARGEST as MOST_SLICES
from metassay.cli.main import main, parser
from metassay.cli.parsing import spread
from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.meta_evaluation.analysis import Evaluation
from metassay.meta_evaluation.evaluate import evaluate
from metassay.reporting.contract_page import TABLES
from metassay.reporting.sentences import make_certificates
from metassay.tables.parquet import read, write
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES

FEW: dict[str, Any] = {"resamples": 20, "permutations": 20}
OPTIONS = ["--resamples", "20", "--permutations", "20"]
TEXT = ["doc_id", "system"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture(scope="module")
def given() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Four systems on ten documents: two metrics and a length, two raters, some of it missing."""
    rng = np.random.default_rng(8)
    texts = [(f"d{d}", system) for d in range(10) for system in ("a", "b", "c", "gpt-4")]
    keys = pd.DataFrame(texts, columns=TEXT)
    quality = rng.normal(size=len(texts))
    scores = keys.assign(
        good=(quality + 0.5 * rng.normal(size=len(texts))).round(2),
        noise=rng.normal(size=len(texts)),
        size=rng.integers(10, 40, len(texts)),
    )
    scores.loc[7, "good"] = np.nan
    each = [
        keys.assign(rater=rater, grade=np.round(2 * quality + rng.normal(size=len(texts))))
        for rater in ("ann", "bob")
    ]
    return scores, pd.concat(each, ignore_index=True)


@pytest.fixture(scope="module")
def found(given) -> MetaEvaluation:
    """What the study gives as it is."""
    return metassay.meta_eval(*given, **FEW)


def put(here: Path, scores: pd.DataFrame | None, ratings: pd.DataFrame) -> list[str]:
    ratings.to_csv(here / "ratings.csv", index=False)
    if scores is None:
        return ["meta-eval", "ratings.csv", *OPTIONS]
    scores.to_csv(here / "scores.csv", index=False)
    return ["meta-eval", "scores.csv", "ratings.csv", *OPTIONS]


def saved(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".csv"}


def problems(*arguments: Any, **options: Any) -> list[str]:
    with pytest.raises(BadInput) as caught:
        metassay.meta_eval(*arguments, **options)
    return list(caught.value.problems)


def test_files_and_frames_give_the_same_bytes(here: Path, given, no_page) -> None:
    scores, ratings = given
    put(here, scores, ratings)
    words = ["--lower", "noise", "scores.csv", "--lower", "grade", "--scale", "grade=ordinal"]
    words += ["ratings.csv", *OPTIONS, "--confound", "size", "--out", "files"]
    assert main(["meta-eval", *words]) == 0
    options: dict[str, Any] = {"scale": {"grade": "ordinal"}, "confounds": "size", **FEW}
    found = metassay.meta_eval(scores, ratings, lower=["noise", "grade"], **options)
    found.save(here / "frames")
    assert saved(here / "files") == saved(here / "frames")
    assert len(saved(here / "files")) == len(found.tables) > 5
    choices = [
        json.loads((here / f"{one}/choices.json").read_text()) for one in ("files", "frames")
    ]
    assert choices[0]["better"] == {"good": "higher", "noise": "lower", "size": "neither"}
    assert choices[0]["criteria"]["grade"]["better"] == "lower"
    assert choices[0]["options"]["confounds"] == ["size"]
    assert choices[0]["columns"]["doc"] == "doc_id"
    assert choices[0] | {"scores": 0, "ratings": 0} == choices[1] | {"scores": 0, "ratings": 0}
    with pytest.raises(BadInput, match="holds something already"):
        found.save(here / "frames")


@pytest.mark.parametrize("kind", ["long, shuffled, nullable", "whole keys, objects"])
def test_one_study_in_other_frames_has_the_same_tables(given, found, kind: str) -> None:
    scores, ratings = given
    expected = found
    if kind == "whole keys, objects":
        # One frame has '3' and the other 3.0 where both had 3.
        whole = (one.assign(doc_id=one["doc_id"].str[1:].astype(int)) for one in given)
        expected = metassay.meta_eval(*whole, **FEW)
        scores = scores.assign(doc_id=scores["doc_id"].str[1:])
        scores = scores.astype("object").where(scores.notna(), None)
        ratings = ratings.assign(
            doc_id=ratings["doc_id"].str[1:].astype(float),
            grade=[repr(one) for one in ratings["grade"]],
        )
    else:
        scores = scores.melt(TEXT, var_name="metric").sample(frac=1, random_state=3)
        ratings = ratings.melt([*TEXT, "rater"], var_name="criterion")
        ratings = ratings.sample(frac=1, random_state=3)
        scores, ratings = scores.convert_dtypes(), ratings.convert_dtypes()
    other = metassay.meta_eval(scores, ratings, **FEW)
    for name, table in expected.tables.items():
        pd.testing.assert_frame_equal(other.tables[name], table)


def test_the_stage_and_the_files_give_the_same_digits(here: Path, given) -> None:
    """Sums in another order are a rounding error apart; that is a tie through both doors."""
    scores, ratings = given
    scores = scores.assign(
        noise=[0.1 + 0.2 if row % 2 else 0.3 for row in range(len(scores))],
        good=scores["good"] / 3,
    )
    ratings = ratings.assign(grade=ratings["grade"] / 7)
    ratings.loc[[3, 11], "grade"] = np.nan
    long = scores.rename(columns={"system": "author"}).melt(["doc_id", "author"], var_name="metric")
    of_stage = long.assign(
        part="full", judge="none", low=long["value"], high=long["value"], n_expected=1, n_judged=1,
        n_failed=0, statistics=None, recipe="by hand",
    )  # fmt: skip
    rated = ratings.rename(columns={"system": "author", "grade": "value"})
    rated = rated.assign(study="ratings", part="full", unit="text", criterion="grade")
    write(SCORES, of_stage, here / "scores.parquet")
    write(RATINGS, rated, here / "ratings.parquet")
    found = metassay.meta_eval(scores, ratings, **FEW)
    criteria = {"grade": Criterion(low=-10, high=10, better="higher", scale="interval")}
    better = found.choices["better"]
    stored = read(SCORES, here / "scores.parquet"), read(RATINGS, here / "ratings.parquet")
    made = evaluate(Evaluation(*stored, criteria, better, found.options))
    write(TABLES["evidence"], made.pop("evidence"), here / "evidence.parquet")
    numbers = read(TABLES["evidence"], here / "evidence.parquet")
    made["certificates"] = make_certificates(numbers, found.certification)
    for name, table in made.items():
        write(TABLES[name], table, here / f"{name}.parquet")
        stored = read(TABLES[name], here / f"{name}.parquet").drop(
            columns="recipe", errors="ignore"
        )
        ours = found.tables[name].drop(columns="recipe", errors="ignore")
        pd.testing.assert_frame_equal(ours, stored)
    flat = found.correlations[found.correlations["metric"] == "noise"]
    assert flat["value"].isna().all()


def test_numbers_are_not_taken_through_texts(given) -> None:
    scores, ratings = given
    narrow = scores.assign(good=scores["good"].astype("float32"))
    wide = scores.assign(good=scores["good"].astype("float32").astype("float64"))
    found, expected = (metassay.meta_eval(one, ratings, **FEW) for one in (narrow, wide))
    pd.testing.assert_frame_equal(found.correlations, expected.correlations)


def test_tables_are_attributes(found) -> None:
    assert found.certificates is found.tables["certificates"]
    assert "raters" in dir(found)
    with pytest.raises(
        AttributeError, match="no table is called 'certificate' here; there are: de"
    ):
        _ = found.certificate
    with pytest.raises(AttributeError, match="has no attribute 'meta_evaluate'"):
        _ = metassay.meta_evaluate


def test_importing_metassay_imports_nothing_slow() -> None:
    code = "import sys, metassay; assert not {'pandas', 'numpy', 'pydantic'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_faults_of_both_frames_come_at_once_with_their_labels(given) -> None:
    scores, ratings = given
    wrong = scores.set_index(pd.Index([f"row {n}" for n in range(len(scores))]))
    wrong["good"] = wrong["good"].astype("object")
    wrong.loc["row 3", "good"] = "a text of somebody"
    wrong.loc["row 4", "noise"] = np.inf
    found = problems(wrong, pd.concat([ratings, ratings.iloc[[5]]]))
    assert len(found) == 3
    assert found[0].startswith("scores: row 'row 3': 'good' is not a finite number; write")
    assert found[1].startswith("scores: row 'row 4': 'noise' is not a finite number")
    assert found[2].startswith("ratings: row 5: the same doc_id, system, rater a second time")
    assert "somebody" not in "".join(found)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda s: s.rename(columns={"good": 3}),
            "scores: 1 column(s) are not named by texts, the first by '3'",
        ),
        (lambda s: s.iloc[:0], "scores: has no row"),
        (lambda s: s.set_axis([*TEXT, "m", "m", "n"], axis=1), "scores: column 'm' is there twice"),
        (lambda s: s.assign(doc_id=None), "40 rows: 'doc_id' is empty (first: row 0);"),
        (lambda s: s.assign(author="a"), "both of the columns 'system' and 'author'"),
        (
            lambda s: s.drop(columns="doc_id"),
            "column 'doc_id' is missing; name it in the header, or",
        ),
    ],
)
def test_what_is_wrong_with_a_frame(given, change, expected: str) -> None:
    scores, ratings = given
    assert any(expected in line for line in problems(change(scores), ratings))


def test_ratings_are_needed_and_options_known(given) -> None:
    assert "meta_eval(ratings=...)" in problems(given[1])[0]
    (found,) = problems(*given, resample_count=3)
    assert found == (
        "meta-eval > resample_count: unknown key; remove it or correct its spelling;"
        " did you mean 'resample'?"
    )
    found = problems(*given, confounds=["size", "good", "noise"], lower=["size", "gud"])
    assert (
        "lower='gud': no metric or criterion has this name; there are: 'good', 'noise', 'size', 'gr"
        in found[0]
    )
    assert "confounds='size': lower= names it, too" in found[1]
    assert "confounds=: every column of scores is a confound" in found[2]


def test_columns_may_have_other_names(here: Path, given, found, no_page) -> None:
    """In both files, through the one door; in one of them each, through the other."""
    scores, ratings = given
    names = {"doc_id": "id", "system": "model", "rater": "who"}
    both = [frame.rename(columns=names) for frame in given]
    other = metassay.meta_eval(*both, doc="id", system="model", rater="who", **FEW)
    pd.testing.assert_frame_equal(other.certificates, found.certificates)
    renamed = scores.rename(columns={"system": "model"})
    rated = ratings.rename(columns={"rater": "who", "doc_id": "id"})
    options = ["--columns", "doc=id", "system=model", "rater=who", "--out", "out"]
    assert main([*put(here, renamed, rated), *options]) == 0
    certificates = found.certificates.to_csv(index=False).encode()
    assert saved(here / "out")["certificates.csv"] == certificates


def test_names_that_no_file_has_or_both(here: Path, given, capsys) -> None:
    scores, ratings = given
    arguments = put(here, scores.assign(id="x"), ratings)
    assert main([*arguments, "--columns", "doc=id", "system=model", "rater=doc_id"]) == 2
    said = capsys.readouterr().err
    assert "--columns system='model': there is no such column: scores.csv has 'doc_id'," in said
    assert "; ratings.csv has 'doc_id', 'system', 'rater', 'grade'; name one of them" in said
    assert "scores.csv: line 1: has both of the columns 'id' and 'doc_id'; remove one, or" in said
    assert main([*put(here, scores, ratings), "--columns", "doc=system"]) == 2
    assert (
        "column 'system' is named for two of document, system, rater and --by"
        in capsys.readouterr().err
    )


def test_a_system_that_one_file_lacks_is_an_error_and_both_a_note(
    here: Path, given, capsys
) -> None:
    scores, ratings = given
    assert main(put(here, scores.drop(columns="system"), ratings)) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "scores.csv: line 1: column 'system' is missing; add it, or say which" in said
    assert "ratings.csv has 'system'; only where both files lack it" in said
    one = [frame[frame["system"] == "a"].drop(columns="system") for frame in (scores, ratings)]
    found = metassay.meta_eval(*one, **FEW)
    assert "neither file has a column 'system': all texts count as one system's" in (
        "\n".join(found.notes)
    )
    level = found.certificates[found.certificates["metric"] == "good"].set_index("level")["value"]
    assert level["global"] > 0.3
    assert (
        "keep one row, or add a column 'system'"
        in problems(scores.drop(columns="system"), one[1])[0]
    )


def test_a_form_that_asks_for_a_name_has_a_rater(given) -> None:
    scores, ratings = given
    named = ratings.rename(columns={"rater": "Your name"})
    assert len(metassay.meta_eval(scores, named, **FEW).agreement)
    unknown = ratings.rename(columns={"rater": "initials"})
    (said,) = problems(scores, unknown)
    assert "keep one row, or call the column that says who rated 'rater'" in said


def test_a_misnamed_system_is_named(here: Path, given, found, capsys) -> None:
    scores, ratings = given
    ratings = ratings.replace({"system": {"gpt-4": "GPT4"}})
    ratings["doc_id"] = ratings["doc_id"].replace("d9", "d09")
    assert main(put(here, scores, ratings)) == 0
    said = capsys.readouterr().out
    assert (
        "WARNING: ratings.csv names system 'GPT4' (20 rows) that scores.csv does not have;"
        " did you mean 'gpt-4'?" in said
    )
    assert "WARNING: scores.csv names system 'gpt-4' (10 rows) that ratings.csv does not" in said
    assert "WARNING: ratings.csv and scores.csv spell 1 document differently (first: 'd09'" in said
    assert said.index("WARNING") < said.index("texts with scores and ratings")
    wrong = ratings.assign(system="x" + ratings["system"])
    lines = problems(scores, wrong)
    assert "nothing to compare" in lines[0]
    assert any("names system 'xa'" in line for line in lines)
    assert found.warnings == ()


def test_slices_are_studies_of_their_own(given, found) -> None:
    scores, ratings = given
    section = scores["doc_id"].map(lambda d: "plan" if d < "d5" else "exam")
    whole = found
    found = metassay.meta_eval(scores.assign(section=section), ratings, by="section", **FEW)
    studies = ["ratings", "ratings, section=exam", "ratings, section=plan"]
    for name in (
        "certificates",
        "correlations",
        "agreement",
        "confounds",
        "raters",
        "significance",
    ):
        table = found.tables[name]
        assert sorted(table["study"].unique()) == studies, name
        mine = table[table["study"] == "ratings"].reset_index(drop=True)
        pd.testing.assert_frame_equal(
            mine.drop(columns="recipe", errors="ignore"),
            whole.tables[name].drop(columns="recipe", errors="ignore"),
        )
    plan = [frame[frame["doc_id"] < "d5"] for frame in (scores, ratings)]
    named = plan[1].assign(study="ratings, section=plan")
    alone = metassay.meta_eval(plan[0], named, **FEW).certificates
    mine = found.certificates[found.certificates["study"] == "ratings, section=plan"]
    pd.testing.assert_frame_equal(
        mine.drop(columns="recipe").reset_index(drop=True), alone.drop(columns="recipe")
    )
    assert "slices by section, with their texts: exam (20), plan (20)" in found.notes


def test_slices_of_texts_missing_and_too_few(given) -> None:
    scores, ratings = given
    kinds = ratings.assign(kind=ratings["system"].map({"a": "x", "b": "y", "c": "y"}))
    kinds = kinds[kinds["doc_id"] != "d9"]
    kinds.loc[kinds["doc_id"] == "d0", "kind"] = np.nan
    kinds.loc[(kinds["doc_id"] == "d1") & (kinds["system"] == "a"), "kind"] = "rare"
    found = metassay.meta_eval(scores.assign(lang="en"), kinds, by=["kind", "lang"], **FEW)
    assert "slices by kind, with their texts: rare (1), x (7), y (16)" in found.notes
    # Those of d0, those by gpt-4, and those of d9, whose slice differs within documents.
    assert "16 texts without kind: in no slice, only in the whole" in found.notes
    rare = found.certificates[found.certificates["study"] == "ratings, kind=rare"]
    assert len(rare)
    assert rare["value"].isna().all()
    assert "ratings, lang=en" in set(found.certificates["study"])


def test_a_slice_that_nobody_rated_is_said(given) -> None:
    scores, ratings = given
    section = scores["doc_id"].map(lambda d: "plan" if d < "d5" else "exam")
    rated = ratings[ratings["doc_id"] < "d5"]
    found = metassay.meta_eval(scores.assign(section=section), rated, by="section", **FEW)
    assert "section=exam: no text with scores and ratings: not evaluated" in found.notes
    assert "ratings, section=exam" not in set(found.certificates["study"])


def test_one_text_has_one_value_and_a_column_few(here: Path, given, capsys) -> None:
    scores, ratings = given
    sections = scores.assign(section="plan")
    other = ratings.assign(section=["exam", *["plan"] * (len(ratings) - 1)])
    assert main([*put(here, sections, other), "--by", "section"]) == 2
    assert (
        "ratings.csv: line 2: 'section' differs from another row of the same text"
        " ('d0'/'a'/'full'); give each text one value" in capsys.readouterr().err
    )
    many = pd.concat([scores.assign(doc_id=f"{n}") for n in range(60)])
    many = many.drop_duplicates(TEXT).assign(page=lambda f: f["doc_id"])
    (found,) = problems(
        many, ratings.assign(doc_id="1").drop_duplicates([*TEXT, "rater"]), by="page"
    )
    assert found == f"by='page': has 60 values; slice by a column of {MOST_SLICES} at most"
    assert "'rater' is named for two of" in problems(scores, ratings, by="rater")[0]
    (found,) = problems(scores, ratings, by="metric")
    assert "by='metric': there is no such column: scores has 'doc_id'," in found


def test_ratings_alone_are_agreement_and_means(here: Path, given, found, capsys) -> None:
    ratings = given[1]
    assert main([*put(here, None, ratings), "--scale", "grade=ordinal", "--out", "out"]) == 0
    assert set(saved(here / "out")) == {"agreement.csv", "raters.csv"}
    raters = pd.read_csv(here / "out/raters.csv").set_index(["rater", "author"])
    for rater, mine in ratings.groupby("rater"):
        row = raters.loc[(rater, EVERYBODY)]
        assert row["n"] == len(mine)
        assert row["mean"] == pytest.approx(np.mean(mine["grade"]), abs=1e-12)
        assert row["sd"] == pytest.approx(np.std(mine["grade"], ddof=1), abs=1e-12)
        of_a = mine[mine["system"] == "a"]["grade"]
        assert raters.loc[(rater, "a"), "mean"] == pytest.approx(of_a.mean(), abs=1e-12)
    assert raters.loc[(EVERYBODY, EVERYBODY), "n"] == len(ratings)
    alone = metassay.meta_eval(ratings=ratings, **FEW)
    pd.testing.assert_frame_equal(alone.agreement, found.agreement)
    pd.testing.assert_frame_equal(alone.raters, found.raters)
    said = capsys.readouterr().out
    assert "SD (n − 1)" in said
    assert "krippendorff_alpha_ordinal" in said
    assert main([*put(here, None, ratings), "--compared", "good"]) == 2
    assert "name SCORES before RATINGS" in capsys.readouterr().err


def test_one_rating_has_no_deviation(here: Path) -> None:
    ratings = pd.DataFrame({"doc_id": ["1", "2"], "rater": ["x", "y"], "c": [1.0, 2.0]})
    found = metassay.meta_eval(ratings=ratings, **FEW).raters.set_index(["rater", "author"])
    assert found.loc[("x", EVERYBODY), "sd"] != found.loc[("x", EVERYBODY), "sd"]
    assert found.loc[(EVERYBODY, EVERYBODY), "sd"] == pytest.approx(0.5**0.5)


FILES = ["scores.csv", "ratings.csv"]


@pytest.mark.parametrize(
    "words",
    [
        [*FILES, "--lower", "noise", "size"],
        [*FILES, "--lower", "noise,size"],
        ["--lower", "noise", "size", *FILES],
        ["--lower", "noise,size", *FILES],
        ["--lower", "noise", "size", "--", *FILES],
        ["--lower", "noise", "--lower", "size", *FILES],
        ["--lower", "noise", "--lower=size", "--", *FILES],
        ["--lower", "noise", "scores.csv", "--lower", "size", "ratings.csv"],
        ["scores.csv", "--lower", "noise", "size", "ratings.csv"],
        ["scores.csv", "--lower", "noise", "--seed", "0", "--lower", "size", "ratings.csv"],
        ["--seed", "0", "scores.csv", "--lower", "noise", "size", "ratings.csv"],
        ["--lower", "noise", "size", "scores.csv", "--seed", "0", "ratings.csv"],
        ["--seed", "0", "--lower", "noise", "size", "--seed", "0", *FILES],
        ["--lower", "noise", "size", "--scale", "grade=ordinal", "a=nominal", *FILES],
    ],
    ids=" ".join,
)
def test_names_end_where_files_begin(here: Path, words: list[str]) -> None:
    chosen = parser().parse_args(spread(["meta-eval", *words]))
    assert chosen.files == [Path(name) for name in FILES]
    assert chosen.lower == ["noise", "size"]
    assert chosen.scale in ([], ["grade=ordinal", "a=nominal"])


def test_what_is_a_name_and_what_a_file(here: Path) -> None:
    def taken(*words: str) -> tuple[list[str], list[str]]:
        chosen = parser().parse_args(spread(["meta-eval", *words]))
        return chosen.lower, [str(file) for file in chosen.files]

    (here / "noise").touch()
    (here / "made up").touch()
    assert taken("--lower", "noise", "made up", "x") == (["noise"], ["made up", "x"])
    assert taken("--lower", "a", "B.TSV", "c.parquet") == (["a"], ["B.TSV", "c.parquet"])
    assert taken("--lower=a.csv", "b.csv") == (["a.csv"], ["b.csv"])
    assert taken("--lower", "a", "b.x", "--", "-c", "--d") == (["a", "b.x"], ["-c", "--d"])
    assert spread(["ledger", "import", "--", "a"]) == ["ledger", "import", "--", "a"]


@pytest.mark.parametrize("words", [FILES, [*FILES, "--lower"], ["--by", "section"], ["--"]])
def test_an_option_without_a_name_says_so(here: Path, capsys, words: list[str]) -> None:
    code = 0
    try:
        code = main(["meta-eval", "--lower", *words])
    except SystemExit as stopped:
        code = int(str(stopped.code))
    assert code == 2
    assert "--lower: " in capsys.readouterr().err


def test_the_number_of_files_is_one_or_two(here: Path, capsys) -> None:
    assert main(["meta-eval"]) == 2
    assert (
        "takes two files, SCORES RATINGS, or RATINGS alone; there are 0. Name several of a kind"
        in (capsys.readouterr().err)
    )
    with pytest.raises(SystemExit):
        main(["meta-eval", "a.csv", "b.csv", "--lowest", "x"])


def test_the_example_is_what_it_says(here: Path, capsys) -> None:
    assert main(["meta-eval", "--example", "study"]) == 0
    said = capsys.readouterr().out
    command = f"metassay meta-eval {ARGUMENTS} --out results"
    assert f"  {command}\n" in said
    assert command in (here / "study/README.md").read_text("utf-8")
    assert main(["meta-eval", "--example", "again"]) == 0
    assert {p.name: p.read_bytes() for p in (here / "study").iterdir()} == {
        p.name: p.read_bytes() for p in (here / "again").iterdir()
    }
    assert main(["meta-eval", "--example", "study"]) == 2
    assert "--example" in capsys.readouterr().err
    scores, _ = example()
    assert len(scores) == 240
    assert len(scores.columns) - len(TEXT) < LARGEST


def test_the_example_s_metrics_are_what_they_were_made_to_be(here: Path) -> None:
    scores, ratings = example()
    found = metassay.meta_eval(scores, ratings, lower=["errors"], compared=[], resamples=100)
    rows = found.correlations[found.correlations["coefficient"] == "pearson"]
    value = rows.set_index(["criterion", "level", "metric"])["value"]
    assert value["faithful", "document", "entails"] > 0.6
    assert value["faithful", "system", "fluency"] > 0.9
    assert value["faithful", "document", "fluency"] < value["faithful", "document", "entails"]
    assert abs(value["faithful", "global", "readability"]) < 0.15
    assert value["errors", "global", "entails"] < -0.4
    assert value["faithful", "global", "binary"] > 0.4


def test_a_result_shows_its_answer() -> None:
    """Of eight systems, one metric follows people and the other knows nothing."""
    rng = np.random.default_rng(3)
    texts = pd.DataFrame(product([f"d{n}" for n in range(30)], "abcdefgh"))
    keys = texts.set_axis(["doc_id", "system"], axis=1)
    quality = np.repeat(rng.normal(size=(30, 1)), 8, axis=1) + rng.normal(size=(30, 8))
    quality = (quality + np.arange(8)).ravel()
    scores = keys.assign(
        **{"<b>follows</b>": quality + 0.2 * rng.normal(size=240), "idle": rng.normal(size=240)}
    )
    found = metassay.meta_eval(scores, keys.assign(rater="r", grade=quality), permutations=500)
    assert len(found.answer) == 3
    assert all("<b>follows</b>" in line and "idle" not in line for line in found.answer)
    assert repr(found).splitlines()[:3] == list(found.answer)
    shown = found._repr_html_()
    assert "<b>" not in shown
    assert shown.count("&lt;b&gt;follows") == 3
    assert found.table("certificates") is found.certificates
    with pytest.raises(AttributeError, match="certificates"):
        found.table("certificate")


def test_a_result_of_ratings_alone_is_shown_too() -> None:
    keys = pd.DataFrame(product(["d1", "d2"], "ab"), columns=["doc_id", "system"])
    ratings = pd.concat([keys.assign(rater=one, grade=range(4)) for one in ("r1", "r2")])
    found = metassay.meta_eval(ratings=ratings)
    assert found.answer == ()
    assert "agreement" in repr(found)
    assert found._repr_html_().count("<p>") == len(repr(found).splitlines())
