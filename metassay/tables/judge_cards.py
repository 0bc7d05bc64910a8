"""What a judge's pass or fail is worth, and its probabilities."""

from metassay.tables.columns import table

CARD_STATISTICS = (
    *("true_pass", "false_pass", "false_fail", "true_fail"),
    *("sensitivity", "specificity", "precision", "negative_predictive_value"),
    *("balanced_accuracy", "f1", "cohen_kappa", "mcc", "agreement", "agreement_by_chance"),
    *("accuracy_3way", "balanced_accuracy_3way", "macro_f1_3way"),
    *("abstained", "failed", "agreement_at_least", "agreement_at_most"),
    *("judge_pass_rate", "people_pass_rate"),
    *("rogan_gladen_pass_rate", "prediction_powered_pass_rate"),
    *("auroc", "brier", "bias", "ece", "ece_by_chance"),
    *("labels_pass_rate", "labels_sensitivity", "labels_specificity"),
)

JUDGE_CARDS = table(
    "judge_cards",
    "what a judge's pass or fail of texts is worth, beside people's. In a test of judges each"
    " item counts as a text that passes if its hypothesis is entailed; study is its subset and"
    " part its kind",
    "study criterion part metric judge statistic",
    f"""
    study criterion part metric judge
    statistic {"|".join(CARD_STATISTICS)}: the number; docs/meta-evaluation.md explains each
    value real?: its value; null if undefined, as sensitivity is if people pass no text
    low real?: lower end of the interval; null for counts, labels and ece
    high
    n integer: texts that it rests on
    n_effective real: how many independent texts these are worth, as texts share documents
    n_judged integer: texts of the rated systems that the judge passes or fails
    n_missing integer: texts that people rated and the judge did not
    n_split integer: rated texts left out because half of their raters pass them
    threshold real?: the probability from which a text passes; null where scores are 0 and 1
    width real?: of `labels_` numbers: how wide the interval is to be
    recipe
    """,
)

CALIBRATION = table(
    "calibration",
    "whether a judge's probabilities of passing mean what they say, by bins of probability",
    "study criterion part metric judge bin",
    """
    study criterion part metric judge
    bin integer: counted from 0, the lowest probabilities first; bins are about equally large
    lowest real: the lowest probability in the bin
    highest real: the highest probability in the bin
    mean real: the mean probability in the bin
    passed real: share of the bin's texts that people passed
    low real: lower end of the interval of that share
    high real: upper end of the interval
    n integer: texts in the bin
    recipe
    """,
)
