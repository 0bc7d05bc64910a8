"""What the user calls columns. Apart from `columns`, as `--help` reads it without pandas."""

from typing import NamedTuple


class Named(NamedTuple):
    """What columns are called: keys, those that slice the texts, and what belongs together."""

    doc: str = "doc_id"
    system: str = "system"  # `author` may stand for it, unless another name is asked for
    rater: str = "rater"
    by: tuple[str, ...] = ()
    strata: str = ""
    cluster: str = ""
    family: str = ""
    columns: tuple[str, ...] = ()  # of `--columns`, such as ratings.raters=ann,ben
    values: tuple[str, ...] = ()  # metrics and criteria that other options name

    @property
    def labels(self) -> tuple[str, ...]:
        """Every column that labels texts, once; keys label none."""
        grouping = [self.strata]
        grouping += [getattr(self, one) for one in ("cluster", "family") if not self.alone(one)]
        return tuple(dict.fromkeys([*self.by, *filter(None, grouping)]))

    def alone(self, option: str) -> bool:
        """Whether each document is its own cluster, or each system its own family.

        The standard names say so whatever the file calls the column.
        """
        keys = {"cluster": (self.doc, "doc_id"), "family": (self.system, "system", "author")}
        return getattr(self, option) in keys.get(option, ())
