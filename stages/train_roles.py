"""train_roles: models of sentence roles, fitted to sentences that people labelled."""

from pathlib import Path
from typing import cast

from metassay.errors import BadInput
from metassay.segment_tests.documents import DocumentRow
from metassay.segment_tests.readers.sentences import read_csabstruct
from metassay.tables.names import FULL
from metassay.units import SEGMENTATIONS
from metassay.units.record import OK, Part, Text
from metassay.units.roles import read
from metassay.units.sentence_roles import SentenceRoleOptions
from metassay.units.trained.model import save
from metassay.units.trained.train import Labelled, train
from stages.doorway import Given, enter

BLOCKS = ("bmrc_words", "bmrc_encoder")  # segmentations that name a trained model
SURE = 1.0  # where nobody says how sure people were


def main(given: Given) -> None:
    """Fit the models that the segmentations' blocks name, with the encoders that they name."""
    raw = given.path(f"data/raw/{given.benchmark}_train")
    texts, files = labelled(raw), sorted(raw.glob("*.jsonl"))
    for block in BLOCKS:
        chosen = given.chosen(SEGMENTATIONS, "segmentations", block)
        options = cast(SentenceRoleOptions, chosen.options)
        save(given.path(options.model), train(texts, files, options.encoder))


def labelled(folder: Path) -> list[Labelled]:
    """The texts of a folder of CSAbstruct; BadInput with all that is wrong with them."""
    found = read_csabstruct(folder)
    if found.problems:
        raise BadInput(found.problems.lines())
    return [_labelled(one) for one in found.documents]


def _labelled(one: DocumentRow) -> Labelled:
    spans = [said.span for said in one.sentences]
    text = Text("abstract", Part(FULL, one.text, [], OK), [], sentences=spans)
    sure = [SURE if said.confidence is None else said.confidence for said in one.sentences]
    return Labelled(read(text), [said.label for said in one.sentences], sure)


if __name__ == "__main__":
    enter(main)
