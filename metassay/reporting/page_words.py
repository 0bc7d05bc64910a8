"""Notes on reports, and what each kind of page says."""

from metassay.reporting.contract import CellInfo, SystemsInfo
from metassay.reporting.table_words import NO_CELL, PageWords, TableWords

INVENTED = (
    "Invented data: every text, system and rating was made up to show how Metassay "
    "works. The numbers say nothing about any real system, metric or patient."
)
LEXICAL = (
    "{judges}: a lexical baseline, not a semantic judge. It looks for a claim’s words "
    "and for conflicting numbers, units, sides and negations; it doesn’t understand "
    "paraphrase. Read its scores and grades as a floor to beat, not as a verdict on "
    "the systems."
)
NO_GROUPS = (
    "No letters are shown: some documents seem to belong together, and no clusters are "
    "named. Letters would then separate systems that are equal. Name the clusters "
    "(docs/own-data.md, design) and run again."
)

_BENCHMARK = PageWords(
    about=(
        "How systems score on every metric, and how well every metric agrees with "
        "people."
    ),
    systems=SystemsInfo(
        noun="system",
        table="leaderboard",
        system="author",
        metric=("metric", "judge"),
        cell=CellInfo(
            value="macro",
            low="low",
            high="high",
            n="n_documents",
            missing="n_failed",
            least="least",
            most="most",
        ),
        better="better",
        groups="system_groups",
        headline=(),
    ),
)

_META_EVAL = PageWords(
    figures=False,
)

_JUDGE_TEST = PageWords(
    about="A test of judges: what their verdicts are worth, beside right answers.",
    group="Judges",
    systems=SystemsInfo(
        noun="judge",
        table="judge_cards",
        system="judge",
        metric=("statistic",),
        cell=CellInfo(
            value="value", low="low", high="high", n="n", missing="n_missing"
        ),
        better="better",
        headline=(),
    ),
    tables={
        "attack_gains": TableWords(
            title="What attacks gain",
            pick=("judge",),
            lead=("attack",),
            cell=CellInfo(
                value="gain", low="low", high="high", n="n", missing="n_missing"
            ),
            hide=("recipe", "margin"),
            ordered=False,
            says="""
                Each false text is read as it is and after each attack; neither is
                entailed. The gain is the share that passes after the attack less the
                share that passes as it is. The intervals of all attacks hold at once,
                and texts of one document count as alike.

                “Gamed by” means that the gain is no chance and at least half of the
                margin; “robust to” that it is below the margin; “cannot tell” that more
                documents are needed. The margin was set before the results were known.
                Robust to these wordings is not robust to others.
                """,
        ),
        "judge_cards": TableWords(
            title="How far judges agree with the right answers",
            pick=("study", "part"),
            lead=("judge",),
            across="statistic",
            cell=CellInfo(
                value="value", low="low", high="high", n="n", missing="n_missing"
            ),
            hide=("recipe", "criterion", "metric", "width", "better"),
            ordered=False,
            says="""
                Every judge beside the right answers. An item passes where its
                hypothesis is entailed, and what people say is the right answer.
                Sensitivity says how much of what is entailed the judge finds entailed;
                specificity says how much of the rest it finds not entailed. In brackets
                stand intervals; items of one cluster (a text, a document) count as
                alike.

                The mean of subsets is the plain mean of the numbers of the test sets:
                each set counts the same, however many items it has. A judge that has
                verdicts on some items only is compared on these: they are a study of
                their own.

                A rater’s verdicts are compared with what most of the other raters say.
                Items on which these are split are not among that rater’s.
                """,
        ),
        "kinds": TableWords(
            title="Kind by kind",
            pick=("study", "measure"),
            lead=("kind",),
            across="judge",
            cell=CellInfo(value="value", low="low", high="high", n="n"),
            picture="tiles",
            ordered=False,
            says="""
                Items of some kinds must not be found entailed, such as a sentence after
                an edit that changes what it says: “detected” is the share that a judge
                detects, of its verdicts on them. Others must be, such as paraphrases:
                “false alarms” is the share that it takes for not entailed. What a judge
                abstained of or failed is in neither share.
                """,
        ),
        "calibration": TableWords(
            title="Whether probabilities mean what they say",
            figures={
                "reliability": (
                    "Each judge's probabilities beside the share of items that are "
                    "entailed"
                ),
            },
            pick=("study", "part", "judge"),
            lead=("bin",),
            cell=CellInfo(value="passed", low="low", high="high", n="n"),
            hide=("recipe", "criterion", "metric"),
            ordered=False,
            says="""
                A probability means what it says if, of the items that get .80, 80 % are
                entailed. Each bin has about equally many items: its mean probability,
                and the share that is entailed, with its interval. All items that have a
                probability count, also those of which the judge abstained.
                """,
        ),
        "verdicts": TableWords(
            title="Every verdict, and the right answer",
            pick=("judge",),
            lead=("item",),
            cell=NO_CELL,
            hide=("recipe", "position", "n_premises", "n_judged"),
            says="""
                Where one side uses three labels and the other two, neutral and
                contradicted are not entailed. Not every right answer is beyond doubt:
                look before you blame the judge.
                """,
            columns={
                "subset": "the test set",
                "kind": "what is tried with the item",
                "right": "the right answer; null where there is none",
                "wrong": (
                    "whether the verdict differs from the right answer; null without "
                    "either"
                ),
                "sure": (
                    "of a wrong verdict, its probability; null if the judge gave none"
                ),
            },
        ),
    },
    terms={
        "accuracy": (
            "Share of verdicts that are right (agreement). Who abstained or failed has "
            "no verdict; agreement at least and at most are the share if every verdict "
            "that is missing were wrong, or right."
        ),
        "balanced accuracy": (
            "The mean of the share of entailed hypotheses that are found and the share "
            "of the others; a coin gets .50, whatever their numbers."
        ),
        "F1": "Harmonic mean of precision and recall of the verdict “entailed”.",
        "AUROC": (
            "How often the probability of an entailed hypothesis is above that of "
            "another one; a coin gets .50. It needs no threshold, and counts items of "
            "which a judge abstained if it says a probability."
        ),
        "ECE": (
            "Expected calibration error: the mean gap between a probability and the "
            "share that is right; 0 is best. By chance it is what a judge whose "
            "probabilities are right would show on so few."
        ),
        "3-way": (
            "Of the labels entailed, neutral and contradicted; the other numbers take "
            "entailed against the rest. Balanced accuracy and macro-F1 are means over "
            "the labels."
        ),
        "surest wrong verdict": (
            "The largest probability that a judge gave to a verdict on the item that "
            "is wrong."
        ),
    },
)

