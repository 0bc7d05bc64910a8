"""segment_sentences: texts -> the facet of each sentence by one segmentation."""

from metassay.labelled.segmentations import label_notes, predict, texts_of
from metassay.tables.documents import TEXTS
from metassay.tables.responses import RESPONSES
from metassay.tables.sentences import SEGMENTED, SENTENCES
from metassay.units import SEGMENTATIONS
from stages.connect import connect
from stages.doorway import StageIO, program


@program
def main(io: StageIO) -> None:
    name = io.item
    chosen = io.choose(SEGMENTATIONS, "segmentations", name)
    sentences = io.read(SENTENCES)
    texts = texts_of(io.read(TEXTS), sentences)
    with connect(io, chosen, ()) as session:
        labels, notes = predict(texts, name, chosen, session.provide(chosen))
        answers = session.finish()
    io.note([*label_notes(chosen, set(sentences["label"])), *notes, *answers.notes])
    io.write(SEGMENTED, labels, name)
    io.write(RESPONSES, answers.responses, f"segment-{name}")
