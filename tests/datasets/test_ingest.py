"""What ingest itself does: choose the reader, give whole tables, the same whatever the order."""

import random
from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.datasets.ingest import ingest
from metassay.tables import parquet
from metassay.tables.documents import SOURCES as SOURCES_TABLE
from metassay.tables.documents import TEXTS as TEXTS_TABLE
from metassay.tables.ratings import RATINGS as RATINGS_TABLE

CRITERIA = {"usefulness": Criterion(low=1, high=5, better="higher")}
SOURCES = [f'{{"doc_id": "d{n}", "task": "question", "passages": ["Why {n}?"]}}' for n in range(9)]
TEXTS = [f'{{"doc_id": "d{n}", "author": "alpha", "text": "Why {n}?"}}' for n in range(9)]
RATINGS = [f"s,d{n},alpha,ann,usefulness,{n % 5 + 1}" for n in range(9)]


def put(folder: Path, shuffle: random.Random | None = None) -> Path:
    folder.mkdir()
    sources, texts, ratings = SOURCES.copy(), TEXTS.copy(), RATINGS.copy()
    if shuffle:
        for rows in (sources, texts, ratings):
            shuffle.shuffle(rows)
    (folder / "sources.jsonl").write_text("\n".join(sources), encoding="utf-8")
    (folder / "texts.jsonl").write_text("\n".join(texts), encoding="utf-8")
    header = "study,doc_id,author,rater,criterion,value"
    (folder / "ratings.csv").write_text("\n".join([header, *ratings]), encoding="utf-8")
    return folder


def test_an_unknown_reader_is_told_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"reader 'file' is not known; choose from \['aci_bench', "):
        ingest("file", tmp_path, {})


def test_the_order_of_lines_does_not_change_the_tables(tmp_path: Path) -> None:
    def written(name: str, shuffle: random.Random | None) -> list[bytes]:
        ingested = ingest("files", put(tmp_path / name, shuffle), CRITERIA)
        found = []
        for table, frame in (
            (SOURCES_TABLE, ingested.sources),
            (TEXTS_TABLE, ingested.texts),
            (RATINGS_TABLE, ingested.ratings),
        ):
            path = tmp_path / f"{name}-{table.name}.parquet"
            parquet.write(table, frame, path)
            found.append(path.read_bytes())
        return found

    assert written("a", None) == written("b", random.Random(5))


def test_frames_have_the_tables_columns_even_without_rows(tmp_path: Path) -> None:
    folder = put(tmp_path / "a")
    (folder / "ratings.csv").write_text("study,doc_id,author,rater,criterion,value\n")
    ingested = ingest("files", folder, {})
    assert list(ingested.sources) == list(SOURCES_TABLE.columns)
    assert list(ingested.texts) == list(TEXTS_TABLE.columns)
    assert list(ingested.ratings) == list(RATINGS_TABLE.columns)
    assert len(ingested.ratings) == 0


def test_the_ends_of_a_scale_belong_to_it(tmp_path: Path) -> None:
    ratings = ingest("files", put(tmp_path / "a"), CRITERIA).ratings
    assert (ratings["value"].min(), ratings["value"].max()) == (1, 5)


def test_a_claim_is_rated_only_where_there_is_a_reference(tmp_path: Path) -> None:
    folder = put(tmp_path / "a")
    (folder / "ratings.csv").write_text(
        "study,doc_id,author,rater,criterion,value,unit\ns,d1,alpha,ann,usefulness,3,claim:0\n"
    )
    with pytest.raises(
        BadInput, match=r"line 2: a reference's claim is rated but the document has"
    ):
        ingest("files", folder, CRITERIA)


@pytest.mark.parametrize("part", ["subjective", "assessment_and_plan", "full"])
def test_sections_may_be_rated_before_they_are_found(tmp_path: Path, part: str) -> None:
    folder = put(tmp_path / "a")
    (folder / "ratings.csv").write_text(
        f"study,doc_id,author,rater,criterion,value,part\ns,d1,alpha,ann,usefulness,3,{part}\n"
    )
    assert ingest("files", folder, CRITERIA).ratings["part"].tolist() == [part]
