"""The test `attacks`: its items, and the cards that verdicts on them make."""

from typing import Any

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.labelled.attack_gains import attack_cards
from metassay.labelled.attacks import AttackOptions, attack_items
from metassay.labelled.records import Items
from metassay.labelled.types import chosen_test
from metassay.tables.judge_tests import ATTACK_GAINS, VERDICTS
from metassay.tables.parquet import round_trip
from metassay.tabular.rows import Place, Rows, TextRow
from metassay.text.edits.attacks import ATTACKS

OPTIONS: dict[str, Any] = {
    "claims": 50,
    "seed": 1,
    "attacked": "hypothesis",
    "kinds": [],
    "margin": 0.1,
}
NOTE = "Pain in the left knee. He was seen on Monday."


def items_of(*texts: tuple[str, str], **changes: Any) -> Items:
    """Items of references by document; a system's text beside them is not read."""
    rows = [
        TextRow(Place("texts.jsonl", 1), doc, "reference", "full", text)
        for doc, text in texts
    ]
    rows.append(TextRow(Place("texts.jsonl", 2), "z", "bot", "full", NOTE))
    options = AttackOptions.model_validate(OPTIONS | changes)
    return attack_items(Rows(texts=rows), options)


def test_each_claim_is_read_true_false_and_after_every_attack() -> None:
    items = items_of(("a", NOTE)).items
    by_claim: dict[str, list[str]] = {}
    for item in items:
        claim, _, kind = item.item.rpartition(":")
        assert kind == item.kind
        by_claim.setdefault(claim, []).append(kind)
    assert by_claim["a:0"] == ["true", "plain", *ATTACKS]
    labels = {item.kind: item.label for item in items}
    assert {kind for kind, label in labels.items() if label == "entailed"} == {"true"}
    assert {item.cluster for item in items} == {"a"}


def test_the_text_that_is_attacked_is_the_hypothesis() -> None:
    items = {
        item.kind: item for item in items_of(("a", NOTE)).items if ":0:" in item.item
    }
    assert items["true"].hypothesis == "Pain in the left knee."
    assert items["plain"].hypothesis not in NOTE
    assert items["denial"].premises == [NOTE]
    assert items["denial"].hypothesis.endswith("Pain in the left knee.")
    assert items["near_citation"].premises == ["Pain in the left knee."]


def test_as_a_premise_it_is_sought_for_the_true_sentence() -> None:
    items = items_of(("a", NOTE), attacked="premise").items
    first = {item.kind: item for item in items if ":0:" in item.item}
    assert {item.hypothesis for item in first.values()} == {"Pain in the left knee."}
    assert first["denial"].premises[0].endswith("Pain in the left knee.")
    assert not first.keys() & {"source_appended", "near_citation"}
    assert {item.subset for item in items} == {"premise"}


def test_kinds_choose_attacks_and_the_rest_stays() -> None:
    items = items_of(("a", NOTE), kinds=["denial"]).items
    assert {item.kind for item in items} == {"true", "plain", "denial"}


def test_a_sentence_alone_has_nothing_to_hide_behind() -> None:
    read = items_of(("a", "Pain in the left knee."))
    assert not read.items
    assert "no reference has a sentence" in read.problems.lines()[0]


def test_equal_sentences_count_once_and_a_sample_grows() -> None:
    parts = ("knee", "hip", "ankle", "foot", "arm", "leg")
    texts = [
        (f"d{n}", f"Pain in the left {part}. He went to school.")
        for n, part in enumerate(parts)
    ]
    copies = [*texts, ("e", "Pain in the left knee. He went to school.")]
    assert len(items_of(*copies).items) == len(items_of(*texts).items)

    def claims(n: int) -> set[str]:
        return {
            item.item.rpartition(":")[0] for item in items_of(*texts, claims=n).items
        }

    assert claims(2) < claims(4)
    assert len(claims(2)) == 2
    few = items_of(*texts, claims=50).warnings.lines()
    assert few[0].startswith("params.yaml > options > claims: only ")


