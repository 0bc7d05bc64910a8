"""DocLens's tables: what its systems and sections are called here, and its scores of metrics."""

import pandas as pd

from metassay.reporting.cells import USED, Cell, Compare, Ours, as_frame, macro_values
from metassay.reporting.tables import rows
from metassay.tables.names import FULL

# Its own outputs of GPT-3.5 and GPT-4 (all rows of tables 20 to 27 with a number of shots, but not
# "Reported ...") were not released: what is called chatgpt and gpt4 here are other texts.
AUTHORS = {
    ("BART + SAMSum FT", "full"): "bart_samsum_full",
    ("BART + SAMSum FT", "section"): "bart_samsum_section",
    ("BioBART", "full"): "biobart_full",
    ("BioBART", "section"): "biobart_section",
    ("ChatGPT", "full"): "chatgpt",
    ("GPT-4", "full"): "gpt4",
    ("Reported GPT-3.5-turbo", "full, 0-shot"): "chatgpt",
    ("Reported GPT-4", "full, 0-shot"): "gpt4",
}
SECTIONS = {
    "full note": FULL,
    "Subjective": "subjective",
    "Objective-Exam": "objective_exam",
    "Objective-Results": "objective_results",
    "Assessment and Plan": "assessment_and_plan",
}
_NOT_EXPECTED = (
    "Unexpected: the same texts under rouge-score 0.1.2 without stemming gave the printed digits."
    " Look for another version, other texts, or another segmentation."
)


def compare_scores(metrics: dict[str, str]) -> Compare:
    """100 x our macro value of the metric that stands for each printed quantity."""

    def compare(printed: pd.DataFrame, tables: Ours) -> pd.DataFrame:
        ours = macro_values(tables.leaderboard)
        cells = []
        for section, system, setting, quantity, value, note in rows(printed, *USED):
            author = AUTHORS.get((system, setting))
            key = (SECTIONS.get(section), metrics.get(quantity), author)
            if key in ours:
                number = ours[key]
                row = f"{system}, {setting}"
                column = quantity if section == "full note" else f"{section} {quantity}"
                scaled = None if number is None else 100 * number
                cells.append(Cell(row, column, scaled, float(value), note))
        return as_frame(cells, reason=_NOT_EXPECTED)

    return compare
