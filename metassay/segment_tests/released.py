"""Right labels out of facets that come with a benchmark's dataset: which sentences lie in which?"""

from collections import Counter, defaultdict
from collections.abc import Sequence

from metassay.datasets.rows import Rows, TextRow
from metassay.segment_tests.covering import label_of
from metassay.segment_tests.documents import NONE, DocumentRow, Documents, Sentence
from metassay.tables.names import FULL
from metassay.text.sentences import sentences
from metassay.text.spans import Span
from metassay.units.locate import find_all

_Facets = list[tuple[str, Sequence[Span]]]


def of_rows(rows: Rows) -> Documents:
    """The texts that have facets, in sentences of our splitter, each with the facet it lies in.

    A facet's text is sought in the text; where it is found is where the facet is. A sentence that
    no facet covers by more than half is `none`, also where part of a facet was not found. Notes
    count these, and say how much of the texts all facets cover. Texts without facets are left out.
    """
    found = Documents(problems=rows.problems, warnings=rows.warnings)
    facets: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for row in rows.segments:
        facets[row.doc_id, row.author].append((row.part, row.text))
    every, absent = Counter[str](), Counter[str]()
    for text in rows.texts:
        own = facets[text.doc_id, text.author]
        if text.part != FULL or text.text is None or not own:
            continue
        located: _Facets = []
        for facet, said in own:
            where = find_all(said, text.text)
            located.append((facet, [place.span for place in where.located]))
            every[facet] += 1
            absent[facet] += bool(where.made_up)
        found.documents.append(_document(text, text.text, located))
    found.notes = [*_absent(every, absent), *_covered(found.documents)]
    return found


def _document(row: TextRow, text: str, facets: _Facets) -> DocumentRow:
    said = [Sentence(span, label_of(span, text, facets)) for span in sentences(text)]
    return DocumentRow(row.at, row.doc_id, text, said, row.author)


def _absent(every: Counter[str], absent: Counter[str]) -> list[str]:
    lost = {facet: count for facet, count in absent.items() if count}
    if not lost:
        return []
    each = ", ".join(f"{facet} {count:,} of {every[facet]:,}" for facet, count in lost.items())
    return [f"facets of the dataset that are not, or not wholly, in their texts: {each}"]


def _covered(documents: Sequence[DocumentRow]) -> list[str]:
    labels = [said.label for one in documents for said in one.sentences]
    if NONE not in labels:
        return []
    whole = sum(all(said.label != NONE for said in one.sentences) for one in documents)
    return [
        f"{labels.count(NONE):,} of {len(labels):,} sentences are in no facet of the dataset; of"
        f" {whole:,} of {len(documents):,} texts every sentence is in one"
    ]
