"""The sample's labelled claims: a card by kind says what each judge was planted to be blind to."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metassay.core.params import load
from metassay.judges.lexical import LexicalJudge, LexicalOptions
from metassay.judges.run import judge_pairs
from metassay.labelled.examine import examine
from metassay.labelled.ingest import IngestedItems, ingest_items
from metassay.labelled.types import chosen_test
from metassay.meta_evaluation.options import MetaOptions
from tests.support import planted_claims
from tests.support.sampling import near

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data/sample_claims"
PARAMS = load(ROOT)
TEST = PARAMS.judge_tests["sample_claims"]
RATES = json.loads((FOLDER / "planted/rates.json").read_text("utf-8"))
WRONG, RIGHT = [*RATES["kinds"]], [*RATES["right"]]


@pytest.fixture(scope="module")
def made() -> IngestedItems:
    test = chosen_test(TEST.test, TEST.options, where="params.yaml")
    return ingest_items(test, "claim_labels", FOLDER, dataset=TEST.dataset, judges=TEST.judges)


@pytest.fixture(scope="module")
def called_wrong(made: IngestedItems) -> pd.DataFrame:
    """What share of each kind a judge calls wrong, by kind and judge, as its cards say."""
    judged = []
    for name in TEST.judges:
        options = {key: of for key, of in PARAMS.judges[name].items() if key != "kind"}
        judge = LexicalJudge(LexicalOptions(**options))
        judged.append(judge_pairs(made.pairs, name, judge, ["entailment"], batch=500))
    given = made.pairs, pd.concat(judged), made.gold, made.ratings, made.verdicts
    cards = examine(*given, MetaOptions(resamples=20, confidence=0.95, seed=1)).cards
    cards = cards[cards["study"] == "invented"]
    found = cards.pivot_table(index="part", columns=["statistic", "judge"], values="value")
    return pd.concat([found["specificity"].loc[WRONG], 1 - found["sensitivity"].loc[RIGHT]])


def test_the_files_are_those_that_the_script_makes(tmp_path: Path) -> None:
    planted_claims.write(tmp_path)
    made = sorted(one for one in tmp_path.rglob("*") if one.is_file())
    assert len(made) == 4
    for path in made:
        assert path.read_bytes() == (FOLDER / path.relative_to(tmp_path)).read_bytes(), path


def test_size(made: IngestedItems) -> None:
    assert [len(each) for each in (made.pairs, made.gold, made.ratings, made.verdicts)] == [
        *(130, 130, 390, 260)
    ]
    gold = made.gold.set_index("item")
    assert gold["cluster"].nunique() == 26
    assert gold.loc[planted_claims.SPLIT, "unlabelled"] == "split"
    verdicts = made.verdicts.set_index(["judge", "item"])
    judge, item, status = planted_claims.FAILED
    assert verdicts.loc[(judge, item), "status"] == status
    assert verdicts.loc[planted_claims.SURE]["probability"].notna().all()
    assert verdicts.loc[judge]["probability"].isna().all()
    assert gold["kind"].value_counts().min() >= 10


def test_raters_misjudge_at_their_rates(made: IngestedItems) -> None:
    kinds = made.gold.set_index("item")["kind"]
    ratings = made.ratings[made.ratings["doc_id"] != planted_claims.SPLIT]
    near(ratings["value"].isna().sum(), pd.Series([RATES["abstained"]] * len(ratings)))
    for rater, own in ratings.dropna().groupby("rater"):
        wrong = own["value"].eq(1) != own["doc_id"].map(kinds).isin(RIGHT)
        near(wrong.sum(), pd.Series([RATES["misjudged"][rater]] * len(wrong)))


@pytest.mark.parametrize("judge", RATES["called_wrong"])
def test_the_cards_of_the_invented_judges_are_those_that_were_planted(
    made: IngestedItems, called_wrong: pd.DataFrame, judge: str
) -> None:
    """But for labels that most raters got wrong, of which there are few."""
    n = made.gold["kind"].value_counts()
    for kind, rate in RATES["called_wrong"][judge].items():
        error = np.sqrt(rate * (1 - rate) / n[kind])
        assert abs(called_wrong.loc[kind, judge] - rate) < 3.29 * error + 1.5 / n[kind], kind


def test_one_judge_is_good_at_one_kind_of_error_and_blind_to_another(
    called_wrong: pd.DataFrame,
) -> None:
    figures, sources = called_wrong["figure_checker"], called_wrong["source_checker"]
    assert figures["number"] > 0.8
    assert figures["invention"] < 0.2
    assert sources["invention"] > 0.8
    assert sources["number"] < 0.3
    # By its rules: a number that is not there is a conflict, an end of few words is within what
    # the threshold forgives. The strict one forgives less, and so takes rewording for an error.
    loose, strict = called_wrong["lexical"], called_wrong["lexical_strict"]
    assert min(loose["number"], loose["side"]) > 0.8
    assert loose["invention"] < 0.6
    assert strict["invention"] > 0.9
    assert strict["other_words"] > loose["other_words"] + 0.2
