"""What the files are called of tables that several stages write, each stage instance one."""

from collections.abc import Iterable

from metassay.core.options import GIVEN


def asking(writers: Iterable[str], judges: Iterable[str]) -> list[str]:
    """Files of table `responses`: of the stages that may ask language models, as the data goes."""
    writing = [f"generate-{writer}" for writer in writers]
    return [*writing, "segment", "decompose", *(f"judge-{judge}" for judge in judges)]


def noting(
    writers: Iterable[str], judges: Iterable[str], costly_metrics: Iterable[str]
) -> list[str]:
    """Files of table `notes`: of the stages that may have something to say, as the data goes."""
    measuring = [f"measure-{metric}" for metric in costly_metrics]
    return ["ingest", *asking(writers, judges), "measure", *measuring, "meta_evaluate"]


def rubric_files(rubrics: Iterable[str]) -> list[str]:
    """Files of table `pairs` that have the questions of these rubrics."""
    return [f"rubric-{rubric}" for rubric in rubrics]


def asking_in_test(judges: Iterable[str]) -> list[str]:
    """Files of table `responses` of a test of judges."""
    return [GIVEN, *(f"judge-{judge}" for judge in judges)]


def asking_segmentations(segmentations: Iterable[str]) -> list[str]:
    """Files of table `responses` of a test of segmentations."""
    return [f"segment-{name}" for name in segmentations]


def noting_segmentations(segmentations: Iterable[str]) -> list[str]:
    """Files of table `notes` of a test of segmentations."""
    asked = asking_segmentations(segmentations)
    return ["ingest_sentences", *asked, "examine_segmentations"]


def noting_in_test(judges: Iterable[str]) -> list[str]:
    """Files of table `notes` of a test of judges."""
    return ["ingest_items", *(f"judge-{judge}" for judge in judges), "examine"]
