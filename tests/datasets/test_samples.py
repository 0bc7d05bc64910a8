"""The committed samples are what their READMEs say; what was planted comes back at its rates."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from metassay.core.params import load
from metassay.datasets.ingest import Tables
from metassay.datasets.registry import load_registry
from metassay.judges.lexical import LexicalJudge, LexicalOptions
from metassay.judges.run import judge_pairs
from metassay.labelled.examine import examine
from metassay.labelled.ingest import IngestedItems, ingest_items
from metassay.labelled.types import chosen_test
from metassay.meta_evaluation.options import MetaOptions
from metassay.text.headings import divide
from metassay.text.sentences import sentences
from tests.datasets.reading import ROOT, check_files, read_benchmark
from tests.support import planted_claims, planted_sample, sample_facts, sample_quality
from tests.support.sampling import near

KEY = ["doc_id", "author"]


def folder(name: str) -> Path:
    return ROOT / "data" / name


def rates_of(name: str) -> dict[str, Any]:
    return dict(json.loads((folder(name) / "planted/rates.json").read_text("utf-8")))


def planted_in(name: str, file: str) -> pd.DataFrame:
    return pd.read_csv(folder(name) / "planted" / file, keep_default_na=False)


def times(chance: float, rows: Any) -> pd.Series:
    """The same chance for each row."""
    return pd.Series([chance] * len(rows))


@pytest.mark.parametrize(
    ("name", "write", "size"),
    [
        ("sample", planted_sample.write, 7e5),
        ("sample_facts", sample_facts.write, 7e5),
        ("sample_quality", sample_quality.write, 2.5e5),
        ("sample_claims", planted_claims.write, 1e6),
    ],
)
def test_the_files_are_those_that_the_script_makes(
    tmp_path: Path, name: str, write: Callable[[Path], object], size: float
) -> None:
    check_files(write, folder(name), tmp_path, size)


@pytest.mark.parametrize(
    "name",
    ["sample", "sample_abstracts", "sample_facts", "sample_quality", "hospital_course"],
)
def test_they_say_that_they_are_invented(name: str) -> None:
    assert load_registry(ROOT / "data/registry.yaml")[name].invented
    assert "everything in it is invented" in (folder(name) / "README.md").read_text(
        "utf-8"
    )


# ---- sample: statements with planted faults

RATES = rates_of("sample")


@pytest.fixture(scope="module")
def sample() -> Tables:
    return read_benchmark("sample")


@pytest.fixture(scope="module")
def planted() -> pd.DataFrame:
    return planted_in("sample", "statements.csv")


def check_drawn(rows: pd.DataFrame, column: str, kind: str, rate: str) -> None:
    """Whether each system has so many rows of the kind as its rate says."""
    for system, rates in RATES["systems"].items():
        of_system = rows[rows["author"] == system]
        near((of_system[column] == kind).sum(), times(rates[rate], of_system))


def test_size(sample: Tables) -> None:
    tasks = sample.sources.groupby("task").size().to_dict()
    assert tasks == {"note": 8, "impression": 6, "question": 6, "abstract": 6}
    turns = sample.sources[sample.sources["task"] == "note"]["passages"].map(len)
    assert turns.between(21, 25).all()
    assert len(sample.texts) == 26 * 9
    assert set(sample.texts["author"]) == {"reference", *RATES["systems"]}
    failed = sample.texts[sample.texts["status"] != "ok"]
    assert failed[[*KEY, "status"]].to_numpy().tolist() == [
        ["note_08", "brief", "error"]
    ]
    notes = sample.texts[sample.texts["doc_id"].str.startswith("note")]
    references = notes[notes["author"] == "reference"].set_index("doc_id")["text"]
    absent = [
        doc for doc, text in references.items() if len(divide(text, compat="none")) < 4
    ]
    assert absent == ["note_03"]
    # headings in several forms
    assert len({text.split("\n")[0] for text in references}) >= 6


def test_who_cites_and_whose_citations_do_not_exist(
    sample: Tables, planted: pd.DataFrame
) -> None:
    texts = sample.texts[sample.texts["status"] == "ok"]
    for author, written in texts.groupby("author")["text"]:
        none = author in ("reference", "brief")
        assert written.str.contains(r"\[\d+\]").eq(not none).all(), author
    (warning,) = sample.warnings
    missing = planted[planted["citation"] == "missing"].groupby(KEY).ngroups
    start = (
        f"texts.jsonl: {missing} lines: a citation names a passage that does not exist"
    )
    assert warning.startswith(start)
    assert missing > 5


def test_each_statement_of_a_reference_is_planted_and_rated(
    sample: Tables, planted: pd.DataFrame
) -> None:
    texts = sample.texts.set_index(KEY)["text"]
    rated = sample.ratings[sample.ratings["criterion"] == "completeness"]
    rated = rated.groupby([*KEY, "rater"])["unit"].agg(list)
    claims = planted.groupby(KEY)["claim"].agg(list)
    assert (len(claims), len(rated)) == (26 * 8 - 1, (26 * 8 - 1) * 3)  # a text failed
    for (doc, author, _), units in rated.items():
        numbers = [*range(len(sentences(texts[doc, "reference"])))]
        assert units == [f"claim:{place}" for place in numbers], (doc, author)
        assert claims[doc, author] == numbers


def test_faults_come_back_at_their_rates(planted: pd.DataFrame) -> None:
    """Of what each system could get wrong in each way."""
    rows = planted[planted["words"] != "copied before"]
    check_drawn(rows[rows["claim"] > 0], "fault", "omission", "omission")
    rows = rows[rows["fault"] != "omission"]
    earlier = []
    for kind in ("number", "side", "negation"):
        able = rows["slots"].str.split().map(lambda fits, kind=kind: kind in fits)
        check_drawn(rows[able & ~rows["fault"].isin(earlier)], "fault", kind, kind)
        earlier.append(kind)
    for system, rates in RATES["systems"].items():  # no question has an invented end
        able = rows[(rows["author"] == system) & ~rows["fault"].isin(earlier)]
        questions = able["doc_id"].str.startswith("question") & (able["slots"] == "")
        chances = pd.Series(np.where(questions, 0, rates["invention"]))
        near((able["fault"] == "invention").sum(), chances)


def test_copying_wrong_citations_and_padding_come_back_at_their_rates(
    planted: pd.DataFrame,
) -> None:
    rows = planted[~planted["doc_id"].str.startswith("note") & (planted["fault"] == "")]
    check_drawn(rows[rows["words"] != "copied before"], "words", "passages", "copying")
    assert not (
        planted["doc_id"].str.startswith("note") & (planted["words"] == "passages")
    ).any()
    cited = planted[
        planted["words"].isin(["reference", "other"]) & (planted["author"] != "brief")
    ]
    wrong = cited["citation"].isin(["wrong", "missing"])
    for system, share in wrong.groupby(cited["author"]).mean().items():
        assert abs(share - RATES["systems"][system]["citation"]) < 0.06, system
    padded = planted.groupby("author")["padded"].mean()
    assert padded["rambling"] > 0.5 > padded["miscounting"] > 0.2
    assert padded.drop(["rambling", "miscounting"]).max() < 0.15


def test_raters_see_what_was_planted_and_misjudge_at_their_rates(
    sample: Tables, planted: pd.DataFrame
) -> None:
    truth = planted.assign(unit="claim:" + planted["claim"].astype(str))
    right = truth.set_index([*KEY, "unit"])["fault"].isin(["", "invention"])
    ratings = sample.ratings[sample.ratings["criterion"] == "completeness"].dropna()
    for rater, rows in ratings.groupby("rater"):
        seen = rows.set_index([*KEY, "unit"])["value"] == 1
        wrong = seen != right.reindex(seen.index)
        near(wrong.sum(), times(RATES["raters"][rater]["misjudged"], wrong))
    for _, rows in sample.ratings.groupby("criterion"):
        near(rows["value"].isna().sum(), times(RATES["abstained"], rows))


def test_usefulness_is_length_and_fewer_faults_are_preferred(
    sample: Tables, planted: pd.DataFrame
) -> None:
    words = sample.texts.set_index(KEY)["text"].str.split().str.len().astype("float64")
    truth = RATES["doubled"] * np.log2(words / RATES["fewest"])
    ratings = sample.ratings[sample.ratings["criterion"] == "usefulness"].dropna()
    for rater, rows in ratings.groupby("rater"):
        points = rows.set_index(KEY)["value"]
        expected = truth.reindex(points.index) + RATES["raters"][rater]["points"]
        off = points - expected.clip(0, 100)
        assert off.abs().max() <= RATES["noise"] + 2.5, "and rounding to 5"
    there = planted[planted["fault"] != "omission"]
    wrong = there["fault"].ne("").groupby([there[name] for name in KEY]).mean()
    rows = sample.ratings[sample.ratings["criterion"] == "preference"].dropna()
    assert rows.groupby("doc_id")["unit"].size().between(7 * 3 - 4, 8 * 3).all()
    first = wrong.reindex(pd.MultiIndex.from_frame(rows[KEY])).to_numpy()
    others = pd.MultiIndex.from_arrays(
        [rows["doc_id"], rows["unit"].str.removeprefix("versus:")]
    )
    odds = RATES["fewer"] * (wrong.reindex(others).to_numpy() - first)
    tied = (rows["value"] == 0.5).to_numpy()
    near(tied.sum(), times(RATES["ties"], rows))
    near((rows["value"] == 1).sum(), pd.Series(1 / (1 + np.exp(-odds)))[~tied])


# ---- sample_abstracts: references that are their facets

FACETS = ["background", "method", "result", "conclusion"]
LACKING = {
    ("study_03", "conclusion"),
    ("study_05", "background"),
    ("study_08", "conclusion"),
}
LACKING |= {("study_09", "background"), ("study_11", "method")}


@pytest.fixture(scope="module")
def abstracts() -> Tables:
    return read_benchmark("sample_abstracts")


def test_abstracts_are_what_they_are_called(abstracts: Tables) -> None:
    assert abstracts.warnings == ()
    assert set(abstracts.sources["task"]) == {"abstract"}
    assert abstracts.sources["passages"].map(len).between(9, 12).all()
    authors = dict.fromkeys(("reference", "careful", "numberless", "copying"), 12)
    assert abstracts.texts["author"].value_counts().to_dict() == authors
    failed = abstracts.texts[abstracts.texts["status"] != "ok"]
    assert failed[[*KEY, "status"]].to_numpy().tolist() == [
        ["study_09", "numberless", "truncated"]
    ]
    facets = abstracts.segments.set_index(["doc_id", "part"])["text"]
    assert set(abstracts.segments["author"]) == {"reference"}
    passages = abstracts.sources.set_index("doc_id")["passages"]
    for (doc, author), text in abstracts.texts.set_index(KEY)["text"].dropna().items():
        if author == "reference":
            names = [facet for facet in FACETS if (doc, facet) not in LACKING]
            assert set(facets[doc].index) == set(names)
            assert " ".join(facets[doc][facet] for facet in names) == text
            assert 4 <= len(sentences(text)) <= 6
        if author == "numberless":
            assert not any(map(str.isdigit, text))
        if author == "copying":
            assert text.startswith(" ".join(passages[doc][:2])), doc


def test_grades_of_abstracts(abstracts: Tables) -> None:
    """They are shares of the rubric's levels; systems differ, and a rater is careless."""
    rubric = yaml.safe_load((ROOT / "rubrics/bmrc.yaml").read_text(encoding="utf-8"))
    rated = abstracts.ratings[abstracts.ratings["criterion"].isin(FACETS)]
    for criterion, values in rated.groupby("criterion")["value"]:
        top = len(rubric["criteria"][criterion]["levels"])
        levels = values.dropna() * top
        assert (levels - levels.round()).abs().max() < 0.001
        assert set(levels.round()) == set(range(1, top + 1))
    empty = rated[rated["value"].isna()]
    assert set(zip(empty["doc_id"], empty["criterion"], strict=True)) == LACKING
    overall = abstracts.ratings[abstracts.ratings["criterion"] == "overall"]
    assert (len(overall), overall["value"].isna().sum()) == (35 * 3, 0)
    table = overall.pivot_table(index=KEY, columns="rater", values="value")
    means = table[["rater_a", "rater_b"]].mean(axis=1).groupby("author").mean()
    assert means["careful"] - means[["numberless", "copying"]].max() > 0.3
    like = table.corr(method="spearman")
    assert like.loc["rater_a", "rater_b"] > 0.8
    assert like.loc["rater_c", ["rater_a", "rater_b"]].max() < 0.3


