"""The glossary has the words that pages, terminal and docs use, a sentence each."""

import re
from pathlib import Path

import yaml

from metassay.cli.main import main
from metassay.format.glossary import page, terms
from metassay.format.numbers import short
from metassay.format.terms import DECISIONS
from metassay.meta_evaluation.verdicts import FEWEST_SYSTEMS, VERDICTS

DOCS = Path(__file__).parent.parent / "docs"


def test_every_verdict_and_decision_has_one_sentence() -> None:
    every = terms()
    assert [
        name for name, term in every.items() if term.group == "Verdicts on metrics"
    ] == [word.removesuffix(" …") for word in VERDICTS]
    assert set(DECISIONS.values()) <= set(every)
    for name, term in every.items():
        assert re.fullmatch(r"[^.]+(\.(yaml|\d+)[^.]*)*\.", term.says), name
        assert not {"{", "}"} & set(term.whole), name


def test_numbers_are_those_of_a_new_project_unless_given() -> None:
    params = yaml.safe_load((DOCS.parent / "params.yaml").read_text("utf-8"))
    useful = params["certification"]["useful"]
    alpha = 1 - params["meta_evaluation"]["confidence"]
    as_written = terms(
        useful=short(useful), alpha=short(alpha), fewest=str(FEWEST_SYSTEMS)
    )
    assert terms() == as_written
    assert (
        "(p < .01) and .50 or more"
        in terms(alpha=".01", useful=".50")["promising"].more
    )


def test_the_page_and_the_terminal_have_the_same_words(capsys) -> None:
    assert (DOCS / "glossary.md").read_text("utf-8") == page(), "run `make docs`"
    assert main(["show", "--terms", "stratum"]) == 0
    assert capsys.readouterr().out == f"stratum: {terms()['stratum'].whole}\n"
    assert main(["show", "--terms"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert all(f"{name}: {term.whole}" in printed for name, term in terms().items())
    assert main(["show", "--terms", "stratm"]) == 2
    assert "did you mean 'stratum'?" in capsys.readouterr().err