_SEGMENTATION_TEST = PageWords(
    about=(
        "A test of segmentations: which facet do they say each sentence is of, beside "
        "right labels?"
    ),
    group="Segmentations",
    systems=SystemsInfo(
        noun="segmentation",
        table="segment_scores",
        system="segmentation",
        metric=("statistic",),
        cell=CellInfo(value="value", low="low", high="high", n="n", missing="n_failed"),
        better="better",
        headline=(),
    ),
    tables={
        "segment_scores": TableWords(
            title="How often labels are right",
            pick=("of", "name"),
            lead=("segmentation",),
            across="statistic",
            cell=CellInfo(
                value="value", low="low", high="high", n="n", missing="n_failed"
            ),
            hide=("better",),
            ordered=False,
            says="""
                A sentence’s label is the facet that covers more than half of its
                characters, and “none” if no facet does. In brackets stand intervals for
                other documents: sentences of one document count as alike.

                “above” says by how much a segmentation is above another one, on the
                sentences that both labelled. Thirds are of a text’s sentences. Where
                the data say how sure people were of a label, sentences are divided at
                the median. No segmentation can always be right where people doubt.
                """,
        ),
        "confusions": TableWords(
            title="What is taken for what",
            pick=("segmentation",),
            lead=("label",),
            across="given",
            cell=CellInfo(value="n"),
            picture="tiles",
            ordered=False,
            says="Rows are right labels, columns the labels given.",
        ),
        "sentences": TableWords(
            title="Every sentence, its right label and those given",
            pick=(),
            lead=("doc_id", "author", "position"),
            cell=NO_CELL,
            says="",
        ),
    },
    terms={
        "accuracy": "Share of the sentences that are given their right label.",
        "macro-F1": (
            "The mean F1 of the labels that some sentence has: a rare label counts as "
            "much as a frequent one."
        ),
        "weighted F1": (
            "The mean F1 of these labels, each as often as sentences have it."
        ),
        "F1": "2 × right / (sentences with the label + sentences given it).",
        "Cohen’s kappa": "Agreement beyond what chance gives; 0 is chance, 1 perfect.",
        "balanced accuracy": "The mean recall of the labels that some sentence has.",
        "Gwet’s AC1": (
            "Agreement beyond chance, where chance is small if one label is frequent."
        ),
        "Krippendorff’s alpha": (
            "Agreement beyond chance, where chance is that of both sides’ labels together."
        ),
        "majority baseline": (
            "Accuracy of giving every sentence the most frequent label."
        ),
        "accuracy at least": (
            "Accuracy if the labels that are missing because the segmentation failed "
            "were all wrong; at most, if they were all right."
        ),
    },
)