# ---- sample_quality: counted errors


@pytest.fixture(scope="module")
def quality() -> Tables:
    return read_benchmark("sample_quality")


@pytest.fixture(scope="module")
def errors() -> pd.DataFrame:
    return planted_in("sample_quality", "errors.csv")


def test_quality_is_that_of_the_planted_errors(
    quality: Tables, errors: pd.DataFrame
) -> None:
    assert quality.warnings == ()
    sizes = [len(table) for table in (quality.sources, quality.texts, quality.ratings)]
    assert sizes == [60, 60 * 5, 60 * 4 * 2]
    n = quality.texts.set_index(KEY)["text"].str.count("\n") + 1  # a line is a sentence
    weights = pd.Series({"critical": 1, "non_critical": 1 / 3, "spelling": 1 / 12})
    for rater, rows in quality.ratings.groupby("rater"):
        seen = errors if rater == "annotator_1" else errors[errors["annotator_2"] == 1]
        counts = seen.groupby([*KEY, "severity"]).size().unstack(fill_value=0)
        value = rows.set_index(KEY)["value"]
        longest = [max(n[key], n[key[0], "reference"]) for key in value.index]
        weighed = counts.reindex(value.index, fill_value=0).mul(weights).sum(axis=1)
        np.testing.assert_allclose(value, 1 - weighed / longest, rtol=1e-12)
    means = quality.ratings.groupby("author")["value"].mean()
    assert (means.idxmax(), means.idxmin()) == ("careful", "careless")


