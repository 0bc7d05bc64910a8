"""Names of drugs by the stems of WHO's international nonproprietary names."""

import re

_STEM = re.compile(
    r"cef[a-z]{4,}|[a-z]{2,}(?:"
    r"[aeiou]pril|sartan|olol|vastatin|azole|oxacin|cillin|mycin|micin|cycline"
    r"|formin|gliptin|gliflozin|glutide|glitazone|parin|xaban|gatran|[aeiou]mab|dipine|tidine"
    r"|triptan|nisone|tisone|thasone|ticasone|solone|onide|zepam|zolam|setron|oxetine|traline"
    r"|pramine|triptyline|lukast|buterol|meterol|tropium|thiazide|semide|profen|fenac|oxicam"
    r"|coxib|codone|morphone|barbital|ciclovir|cyclovir|tamivir|dronate|gabalin|racetam|tinib"
    r"|zosin|steride|denafil|platin|taxel|rubicin|phylline|thyroxine|peridone|tiapine|zapine"
    r")"
)


def has_drug_stem(word: str) -> bool:
    """Return whether a word in lower case is a drug's name by its stem.

    Each stem is long enough not to match other words (cholesterol, April, protocol).

    >>> has_drug_stem("lisinopril"), has_drug_stem("april")
    (True, False)
    """
    return _STEM.fullmatch(word) is not None