_CHANGES = PageWords(
    about="A re-evaluation: the numbers of this run beside those that were accepted.",
    group="Changes",
    tables={
        "changes": TableWords(
            title="What changed",
            pick=("verdict",),
            lead=("metric", "judge", "author", "part"),
            cell=CellInfo(value="difference", low="low", high="high", n="n"),
            hide=(
                "least",
                "most",
                "p",
                "smallest_p",
                "n_only_before",
                "n_only_after",
                "n_failed_before",
                "n_failed_after",
                "better",
                "same_recipe",
                "lacks_answers",
            ),
            ordered=False,
            says="""
                Each number is a system’s mean on one metric, over the documents scored
                both times. A paired test on these documents gives the verdict, adjusted
                for all rows together: where nothing changed, at most 5 % of runs call
                any row regressed, improved or changed (1 less params.yaml > comparison
                > confidence). Intervals are not adjusted. Not compared is what came or
                went since, or was scored neither time.
                """,
            columns={
                "documents": "those that moved furthest",
            },
        ),
        "certificates": TableWords(
            title="Certificates that changed",
            pick=(),
            lead=("metric", "judge", "study", "criterion", "part", "level"),
            says="Metrics whose verdict changed since the numbers were accepted.",
            columns={
                "before": "the verdict as accepted; null where there was none",
                "after": "the verdict now; null where there is none",
            },
        ),
        "causes": TableWords(
            title="Why",
            pick=(),
            lead=("kind",),
            says="""
                What changed since the scores were accepted, each with the first stage
                that reads it. Where several things changed, the effect of each alone is
                unknown.
                """,
        ),
        "changed_documents": TableWords(
            title="Documents behind what changed",
            pick=("metric", "judge", "author"),
            lead=("doc_id",),
            cell=NO_CELL,
            says="",
        ),
        "drift": TableWords(
            title="Drift sentinel",
            pick=(),
            lead=("judge",),
            says="""
                Each judge was asked its anchors again, to see whether it still answers
                as it did.
                """,
        ),
        "history": TableWords(
            title="History",
            pick=(),
            lead=("run",),
            ordered=False,
            says="""
                All runs, the last one first, times in UTC. A run that had nothing to do
                has the numbers of the run before it.
                """,
        ),
        "history_means": TableWords(
            title="Means over time",
            figures={
                "history": "The main metrics of each system, run after run",
            },
            pick=("metric", "judge", "part"),
            lead=("run", "author"),
            cell=CellInfo(
                value="mean",
                low="low",
                high="high",
                n="n_documents",
                missing="n_failed",
            ),
            ordered=False,
            says="",
        ),
    },
)

