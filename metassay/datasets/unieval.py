"""UniEval's meta-evaluation files (Zhong et al. 2022): people's scores and UniEval's own.

Topical-Chat (rated by Mehri and Eskenazi 2020) and SFRES (Wen et al. 2015): each a JSON list of
responses with both scores beside them. A value by people is the mean of several raters, whose own
values are not released.
"""

from pathlib import Path
from typing import Any

from metassay.datasets.own_data import released
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import json_list
from metassay.tabular.rows import AGAIN, Place, Rows, TextRow, source_row
from metassay.text.patterns import read_pairs

TOPICAL_CHAT = "topical_chat_result.json"
SFRES = "sfres_result.json"
SYSTEMS = read_pairs(__file__, "systems")
UNNAMED = "unnamed"  # whoever wrote the responses of SFRES
RATER = "mean"


@released
def read_topical_chat(folder: Path) -> Rows:
    """Read Topical-Chat: 60 dialogues, each with the next turn by 2 people and 4 decoders.

    Passages are the dialogue's turns (group `dialogue`) and the fact to use (group `fact`);
    documents are numbered in the order of the file. Both people are authors like the systems,
    because both were rated; there is no reference.
    """
    rows, documents = Rows(), dict[str, str]()  # by dialogue
    for at, turn in json_list(folder / TOPICAL_CHAT, rows.problems, remedy=AGAIN) or ():
        if turn["source"] not in documents:
            documents[turn["source"]] = doc_id = f"topical_chat_{len(documents):02d}"
            said = [line.strip() for line in turn["source"].split("\n") if line.strip()]
            group = ["dialogue"] * len(said) + ["fact"]
            passages = [*said, turn["context"].strip()]
            rows.sources.append(source_row(at, doc_id, "other", passages, group=group))
        _add(at, documents[turn["source"]], SYSTEMS[turn["system_id"]], turn, "topical_chat", rows)
    return rows


@released
def read_sfres(folder: Path) -> Rows:
    """Read SFRES: 1,181 sentences that say a dialogue act, each with a reference.

    The passage is the dialogue act. Upstream does not say which system wrote which sentence, so all
    have the author `unnamed`, each under its own doc_id, though most acts are there twice.
    """
    rows = Rows()
    for at, sentence in json_list(folder / SFRES, rows.problems, remedy=AGAIN) or ():
        doc_id = f"sfres_{sentence['doc_id']:04d}"
        rows.sources.append(source_row(at, doc_id, "other", [sentence["source"].strip()]))
        rows.texts.append(TextRow(at, doc_id, REFERENCE, FULL, sentence["reference"]))
        _add(at, doc_id, UNNAMED, sentence, "sfres", rows)
    return rows


def _add(at: Place, doc_id: str, author: str, one: Any, study: str, rows: Rows) -> None:
    key = (doc_id, author, FULL)
    rows.texts.append(TextRow(at, *key, one["system_output"]))
    people = {name: float(value) for name, value in one["scores"].items()}
    rows.rate(at, (study, *key, "text", RATER), people)
    by = {f"unieval_{name}": float(value) for name, value in one["predict_scores"].items()}
    rows.score(at, key, by)
