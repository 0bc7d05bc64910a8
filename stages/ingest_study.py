"""ingest_study: ratings that came back from people -> ratings of one study."""

from metassay.core.options import GIVEN
from metassay.datasets.ingest import ingest_study
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.ratings import RATINGS
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Check one study's ratings against the benchmark's sources, texts and criteria."""
    texts = given.read(TEXTS, [GIVEN, *given.own("systems"), *given.own("few_shot")])
    file = given.path(given.own(f"studies.{given.item}"))
    made = ingest_study(file, given.item, given.criteria(), given.read(SOURCES), texts)
    given.write(RATINGS, made, given.item)


if __name__ == "__main__":
    enter(main)