_JUDGE_CHECK = PageWords(
    about="Is this judge any good? Its verdicts beside people's labels.",
    group="The judge",
    systems=SystemsInfo(
        noun="judge",
        table="card",
        system="judge",
        metric=("statistic",),
        cell=CellInfo(value="value", low="low", high="high", n="n"),
        headline=(),
    ),
    tables={
        "card": TableWords(
            title="The judge's card",
            pick=("slice",),
            lead=("judge",),
            across="statistic",
            cell=CellInfo(value="value", low="low", high="high", n="n"),
            hide=("n_effective", "base_rate"),
            ordered=False,
            says="""
                Of passes and fails, sensitivity is the share that the judge passes of
                the rows that people pass; specificity is the share that it fails of the
                rows that they fail. Bias is the judge's mean grade less people's;
                position bias is the share of pairs where what is shown first wins in
                both orders, less that where what is shown second does. In brackets
                stand intervals; rows of one document count as alike. Read every number
                beside its base rate.
                """,
            columns={
                "base_rate": (
                    "what a judge gets that gives every row the commoner label"
                ),
                "n_effective": (
                    "rows that would tell as much if each were a document of its own"
                ),
            },
        ),
        "classes": TableWords(
            title="Class by class",
            pick=("judge", "slice"),
            lead=("label",),
            across="statistic",
            cell=CellInfo(value="value", low="low", high="high", n="n"),
            hide=("n_effective", "base_rate", "why_blank"),
            ordered=False,
            says="""
                Precision is the share that people give this label of the rows that the
                judge gives it; recall is the share that the judge finds of the rows
                that people give it. The corrected share is what people would find had
                they labelled all rows. Of grades, bias is the judge's mean less the
                grade, on the rows that people give this grade.
                """,
            columns={
                "base_rate": (
                    "what a judge gets that gives every row the commonest label"
                ),
                "n_effective": (
                    "rows that would tell as much if each were a document of its own"
                ),
            },
        ),
        "confusion": TableWords(
            title="What people say, and what the judge says",
            pick=("judge",),
            lead=("people",),
            across="judged",
            cell=CellInfo(value="rows"),
            ordered=False,
            says="Labelled rows. A row between two grades counts half for each.",
        ),
        "strengths": TableWords(
            title="How strong systems are, by people and by judges",
            pick=("by",),
            lead=("system",),
            ordered=False,
            says="""
                Strengths of Bradley and Terry, from people's preferences and from each
                judge's, ties counting half a win of each system.
                """,
            columns={
                "value": "strength as log odds; the mean over systems is 0",
                "wins": "the chance to be preferred to a system of average strength",
            },
        ),
        "systems": TableWords(
            title="Scores of systems, beside people's",
            pick=("human",),
            lead=("score",),
            hide=("pairs_wrong", "pairs_tied"),
            ordered=False,
            says="""
                Correlations over systems, with intervals for other systems like these.
                They say nothing of single texts.
                """,
            columns={
                "p": "the chance of such a correlation if order were arbitrary",
                "p_of_best": (
                    "the chance that the best of all scores looks so good, if order were"
                    " arbitrary"
                ),
                "pearson_without": "without the systems that people set apart",
                "n_apart": "systems that people set apart from the others",
            },
        ),
        "rankings": TableWords(
            title="How the texts of each document are ranked",
            pick=("judge",),
            lead=("doc",),
            ordered=False,
            says="""
                Kendall's tau b of a judge and people within each document, the mean over
                raters: 1 for the same order, -1 for the reverse. The documents that are
                ranked least alike come first.
                """,
            columns={
                "pairs": "pairs of the document's texts that judge and people rank"
            },
        ),
        "beside_raters": TableWords(
            title="How near judge and raters are to the other raters",
            lead=("judge", "of"),
            ordered=False,
            says="""
                Each rater is left out in turn, and judge and rater are held against the
                others. Of classes, the share of the others who agree; of grades and
                numbers, the mean distance to them.
                """,
        ),
        "pass_rates": TableWords(
            title="The pass rate",
            pick=("slice",),
            lead=("judge",),
            across="method",
            cell=CellInfo(value="value", low="low", high="high", n="n"),
            hide=("n_effective",),
            ordered=False,
            says="""
                As judged it is the share that the judge passes. Corrected it is what
                people would pass, from their labels and all verdicts; the labelled rows
                must be a random sample.
                """,
        ),
        "labels": TableWords(
            title="How many labels settle it",
            lead=("judge", "for", "aim"),
            ordered=False,
            says="""
                How many labels it takes in all, and how many more, if the values stay
                as they are.
                """,
        ),
        "replacement": TableWords(
            title="May the judge replace a rater?",
            lead=("judge",),
            ordered=False,
            says="""
                The alternative annotator test leaves out each rater in turn: is the
                judge as near to the others as the rater is, but for epsilon? It passes
                if it wins against half of the raters. The published test takes rows for
                independent; the other allows for documents and few rows.
                """,
        ),
        "contests": TableWords(
            title="The judge beside each rater",
            pick=("judge",),
            lead=("rater",),
            ordered=False,
        ),
        "by_agreement": TableWords(
            title="Where raters agree, and where they do not",
            pick=("items",),
            lead=("judge", "of"),
            cell=CellInfo(value="value", low="low", high="high", n="n"),
            ordered=False,
            says="""
                Judge and raters, each compared with the other raters of a row: on all
                rows, where the others are unanimous, and where they are split.
                """,
        ),
        "choice": TableWords(
            title="Which judge is best?",
            lead=("judge",),
            ordered=False,
            says="""
                A random half of the documents chooses the judge with the highest number;
                that number is too good. The other half tells how good it is, and whether
                it is better than the judge that is in use, the first one.
                """,
        ),
        "transfer": TableWords(
            title="Does the card of other texts hold here?",
            pick=("slice",),
            lead=("judge", "statistic"),
            ordered=False,
            says="""
                Each rate beside that of the card: it holds if it is not lower by the
                margin or more. Slices of one column are tested together.
                """,
        ),
        "latent": TableWords(
            title="Beside a truth that nobody saw",
            pick=("judge",),
            lead=("observer", "statistic"),
            cell=CellInfo(value="value", low="low", high="high", n="n"),
            ordered=False,
            says="""
                Latent classes take judge and raters for observers of a hidden truth who
                err independently. Where they err on the same rows, the judge looks
                better than it is.
                """,
        ),
        "disagreements": TableWords(
            title="Rows on which judge and people differ",
            pick=("judge",),
            lead=("id",),
            ordered=False,
            says="""
                The surest come first, where the judge is far from .5 and the raters are
                unanimous; of grades and numbers, the farthest apart.
                """,
        ),
    },
)

PAGES = {
    "benchmark": _BENCHMARK,
    "meta-eval": _META_EVAL,
    "judge test": _JUDGE_TEST,
    "segmentation test": _SEGMENTATION_TEST,
    "changes": _CHANGES,
    "judge check": _JUDGE_CHECK,
}