def test_errors_come_back_at_their_rates(quality: Tables, errors: pd.DataFrame) -> None:
    rates = rates_of("sample_quality")
    texts = quality.texts.set_index(KEY)["text"].str.split("\n").explode()
    facts = len(texts.xs("reference", level="author"))
    long_word = rf"(?<!\S)[A-Za-z]{{{sample_quality.LONG},}}(?!\S)"
    for system, chances in rates["systems"].items():
        counts = errors.loc[errors["author"] == system, "severity"].value_counts()
        wrong = [chances["incorrect"], chances["hallucinated"]]
        near(
            counts["critical"] + counts["non_critical"],
            pd.Series(np.repeat(wrong, facts)),
        )
        able = texts.xs(system, level="author").str.contains(long_word).sum()
        near(counts["spelling"], times(rates["spelling"][system], range(able)))
    near(errors["annotator_2"].eq(0).sum(), times(rates["missed"], errors))
    sources = "\n".join("\n".join(p) for p in quality.sources["passages"]).lower()
    material = sample_facts.material(Path(sample_quality.__file__).with_suffix(".txt"))
    assert not [line for line in material["unsaid"] if line.lower() in sources]
    assert len(material["unsaid"]) >= sample_quality.FACTS[1]


def test_a_misspelt_word_has_its_letters_in_another_order() -> None:
    draws = sample_quality.Draws(sample_quality.VISITS, "test")
    for sentence in (
        "Coffee: two cups daily.",
        "Examination shows no sign of a stroke.",
    ):
        wrong = sample_quality.misspelt(draws, sentence)
        pairs = zip(sentence.split(), wrong.split(), strict=True)
        differ = [(a, b) for a, b in pairs if a != b]
        assert len(differ) <= 1
        assert all(sorted(a) == sorted(b) and a[0] == b[0] for a, b in differ)
    assert sample_quality.misspelt(draws, "BP is 120.") == "BP is 120."


