"""Every term of pages, terminal and docs: one sentence, and perhaps more.

`make docs` writes docs/glossary.md from GROUPS. Verdicts begin with what to do;
{useful}, {alpha} and {fewest} are filled with the study's own settings, or with those
of NUMBERS.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    """What stands beside a term: its sentence, and further information."""

    says: str
    more: str = ""


# the settings of a new project's params.yaml
NUMBERS = {"useful": ".30", "alpha": ".05", "fewest": "6"}

GROUPS = {
    "What is evaluated": {
        "benchmark": Entry(
            "A dataset with the systems, metrics and judges that its own params.yaml "
            "names."
        ),
        "test of judges": Entry(
            "A benchmark whose items have known right answers, on which judges are "
            "tested."
        ),
        "document": Entry(
            "One input: a dialogue, a report or an article, about which each system "
            "writes a text."
        ),
        "source": Entry(
            "The document itself, divided into passages that texts may cite."
        ),
        "text": Entry(
            "What one system, or the reference's author, wrote about one document."
        ),
        "part": Entry(
            "The whole text (`full`), or a section or facet of it that is scored by "
            "itself."
        ),
        "reference": Entry("A text by people that metrics compare other texts with."),
        "system": Entry(
            "What writes texts: a model, a prompt, a person or a baseline."
        ),
        "facet": Entry(
            "What a stretch of text is for, such as background, method, result or "
            "conclusion."
        ),
        "statement": Entry(
            "A sentence of a text, or a piece of one that an author set apart."
        ),
        "claim": Entry("A statement that can be true or false by itself."),
        "segmentation": Entry("How texts are divided into parts."),
        "decomposition": Entry("How parts are divided into statements and claims."),
        "alignment": Entry(
            "How the passages are found that a statement is read against."
        ),
    },
    "Scores": {
        "metric": Entry("A rule or a model that gives each text a number."),
        "score": Entry("What a metric gives a text."),
        "main metric": Entry(
            "One of the few metrics that a report shows first, as params.yaml names "
            "them."
        ),
        "lexical baseline": Entry(
            "A judge or metric that compares words and numbers and understands "
            "nothing; a better one must beat it."
        ),
        "claim recall": Entry(
            "The share of the reference's claims that the text covers."
        ),
        "claim precision": Entry(
            "The share of the text's claims that the reference or the source supports."
        ),
        "citation recall": Entry(
            "The share of statements that the passages they cite support completely."
        ),
        "citation precision": Entry(
            "The share of citations that their statement needs or is supported by."
        ),
        "faithfulness": Entry(
            "How far passages of the source support a text's statements."
        ),
        "rubric": Entry(
            "Criteria that a judge grades a text by, each with a scale, or with "
            "penalties up to a cap."
        ),
        "judge": Entry(
            "What answers questions about claims and texts; a language model, a "
            "trained model or a rule."
        ),
        "abstained": Entry(
            "The judge was not sure enough to answer; the answer counts as unknown."
        ),
        "failed": Entry(
            "No sound answer could be had; the answer counts as unknown, never as the "
            "worst one."
        ),
        "bound": Entry(
            "The lowest or highest value that a score can have, whatever the missing "
            "answers are."
        ),
        "recipe": Entry(
            "All settings that made a number; numbers of different recipes are not "
            "compared as one."
        ),
    },
    "People": {
        "rater": Entry("A person who rated texts."),
        "criterion": Entry(
            "What raters rated, such as fluency, with its scale and its better end."
        ),
        "study": Entry("The ratings of one group of raters on one set of texts."),
        "agreement": Entry("How far raters give the same ratings."),
        "rater ceiling": Entry(
            "How well one rater agrees with the others, which is what a metric can be "
            "expected to reach."
        ),
        "stratum": Entry("A set of documents that is compared within itself alone."),
        "cluster": Entry(
            "Documents that belong together, such as those of one patient; they count "
            "as one."
        ),
        "family": Entry("Systems that are versions of each other; they count as one."),
        "primary metric": Entry(
            "The metric that was named before anybody looked; it is not adjusted for "
            "the others."
        ),
        "primary criterion": Entry(
            "The criterion that was named before anybody looked; it is not adjusted "
            "for the others."
        ),
        "confound": Entry(
            "What can explain a correlation without quality, such as length, copying "
            "or who wrote the text."
        ),
    },
    "Decisions": {
        "certificate": Entry(
            "The verdict on one metric for one criterion and one decision, with the "
            "numbers behind it."
        ),
        "any two texts": Entry(
            "The decision which of two texts is better, whatever their documents and "
            "systems."
        ),
        "two texts of one document": Entry(
            "The decision which of two systems' texts about the same document is "
            "better."
        ),
        "two systems": Entry(
            "The decision which of two systems is better, by the means of its texts."
        ),
        "correlation": Entry(
            "How closely metric and people agree, from -1 to 1; positive means that "
            "the metric prefers what people prefer."
        ),
        "interval": Entry(
            "The values that fit the data, for other systems and documents unless it "
            "says `these systems`."
        ),
        "adjusted p": Entry(
            "How often chance alone would give a relation this strong to any of the "
            "metrics tried."
        ),
        "accuracy": Entry("The share of pairs that the metric orders as people do."),
        "chance": Entry(
            "The accuracy of the same scores dealt to the texts at random."
        ),
        "useful": Entry(
            "The smallest correlation that is worth acting on, {useful} here; "
            "params.yaml > certification sets it."
        ),
        "corrected value": Entry(
            "The correlation of the best metric less what picking the best of many "
            "adds."
        ),
        "as good as a rater": Entry(
            "With other systems and documents the metric correlates with the raters "
            "nearly as well as one of them does, or better."
        ),
        "to settle it": Entry(
            "About how many systems and documents a study needs for a clear verdict."
        ),
    },
    "Verdicts on metrics": {
        "use": Entry(
            says="Rely on it.",
            more=(
                "With other systems and documents the correlation is still {useful} or "
                "more, the choice of the best metric allowed for; {fewest} systems or "
                "more show it."
            ),
        ),
        "these systems only": Entry(
            says="Rely on it for texts of this system.",
            more="Other systems were not rated.",
        ),
        "promising": Entry(
            says="Confirm it first.",
            more=(
                "The correlation is shown (p < {alpha}) and {useful} or more here; "
                "with other systems and documents it may be less."
            ),
        ),
        "cannot tell": Entry(
            says="Rate more.",
            more=(
                "The correlation is not shown, or is below {useful} here; {useful} or "
                "more is possible."
            ),
        ),
        "explained by": Entry(
            says="Do not use it.",
            more=(
                "Among texts that are equal in a confound, at least half of the "
                "correlation disappears, and the rest is not promising; or the metric "
                "knows only which class of systems or documents a text is of, and "
                "within classes less than {useful} is left."
            ),
        ),
        "too weak": Entry(
            says="Do not use it.",
            more="The correlation is less than {useful}.",
        ),
        "contrary": Entry(
            says="Check its direction.",
            more="It prefers what people reject.",
        ),
        "fitted": Entry(
            says="Test it on other ratings.",
            more=(
                "It was fitted on these ratings, so that agreement with them shows "
                "nothing."
            ),
        ),
        "undefined": Entry(
            says="Check the data.",
            more=(
                "There is no correlation to compute, as where every score is the same."
            ),
        ),
    },
    "Comparisons and weekly checks": {
        "accepted numbers": Entry(
            "The numbers that later runs are compared with; `metassay watch accept` "
            "sets them."
        ),
        "regressed": Entry(
            "The score is worse than before; a paired test on the same documents shows "
            "it."
        ),
        "improved": Entry(
            "The score is better than before; a paired test on the same documents "
            "shows it."
        ),
        "changed": Entry(
            "The score differs from before, and its metric has no better direction."
        ),
        "undecided": Entry(
            "Too few documents changed, or answers are missing, to say whether the "
            "score is worse (`cannot tell` in tables)."
        ),
        "no difference shown": Entry(
            "The scores differ, but no more than chance explains."
        ),
        "same numbers": Entry("Every document has the score that it had."),
        "sentinel": Entry(
            "A check that asks a language model the same questions again and compares "
            "the answers."
        ),
        "anchor": Entry(
            "A question that the sentinel asks again, with the answer it had."
        ),
        "drift": Entry(
            "A judge answers the same questions differently than it did, more often "
            "than chance explains."
        ),
    },
    "Projects": {
        "run": Entry(
            "Bring a benchmark's report up to date; only what changed is computed "
            "again."
        ),
        "stage": Entry(
            "One step of a run; DVC repeats it where its inputs, code or settings "
            "changed."
        ),
        "ledger": Entry(
            "The file with every answer of a language model, so that none is paid for "
            "twice."
        ),
        "access class": Entry(
            "Who may see a dataset's texts: public, credentialed or private; it "
            "decides where texts may be sent."
        ),
    },
}
