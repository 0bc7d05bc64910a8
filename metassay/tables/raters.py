"""People against people: how far they agree, and what each gave."""

from metassay.tables.columns import table

AGREEMENT = table(
    "agreement",
    "how far raters agree",
    "study criterion coefficient rater_a rater_b",
    """
    study
    criterion text: the criterion
    coefficient percent|cohen_kappa|cohen_kappa_linear|cohen_kappa_quadratic|count_f1_0|
      count_f1_1|count_f1_2|spearman_with_others|kendall_with_others|spearman_below_others|
      fleiss_kappa|krippendorff_alpha_nominal|krippendorff_alpha_ordinal|
      krippendorff_alpha_interval|icc1|icc2|icc3|icc1k|icc2k|icc3k: the coefficient; 1 is
      perfect agreement. spearman_below_others: how far a rater's agreement with the others, the
      mean correlation with each, lies below theirs among themselves; its intervals draw texts, and
      hold for all raters at once
    rater_a text: a rater, or `all`
    rater_b text: another rater, `others` (the mean of the others), or `all`
    value real?: the coefficient; null if undefined
    low real?: lower end of the bootstrap interval over the things rated
    high
    n integer: things that both raters rated (`all`: two raters or more; ICC: every rater)
    n_missing integer: things that somebody rated and that are not counted in n
    n_resamples integer: resamples that have a coefficient
    """,
)

RATING_SUMMARIES = table(
    "rating_summaries",
    "what people gave on average, in all, to each system and by each rater. Ratings count as they"
    " are, one for each text or claim; comparisons are in `preferences`",
    "study criterion part of name",
    """
    study criterion part
    of all|author|rater: whose ratings: all of systems' texts; those of one author's texts; or those
      that one rater gave to systems' texts
    name text: the author or rater; empty for `all`
    mean real?: mean of the ratings; null if there is none
    low real?: lower end of the mean's interval, for these systems and raters and other documents,
      from a bootstrap over documents; null with one document
    high
    sd real?: standard deviation of the ratings, divided by n (ddof 0); null if there is none
    n integer: ratings that the mean rests on
    n_missing integer: ratings without a value: the rater abstained, or the cell is empty
    n_documents integer: documents that have a rating with a value
    """,
)
