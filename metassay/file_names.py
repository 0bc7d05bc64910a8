"""What the files are called of tables that several stages write, each stage instance one."""

from collections.abc import Iterable


def asking(writers: Iterable[str]) -> list[str]:
    """Files of table `responses`: of the stages that may ask language models."""
    return [*(f"generate-{writer}" for writer in writers), "decompose"]


def noting(writers: Iterable[str], costly_metrics: Iterable[str]) -> list[str]:
    """Files of table `notes`: of the stages that may have something to say, as the data goes."""
    measuring = [f"measure-{metric}" for metric in costly_metrics]
    return ["ingest", *asking(writers), "measure", *measuring, "meta_evaluate"]
