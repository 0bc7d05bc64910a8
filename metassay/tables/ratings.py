"""What people said."""

from metassay.tables.columns import table

RATINGS = table(
    "ratings",
    "one person's judgment of one thing; never averaged here",
    "study doc_id author part unit rater criterion",
    """
    study text: the study the rating was made in
    doc_id author part
    unit text: `text`; `claim:N` for one claim; `statement:N` for one sentence of the author's text;
      `versus:AUTHOR` for a preference
    rater text: who judged
    criterion text: what was judged; its scale is declared in params.yaml
    value real?!: on the criterion's scale, to the last digit; null where the rater abstained
    """,
)
