"""Which metric to trust for which decision."""

from metassay.tables.columns import table
from metassay.tables.evidence import EVIDENCE

CERTIFICATES = table(
    "certificates",
    "which metric to trust for which decision, and how sure we are",
    "study criterion part metric judge level",
    """
    study criterion part metric judge level
    verdict text: `use`, `these systems only`, `promising`, `cannot tell`, `explained by` a
      confound, `too weak`, `contrary` or `undefined`; docs/meta-evaluation.md says when
    advice text: what to do about the metric, in a few words
    trusted boolean: true exactly for `use` and `these systems only`
    as_good_as_rater boolean: whether the metric agrees with raters as well as a rater does, or at
      most `margin` less: by against_rater_low, and only where the verdict is `promising` or better
    only_between_systems boolean: whether half or more of the correlation goes with the system held
      constant, and what is left is not promising: such a metric says nothing of two texts of one
      system. Only where the verdict is `promising` or better
    coefficient primary value low high low_these_systems high_these_systems p shown_by smallest_p n
      n_systems n_families n_documents n_clusters n_strata n_undefined n_tied n_missing design
      corrected corrected_low corrected_high accuracy chance epsilon n_pairs with_raters rater
      against_rater against_rater_low against_rater_high n_raters n_against_rater confound
      given_confound given_confound_p within_systems within_systems_p
    needed_systems integer?: about so many systems (families) would settle it, together with
      needed_documents; only where the verdict is `cannot tell` or `promising`, and within a hundred
      times the study
    needed_documents integer?: the number of documents (clusters) that goes with it
    sentence text: the verdict in words
    recipe
    """,
    EVIDENCE.columns,
)
