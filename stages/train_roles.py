"""train_roles: a model of sentence roles, fitted to sentences that people labelled."""

from pathlib import Path

from metassay.core.errors import BadInput
from metassay.labelled.readers.sentences import read_csabstruct
from metassay.labelled.records import DocumentRow
from metassay.tables.names import FULL
from metassay.units import SEGMENTATIONS
from metassay.units.record import OK, Part, Text
from metassay.units.roles import read
from metassay.units.sentence_roles import Labelled, save, train
from stages.doorway import StageIO, program

BLOCK = "bmrc_encoder"  # a segmentation that names the trained model
SURE = 1.0  # where nobody says how sure people were


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


@program
def main(io: StageIO) -> None:
    raw = io.path(f"data/raw/{io.benchmark}_train")
    options = io.chosen(SEGMENTATIONS, "segmentations", BLOCK).options
    model = train(labelled(raw), sorted(raw.glob("*.jsonl")), options.encoder)
    save(io.path(options.model), model)