# ---- sample_facts: counted facts and marked phrases

STATUSES = ["correct", "incorrect", "hallucinated", "omitted"]
COUNTED, MARKED = ("facts", "radiology"), ("hpi", "assessment", "exam", "results")


@pytest.fixture(scope="module")
def facts() -> Tables:
    return read_benchmark("sample_facts")


@pytest.fixture(scope="module")
def all_facts() -> pd.DataFrame:
    return planted_in("sample_facts", "facts.csv")


def rated(facts: Tables, rater: str, study: str) -> pd.DataFrame:
    """A rater's values: a row per text, a column per criterion."""
    rows = facts.ratings[
        facts.ratings["rater"].eq(rater) & facts.ratings["study"].eq(study)
    ]
    return rows.pivot_table(
        index=KEY, columns="criterion", values="value", dropna=False
    )


def test_size_of_facts(facts: Tables) -> None:
    assert facts.warnings == ()
    assert len(facts.sources) == 30 + 30 + 4 * 16
    assert len(facts.texts) == 124 * 5
    assert facts.texts["status"].eq("ok").all()
    documents = dict.fromkeys(COUNTED, 30) | dict.fromkeys(MARKED, 16)
    assert facts.ratings.groupby("study")["doc_id"].nunique().to_dict() == documents
    material = sample_facts.material()
    for study in sample_facts.STUDIES:
        pool = [sample_facts.fact_of(line) for line in material[study.name]]
        assert len(pool) >= (12 if study.marked else 20)
        assert len(material[sample_facts.unsaid_of(study)]) >= study.facts[1]
        assert len({wording for fact in pool for wording in fact[1:]}) == 3 * len(pool)
    sources = "\n".join(
        "\n".join(passages) for passages in facts.sources["passages"]
    ).lower()
    unsaid = [material[name] for name in material if name.endswith("unsaid")]
    assert not [s for part in unsaid for s in part if s.strip("[].").lower() in sources]


