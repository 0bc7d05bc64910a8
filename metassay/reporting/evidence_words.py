"""What a benchmark's page says of tables of the view Evidence, by group and in their order."""

from metassay.reporting.contract import CellInfo
from metassay.reporting.table_words import TableWords

GROUPS = {
    "Which metric to trust": {
        "certificates": TableWords(
            title="Certificates",
            figures={
                "forest": (
                    "Each metric's correlation with people per criterion, with "
                    "intervals and one rater's own"
                ),
            },
            pick=("study", "criterion", "part", "level"),
            cell=CellInfo(
                value="value", low="low", high="high", n="n", missing="n_missing"
            ),
            hide=(
                "trusted",
                "as_good_as_rater",
                "only_between_systems",
                "coefficient",
                "primary",
                "low_these_systems",
                "high_these_systems",
                "shown_by",
                "smallest_p",
                "n_systems",
                "n_families",
                "n_documents",
                "n_clusters",
                "n_strata",
                "n_undefined",
                "n_tied",
                "design",
                "corrected",
                "corrected_low",
                "corrected_high",
                "chance",
                "epsilon",
                "n_pairs",
                "with_raters",
                "rater",
                "against_rater_low",
                "against_rater_high",
                "n_raters",
                "n_against_rater",
                "given_confound_p",
                "within_systems",
                "within_systems_p",
                "sentence",
                "recipe",
            ),
            says="""
                Choose your decision first: is it about any two texts, about two texts
                of one document, or about two systems? Then read the metric’s verdict.
                Signs are turned so that more is better. Intervals are for other systems
                and other documents; those of these systems are for other documents
                alone.
                """,
        ),
        "warnings": TableWords(
            pick=(),
            lead=("kind",),
            hide=("position",),
        ),
        "designs": TableWords(
            title="What was rated",
            pick=(),
            lead=("study", "criterion", "part"),
            says="""
                What counts by itself. The table of warnings has what was found to
                belong together.
                """,
        ),
        "correlations": TableWords(
            title="Correlations with people",
            pick=("study", "criterion", "part", "coefficient"),
            across="level",
            picture="tiles",
            says="""
                Every metric’s correlation with people, by level and coefficient, the
                sign as it is: a good metric correlates negatively with an error rate.
                """,
        ),
        "strata": TableWords(
            across="stratum",
        ),
        "components": TableWords(
            across="component",
            picture="tiles",
        ),
        "significance": TableWords(
            pick=("study", "criterion", "part", "level", "coefficient", "test"),
            lead=("metric_a", "metric_b"),
            cell=CellInfo(
                value="difference", low="low", high="high", n="n", missing="n_missing"
            ),
        ),
        "metric_correlations": TableWords(
            pick=("study", "part", "coefficient"),
            lead=("first",),
            across="second",
            picture="pairs",
        ),
        "ensembles": TableWords(
            pick=("study", "criterion", "part", "coefficient", "kind"),
            lead=("members",),
        ),
        "confounds": TableWords(
            pick=("study", "criterion", "part", "level", "statistic"),
            across="confound",
        ),
        "conflict_shares": TableWords(
            analysis="conflicts",
            pick=("part",),
            lead=("metric_a",),
            across="metric_b",
            cell=CellInfo(value="share", n="n_pairs"),
            picture="pairs",
        ),
        "conflicts": TableWords(
            title="Conflicts by document",
            pick=("part", "metric_a", "metric_b"),
            lead=("doc_id",),
            says="",
        ),
        "disagreements": TableWords(
            title="Texts worth annotating",
            pick=("part",),
            lead=("metric_a", "metric_b", "doc_id", "author_a", "author_b"),
            says="""
                Ratings of these texts say most about which of two metrics is right. A
                correlation over them is not that over all texts: it makes one metric
                look better than it is, and the other worse. Write `disagreement` into
                a column `chosen_by` of their ratings, and evaluations leave them out.
                """,
        ),
    },
    "People": {
        "rating_summaries": TableWords(
            pick=("study", "of", "part"),
            lead=("name",),
            across="criterion",
            cell=CellInfo(
                value="mean", low="low", high="high", n="n", missing="n_missing"
            ),
        ),
        "rating_violins": TableWords(
            title="What people gave, on one scale",
            figures={
                "violins": (
                    "What people gave each system by criterion, and the mean with its "
                    "interval"
                ),
            },
            pick=("study", "part"),
            lead=("author",),
            across="criterion",
            cell=CellInfo(value="mean", low="low", high="high", n="n"),
            says="""
                Ratings brought from the scale of their criterion to 0 (worst) to 1
                (best), with the interval of the mean for other documents and the same
                systems and raters. Comparisons and the reference’s own ratings are left
                out.
                """,
        ),
        "ranks": TableWords(
            title="Systems in order",
            pick=("scorer_is", "scorer", "study", "part"),
            lead=("author",),
            cell=CellInfo(value="value", low="low", high="high"),
            hide=("metric", "judge"),
            picture="dots",
            says="""
                Each system’s mean by a metric or by people, and its rank among the
                systems; equal means share a rank. Ranks say nothing of how far systems
                are apart: look at the intervals. Metrics that say nothing of quality
                are left out.
                """,
        ),
        "agreement": TableWords(
            pick=("study", "criterion"),
            lead=("rater_a", "rater_b"),
            across="coefficient",
            picture="tiles",
        ),
        "raters": TableWords(
            title="How each person rated",
            pick=("study", "criterion", "part"),
            lead=("rater", "author"),
            says="""
                Each rater’s ratings, on the criterion’s own scale. SD has the
                denominator n − 1. “(all)” stands for all systems, or for all raters.
                Compare the n before the means: raters who saw other texts may have a
                lower mean because their texts were worse.
                """,
        ),
        "preferences": TableWords(
            cell=CellInfo(value="value", missing="n_missing"),
        ),
        "facet_weights": TableWords(
            pick=("study", "part", "rubric"),
            lead=("method",),
            across="criterion",
            cell=CellInfo(
                value="weight", low="low", high="high", n="n", missing="n_missing"
            ),
        ),
        "corrected": TableWords(
            lead=("metric", "judge", "author", "method"),
        ),
    },
    "Judges": {
        "answers": TableWords(
            title="What judges answered",
            pick=("judge",),
            lead=("measure",),
            says="""
                Every place that needs an answer, by what came of it. Equal questions
                are asked once. What a judge abstained of, what failed and what was not
                judged counts as unknown, never as “not entailed”: scores say how many
                there are, and their bounds say what these could change.
                """,
        ),
        "judge_cards": TableWords(
            across="statistic",
            hide=("recipe", "width", "threshold"),
        ),
        "calibration": TableWords(
            title="What probabilities mean",
            lead=("metric", "judge", "bin"),
            cell=CellInfo(value="passed", low="low", high="high", n="n"),
            says="",
        ),
        "language_models": TableWords(
            title="Language models",
            pick=(),
            lead=("stage", "model"),
            says="""
                Asking again may get the answers that are missing: the next metassay run
                does. A question failed for good where the endpoint rejected it, as it
                would again; metassay run NAME --ask-again asks it again. Costs are at
                list price. You may have paid less, because answers are kept and not
                bought twice, or more, because failed attempts may be billed. metassay
                ledger stats says what you paid.
                """,
        ),
    },
    "Systems": {
        "leaderboard": TableWords(
            title="Leaderboard",
            figures={
                "leaderboard": (
                    "Each author's mean on the main metrics, with bootstrap intervals"
                ),
            },
            pick=("part",),
            across="author",
            cell=CellInfo(
                value="macro",
                low="low",
                high="high",
                n="n_documents",
                missing="n_failed",
                least="least",
                most="most",
            ),
            says="""
                Each value is the mean over documents (macro), with its bootstrap
                interval; micro is the value pooled over the corpus, for metrics that
                can be pooled. What is missing is never taken for “not entailed”:
                n_failed of n_expected answers (without a judge: texts) are missing,
                because they failed or the judge abstained, and least and most are what
                the mean could be with them.
                """,
        ),
        "system_groups": TableWords(
            title="Systems that cannot be told apart",
            pick=("metric", "judge"),
            lead=("author",),
            cell=CellInfo(value="value", n="n_documents"),
            says="""
                Systems that share a letter cannot be told apart by the metric. All
                pairs are compared at once, text by text of the same documents, so that
                with equal systems any two of them get no common letter in at most 1 of
                20 such tables, or what the confidence says. What is not told apart need
                not be equal. Documents that belong together, by `design: cluster` or as
                copies, count as one. Where only scores and ratings show that documents
                belong together, there are no letters.
                """,
        ),
    },
    "Texts": {
        "profile": TableWords(
            title="What the texts are like",
            pick=("quantity",),
            lead=("author",),
            cell=CellInfo(
                value="mean", low="low", high="high", n="n", missing="n_missing"
            ),
            picture="dots",
            says="""
                Means over texts, with their bootstrap interval over documents, and the
                difference to the reference of the same documents. None of these says
                how good a text is. Popularity is how common a text’s content words are
                in the sources and references of the other documents: the mean of log10
                of a word’s occurrences per million, plus one occurrence; 1 more is ten
                times as common.
                """,
        ),
        "facets": TableWords(
            title="Facets or sections of the texts",
            pick=(),
            lead=("author",),
            across="facet",
            cell=CellInfo(
                value="share", low="low", high="high", n="n_shares", missing="n_unknown"
            ),
            picture="tiles",
            says="""
                Shares are means over texts of the share of a text’s words, with their
                bootstrap interval over documents; a word in two facets counts half in
                each. A facet is absent from a text if no word of the text belongs to
                it, also where all that a model returned is made up, that is, not in the
                text; then its share is 0. A text in which no section was found lacks
                none.
                """,
        ),
        "criteria": TableWords(
            title="Criteria of rubrics",
            pick=("rubric",),
            lead=("criterion",),
            says="""
                A rubric asks several things of a text, each with its own scale, or
                counts penalties. Each criterion is a metric, RUBRIC_CRITERION; its
                score is the answer, or its share of the highest one. Weights are those
                of the overall score.
                """,
        ),
        "rubric_grades": TableWords(
            title="Grades",
            pick=("rubric", "judge"),
            lead=("author",),
            across="criterion",
            cell=CellInfo(value="mean", n="n", missing="n_missing"),
            says="""
                Means of the grades as they were given, with their standard deviation
                (divided by n). An answer that failed is missing, and never a low grade.
                """,
        ),
        "rubric_levels": TableWords(
            title="How often each grade was given",
            pick=("rubric", "judge", "criterion"),
            lead=("author",),
            across="grade",
            cell=CellInfo(value="share", n="n"),
            hide=("low", "high", "better"),
            picture="tiles",
            says="",
        ),
        "rubric_agreement": TableWords(
            title="Grades of judges and of people",
            pick=("rubric", "study"),
            lead=("criterion", "judge"),
            across="coefficient",
            says="""
                Where people gave the same grades: how often they are equal (percent)
                and agreement beyond chance (kappa), with each rater in turn, then the
                mean over raters; alpha has the judge as one rater more. 1 is perfect.
                """,
        ),
    },
    "Data": {
        "notes": TableWords(
            title="Notes on the data",
            pick=("stage",),
            lead=(),
            ordered=False,
            says="Warnings about your data. None of them stopped the run.",
        ),
    },
}