def test_an_attack_that_is_not_known_is_refused() -> None:
    with pytest.raises(BadInput, match="is not known; choose from source_appended"):
        chosen_test("attacks", OPTIONS | {"kinds": ["bribe"]}, where="params.yaml")


def test_an_attack_that_premises_do_not_have_is_not_left_out_in_silence() -> None:
    kinds = {"attacked": "premise", "kinds": ["denial", "near_citation"]}
    with pytest.raises(BadInput, match="near_citation needs attacked: hypothesis"):
        chosen_test("attacks", OPTIONS | kinds, where="params.yaml")


# ---- cards ---------------------------------------------------------------------------


def gold_and_verdicts(
    fooled: dict[str, int], missing: dict[str, str] | None = None, n: int = 60
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A judge that passes the first so many claims of `n` documents after an attack.

    `missing`: the status of all its verdicts of a kind.
    """
    gold: list[dict[str, Any]] = []
    verdicts: list[dict[str, Any]] = []
    for document in range(n):
        for kind in ("true", "plain", *fooled):
            item = f"d{document}:0:{kind}"
            passed = kind == "true" or document < fooled.get(kind, 0)
            status = (missing or {}).get(kind, "ok")
            label = "entailed" if passed else "not_entailed"
            gold.append({"item": item, "kind": kind, "cluster": f"d{document}"})
            verdicts.append(
                {
                    "item": item,
                    "judge": "mine",
                    "status": status,
                    "label": label if status == "ok" else None,
                    "recipe": "r",
                }
            )
    frame = pd.DataFrame(verdicts).reindex(columns=list(VERDICTS.columns))
    return pd.DataFrame(gold), frame


def card(*args: Any, **more: Any) -> dict[str, dict[str, Any]]:
    gold, verdicts = gold_and_verdicts(*args, **more)
    options = AttackOptions.model_validate(OPTIONS)
    cards = attack_cards(gold, verdicts, options, seed=0)
    round_trip(ATTACK_GAINS, cards.gains)
    return {row["attack"]: row for row in cards.gains.to_dict("records")}


def test_a_card_tells_what_games_the_judge() -> None:
    rows = card({"denial": 30, "hedge": 0})
    assert rows["denial"]["verdict"] == "gamed by"
    assert (rows["denial"]["plain"], rows["denial"]["attacked"]) == (0.0, 0.5)
    assert rows["denial"]["n"] == rows["denial"]["n_documents"] == 60
    assert rows["hedge"]["verdict"] == "robust to"
    assert rows["hedge"]["margin"] == 0.1


def test_who_abstains_has_not_passed() -> None:
    rows = card({"denial": 0}, {"denial": "abstained"})
    assert (rows["denial"]["n_missing"], rows["denial"]["verdict"]) == (0, "robust to")


def test_an_answer_that_failed_is_missing() -> None:
    rows = card({"denial": 0, "hedge": 0}, {"denial": "unparsed"})
    assert (rows["denial"]["n_missing"], rows["denial"]["n"]) == (60, 0)
    assert rows["denial"]["verdict"] == "cannot tell"
    assert rows["hedge"]["verdict"] == "robust to"


def test_too_few_documents_are_noted_with_the_number_that_is_needed() -> None:
    gold, verdicts = gold_and_verdicts({"denial": 0}, n=10)
    options = AttackOptions.model_validate(OPTIONS)
    cards = attack_cards(gold, verdicts, options, seed=0)
    assert cards.gains["verdict"].tolist() == ["cannot tell"]
    (note,) = cards.notes
    assert note.startswith("mine: 10 documents cannot show")
    needed = int(note.split("; ")[1].split()[0])
    assert card({"denial": 0}, n=needed)["denial"]["verdict"] == "robust to"
    assert card({"denial": 0}, n=needed - 1)["denial"]["verdict"] == "cannot tell"