@pytest.mark.parametrize("study", COUNTED)
def test_annotators_count_what_was_planted_and_read(
    facts: Tables, all_facts: pd.DataFrame, study: str
) -> None:
    rows = all_facts[all_facts["study"] == study]
    counts = rows.groupby([*KEY, "status"]).size().unstack(fill_value=0)
    first, second = (rated(facts, f"annotator_{n}", study) for n in (1, 2))
    counts = counts.reindex(first.index)
    for status in STATUSES:
        np.testing.assert_array_equal(first[f"{status}_facts"], counts[status])
        read = rows.assign(read=rows["annotator_2"].str.contains(rf"\b{status}\b"))
        expected = read.groupby(KEY)["read"].sum().reindex(second.index)
        np.testing.assert_array_equal(second[f"{status}_facts"], expected)
    of_text = counts[["correct", "incorrect", "hallucinated"]].sum(axis=1)
    of_reference = counts[["correct", "incorrect", "omitted"]].sum(axis=1)
    for name, above, below in (
        ("factual_precision", "correct", of_text),
        ("factual_recall", "correct", of_reference),
        ("hallucination_rate", "hallucinated", of_text),
        ("omission_rate", "omitted", of_reference),
    ):
        np.testing.assert_allclose(first[name], counts[above] / below, rtol=1e-12)
    means = first.groupby("author").mean()
    assert means["hallucination_rate"].idxmax() == "wordy"
    assert means["omission_rate"].idxmax() == "brief"
    assert means["factual_precision"].idxmin() == "careless"
    assert means["factual_f1"].idxmax() == "careful"


@pytest.mark.parametrize("study", [*COUNTED, *MARKED])
def test_facts_come_back_at_their_rates(
    facts: Tables, all_facts: pd.DataFrame, study: str
) -> None:
    """By system and kind, of the facts that the references' lines are; and annotators differ."""
    rates, rows = rates_of("sample_facts"), all_facts[all_facts["study"] == study]
    texts = facts.texts.set_index(KEY)["text"]
    references = texts.xs("reference", level="author")[rows["doc_id"].unique()]
    n = references.str.count("\n").sum() + len(references)
    for system, chances in rates["systems"].items():
        status = rows.loc[rows["author"] == system, "status"]
        for name in ("incorrect", "omitted", "hallucinated"):
            near(status.eq(name).sum(), times(chances[name], range(n)))
    chances = rates["mismarked" if study in MARKED else "misread"]
    near((rows["status"] != rows["annotator_2"]).sum(), rows["status"].map(chances))


@pytest.mark.parametrize("study", MARKED)
def test_phrases_per_word_are_those_of_the_planted_facts(
    facts: Tables, all_facts: pd.DataFrame, study: str
) -> None:
    rows, texts = (
        all_facts[all_facts["study"] == study],
        facts.texts.set_index(KEY)["text"],
    )
    for rater, column in (("annotator_1", "status"), ("annotator_2", "annotator_2")):
        for (doc_id, system), row in rated(facts, rater, study).iterrows():
            read = Counter(
                rows.loc[rows["doc_id"].eq(doc_id) & rows["author"].eq(system), column]
            )
            words, reference = (
                len(texts[doc_id, who].split()) for who in (system, "reference")
            )
            wrong = read["incorrect"] + read["hallucinated"]
            assert row["hallucination_count"] == pytest.approx(wrong / words)
            assert row["omission_count"] == pytest.approx(read["omitted"] / reference)


