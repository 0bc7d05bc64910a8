"""train_roles: sentences that people labelled -> a fitted model of sentence roles."""

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
CONFIDENCE = 1.0  # of labels whose confidence is not stated


def read_labelled(folder: Path) -> list[Labelled]:
    """Read the texts of a folder of CSAbstruct; raises BadInput with every problem."""
    content = read_csabstruct(folder)
    if content.problems:
        raise BadInput(content.problems.lines())
    return [_make_labelled(document) for document in content.documents]


def _make_labelled(document: DocumentRow) -> Labelled:
    sentences = document.sentences
    spans = [sentence.span for sentence in sentences]
    text = Text("abstract", Part(FULL, document.text, [], OK), [], sentences=spans)
    sure = [CONFIDENCE if s.confidence is None else s.confidence for s in sentences]
    return Labelled(read(text), [sentence.label for sentence in sentences], sure)


@program
def main(io: StageIO) -> None:
    raw = io.path(f"data/raw/{io.benchmark}_train")
    options = io.choose(SEGMENTATIONS, "segmentations", BLOCK).options
    model = train(read_labelled(raw), sorted(raw.glob("*.jsonl")), options.encoder)
    save(io.path(options.model), model)
