"""segment_sentences: texts -> the facet that one segmentation says each sentence is of."""

from metassay.core.options import GIVEN
from metassay.labelled.segmentations import label_notes, predict, texts_of
from metassay.tables.documents import TEXTS
from metassay.tables.responses import RESPONSES
from metassay.tables.sentences import SEGMENTED, SENTENCES
from metassay.units import SEGMENTATIONS
from stages.connect import connect
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Let one segmentation divide the texts of a test."""
    name = given.item
    chosen = given.chosen(SEGMENTATIONS, "segmentations", name)
    sentences = given.read(SENTENCES)
    texts = texts_of(given.read(TEXTS, [GIVEN]), sentences)
    with connect(given, chosen, ()) as session:
        made = predict(texts, name, chosen, session.provide(chosen))
        asked = session.finish()
    given.note([*label_notes(chosen, set(sentences["label"])), *made.notes, *asked.notes])
    given.write(SEGMENTED, made.labels, name)
    given.write(RESPONSES, asked.responses, f"segment-{name}")


if __name__ == "__main__":
    enter(main)
