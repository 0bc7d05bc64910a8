"""The numbers that verdicts on metrics rest on."""

from metassay.tables.columns import ONE_SIDED, ORIENTED, OTHERS, table

EVIDENCE = table(
    "evidence",
    "the numbers that verdicts on metrics rest on",
    "study criterion part metric judge level",
    f"""
    study criterion part metric judge
    level global|document|system: what is to be decided between: any two texts; two texts of one
      document; or two systems
    better higher|lower: which end of the criterion is better
    coefficient
    confidence real: the confidence of the intervals; the tests have 1 less this as their level
    primary boolean: whether the metric was named as the primary one before anybody looked; it is
      then not adjusted for the others
    value real?: the correlation; null if undefined. {ORIENTED}
    low real?: {OTHERS}
    high
    low_these_systems real?: lower end of the interval for these systems and other documents
    high_these_systems real?: upper end of the interval
    variance_systems real?: variance of the correlation, on Fisher's z scale, between sets of
      systems
    variance_documents real?: the same between sets of documents
    p real?: a small p shows that metric and people are related. It is the smallest of the level
      itself and of its components, in the direction of the value. It is adjusted for all of these
      and for all metrics of the level
    shown_by global|document|system|between_systems|between_documents|within?: what that p is of:
      the level itself or a component
    smallest_p real?: no p can be smaller here, because systems and documents have only so many
      orders
    n integer: what the value rests on: texts, documents or systems, by the level
    n_systems integer: systems that have texts with a score and a rating
    n_families integer: the same, families of systems counted as one
    n_documents integer: documents that have such texts
    n_clusters integer: the same, clusters of documents counted as one
    n_strata integer: strata; correlations are of what varies within each
    n_undefined integer: documents that have no correlation; 0 at other levels
    n_tied integer: documents whose texts people tell apart and the metric does not; 0 at other
      levels
    n_missing integer: {ONE_SIDED}
    design crossed|nested|one system|no systems: crossed: systems wrote on the same documents.
      Nested: each document has the text of one system, so that the test exchanges documents within
      a system only. One system: nothing can be said of other systems. No systems: nobody says who
      wrote the texts
    joint_confidence real: the confidence of corrected_low and corrected_high, at which the
      intervals of all metrics of the level hold at once
    corrected real?: the value, corrected for luck: the best of many metrics is partly the luckiest
    corrected_low real?: lower end of the interval that holds for all metrics at once
    corrected_high real?: upper end of the interval
    accuracy real?: share of pairs that the metric orders, or ties, as people do
    chance real?: the same share if the metric's scores are dealt at random
    epsilon real?: scores no further apart than this count as a tie; the choice that suits the
      metric best
    n_pairs integer: pairs of texts or systems behind the accuracy
    with_raters real?: the metric's correlation with the mean of all raters but one, averaged over
      the raters left out; null with one rater
    rater real?: the left-out rater's own, on the same texts, averaged likewise
    against_rater real?: `with_raters` less `rater`
    against_rater_low real?: lower end of its interval for other systems and documents; it holds for
      all metrics at once. Null where next to nothing is known
    against_rater_high real?: upper end of the interval
    n_raters integer: how many raters were left out in turn
    n_against_rater integer: texts, documents or systems, by the level, on which metric and rater
      are compared; the fewest of any rater
    confound text?: another metric: half or more of the correlation goes if it is held constant;
      null if there is none such
    given_confound real?: what is left of the correlation with it held constant
    given_confound_p real?: a small p shows that what is left is a relation; adjusted
    within_systems real?: the correlation with the system held constant: of texts by one system.
      Null at system level
    within_systems_p real?: a small p shows that this is a relation; adjusted. Null where more than
      half is left
    recipe
    """,
)
