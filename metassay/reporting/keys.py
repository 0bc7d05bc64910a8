"""What a row of a result is about: its study, criterion and part, their order and their names."""

from operator import itemgetter

from metassay.tables.names import EACH_PART, FULL, STATEMENT

_PARTS = (
    FULL,
    "subjective",
    "objective_exam",
    "objective_results",
    "assessment_and_plan",
    "background",
    "method",
    "result",
    "conclusion",
)

Key = tuple[str, str, str]  # study, criterion, part

key_of = itemgetter("study", "criterion", "part")  # of a row: its Key


def part_rank(part: str) -> tuple[int, str]:
    """Return the sorting key of one part."""
    return (_PARTS.index(part) if part in _PARTS else len(_PARTS), part)


def criterion_title(criterion: str, part: str) -> str:
    """Name the criterion, with the part where that isn't the whole text."""
    if part == EACH_PART:
        return f"{criterion}, within each part"
    if part == STATEMENT:
        return f"{criterion}, by statement"
    return criterion if part == FULL else f"{criterion}, {part}"
