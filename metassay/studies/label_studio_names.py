"""Names that tasks, config and results of Label Studio share; a number follows those that end in _.

`headings` and `columns` of a task's data say what the numbered names of that task stand for.
"""

RATER, ROW, COMMENT = "rater", "row", "comment"
HEADINGS, COLUMNS = "headings", "columns"
TEXT, ASKS, CHOICES, ANSWER = "text_", "asks_", "choices_", "answer_"