def test_phrases_are_short_and_lie_where_they_should(facts: Tables) -> None:
    """What annotator_1 marks is nowhere on the other side; of two annotators, some is apart."""
    texts, seen = facts.texts.set_index(KEY)["text"], set[tuple[str, int]]()
    for row in pd.read_json(
        folder("sample_facts") / "phrases.jsonl", lines=True
    ).itertuples():
        both = texts[row.doc_id, row.author], texts[row.doc_id, "reference"]
        for name, text, other in (
            ("hallucinated", *both),
            ("omitted", *reversed(both)),
        ):
            for span in getattr(row, name):
                start, end, phrase = span["start"], span["end"], span["text"]
                assert text[start:end] == phrase
                assert not text[start - 1 : start].isalnum()
                assert not text[end : end + 1].isalnum()
                assert 2 <= len(phrase.split()) <= 6
                assert row.rater == "annotator_2" or phrase.lower() not in other.lower()
                seen.add((name, len(phrase.split())))
    assert len(seen) >= 8


# ---- sample_claims: a card by kind says what each judge was planted to be blind to

PARAMS = load(ROOT)
TEST = PARAMS.judge_tests["sample_claims"]
OF_CLAIMS = rates_of("sample_claims")
WRONG, RIGHT = [*OF_CLAIMS["kinds"]], [*OF_CLAIMS["right"]]


@pytest.fixture(scope="module")
def claims() -> IngestedItems:
    test, data = (
        chosen_test(TEST.test, TEST.options, where="params.yaml"),
        folder("sample_claims"),
    )
    return ingest_items(
        test, "claim_labels", data, dataset=TEST.dataset, judges=TEST.judges
    )


def test_size_of_claims_and_rates_of_raters(claims: IngestedItems) -> None:
    assert [len(table) for table in claims[:4]] == [130, 130, 390, 260]
    gold = claims.gold.set_index("item")
    assert gold["cluster"].nunique() == 26
    assert gold.loc[planted_claims.SPLIT, "unlabelled"] == "split"
    assert gold["kind"].value_counts().min() >= 10
    verdicts = claims.verdicts.set_index(["judge", "item"])
    judge, item, status = planted_claims.FAILED
    assert verdicts.loc[(judge, item), "status"] == status
    assert verdicts.loc[planted_claims.SURE]["probability"].notna().all()
    assert verdicts.loc[judge]["probability"].isna().all()
    ratings = claims.ratings[claims.ratings["doc_id"] != planted_claims.SPLIT]
    near(ratings["value"].isna().sum(), times(OF_CLAIMS["abstained"], ratings))
    for rater, rows in ratings.dropna().groupby("rater"):
        wrong = rows["value"].eq(1) != rows["doc_id"].map(gold["kind"]).isin(RIGHT)
        near(wrong.sum(), times(OF_CLAIMS["misjudged"][rater], wrong))


def test_the_cards_of_the_invented_judges_are_those_that_were_planted(
    claims: IngestedItems,
) -> None:
    """But for labels that most raters got wrong, of which there are few."""
    judged = []
    for name in TEST.judges:
        options = {
            key: value for key, value in PARAMS.judges[name].items() if key != "kind"
        }
        judge = LexicalJudge(LexicalOptions(**options))
        judged.append(judge_pairs(claims.pairs, name, judge, ["entailment"], batch=500))
    tables = (
        claims.pairs,
        pd.concat(judged),
        claims.gold,
        claims.ratings,
        claims.verdicts,
    )
    cards = examine(*tables, MetaOptions(resamples=20, confidence=0.95, seed=1)).cards
    cards = cards[cards["study"] == "invented"]
    values = cards.pivot_table(
        index="part", columns=["statistic", "judge"], values="value"
    )
    # The share of each kind that a judge calls wrong.
    shares = pd.concat(
        [values["specificity"].loc[WRONG], 1 - values["sensitivity"].loc[RIGHT]]
    )
    n = claims.gold["kind"].value_counts()
    for judge, rates in OF_CLAIMS["called_wrong"].items():
        for kind, rate in rates.items():
            error = np.sqrt(rate * (1 - rate) / n[kind])
            assert abs(shares.loc[kind, judge] - rate) < 3.29 * error + 1.5 / n[kind], (
                kind
            )
    figures, sources = shares["figure_checker"], shares["source_checker"]
    assert figures["number"] > 0.8
    assert figures["invention"] < 0.2
    assert sources["invention"] > 0.8
    assert sources["number"] < 0.3
    # By its rules: a number that is not there is a conflict, an end of few words is
    # within what the threshold forgives. The strict one forgives less, and so takes
    # rewording for an error.
    loose, strict = shares["lexical"], shares["lexical_strict"]
    assert min(loose["number"], loose["side"]) > 0.8
    assert loose["invention"] < 0.6
    assert strict["invention"] > 0.9
    assert strict["other_words"] > loose["other_words"] + 0.2
