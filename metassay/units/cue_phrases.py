"""Phrases that speak for a role of a sentence, in scientific English, and how much each counts."""

_WHO = r"(?:we|i|the authors?|this (?:paper|study|work|article|research|thesis|report|chapter))"
_THIS = (
    r"(?:this|the present|the current|our|present) (?:paper|study|work|article|research|thesis"
    r"|report|chapter|survey|trial|review|investigation)"
)
_FOUND = (
    r"(?:show(?:s|ed|n)?|demonstrat(?:e|es|ed)|indicat(?:e|es|ed)|reveal(?:s|ed)?|confirm(?:s|ed)?"
    r"|f(?:i|ou)nds?|observ(?:e|es|ed)|prov(?:e|es|ed)|establish(?:es|ed)?)"
)
_MADE = (
    r"(?:propos(?:e|es|ed)|present(?:s|ed)?|introduc(?:e|es|ed)|describ(?:e|es|ed)|develop(?:s"
    r"|ed)?|design(?:s|ed)?)"
)
_ASKED = (
    r"(?:investigat\w+|examin\w+|explor\w+|stud(?:y|ies|ied)|address(?:es|ed)?|analy[sz]e[sd]?"
    r"|review(?:s|ed)?|discuss(?:es|ed)?|consider(?:s|ed)?|aim(?:s|ed)?|seeks?|sought|attempt\w*"
    r"|assess(?:es|ed)?|focus(?:es|ed)?)"
)
_DID = (
    r"(?:use[sd]?|appl(?:y|ied)|employ(?:ed)?|train(?:ed)?|comput(?:e|ed)|calculat(?:e|ed)"
    r"|measur(?:e|ed)|collect(?:ed)?|conduct(?:ed)?|perform(?:ed)?|carr(?:y|ied) out"
    r"|implement(?:ed)?|extract(?:ed)?|combine[d]?|compare[d]?|model(?:l?ed)?|simulate[d]?"
    r"|construct(?:ed)?|adopt(?:ed)?|select(?:ed)?|recruit(?:ed)?|search(?:ed)?|estimate[d]?"
    r"|formulate[d]?|interview(?:ed)?|survey(?:ed)?|randomi[sz]ed|derive[d]?|define[d]?)"
)

# By role: points, and a pattern in a sentence's lower case. Each counts once per sentence.
CUES: dict[str, tuple[tuple[float, str], ...]] = {
    "background": (  # what is known, common or lacking
        (
            1.6,
            r"in (?:recent|the (?:last|past)) (?:years|decades?|few)|recent(?:ly| years)",
        ),
        (1.2, r"^(?:however|although|despite|while|nevertheless|unfortunately|yet)\b"),
        (
            1.3,
            r"\b(?:has|have) (?:\w+ )?(?:been|become|gained|received|attracted|shown)\b",
        ),
        (1.0, r"\b(?:is|are) (?:\w+ )?(?:an?|one of the|among the) \w+"),
        (
            1.0,
            r"\b(?:important|increasing(?:ly)?|widely|popular|common(?:ly)?|major|often)\b",
        ),
        (
            1.4,
            r"\b(?:little|not|poorly|less) (?:is )?(?:well )?(?:known|understood|studied)\b",
        ),
        (
            1.0,
            r"\b(?:remains?|lacks?|lack of|challeng(?:e|es|ing)|difficult|problems?)\b",
        ),
        (
            0.8,
            r"\b(?:many|most|several|existing|traditional|previous|typically|usually)\b",
        ),
        (0.7, r"\bthere (?:is|are|has|have)\b|\bdue to\b|\bbecause\b|\bsince\b"),
    ),
    "objective": (  # what this text is for
        (
            3.0,
            r"\b(?:aims?|goals?|purposes?|objectives?|intention)\b (?:of|is|was|here|in|behind"
            r"|were|are)\b",
        ),
        (2.5, rf"\b{_WHO} (?:\w+ )?(?:aim(?:s|ed)?|seeks?|sought|attempt\w*|intend\w*) "),
        (2.4, rf"\b{_THIS} (?:\w+ )?(?:{_MADE}|{_ASKED})\b"),
        (2.2, rf"\b(?:in|here|with|throughout) {_THIS}\b"),
        (
            1.6,
            r"^(?:here|to (?:address|this end|overcome|tackle)\b.{0,150}),"
            rf" we (?:{_MADE}|{_ASKED})\b",
        ),
        (1.2, rf"\bwe (?:\w+ )?{_ASKED} (?:the|whether|how|if|a|an)\b"),
        (1.0, rf"\bwe (?:\w+ )?{_MADE} (?:a|an|the)\b"),
        (
            1.0,
            r"\bto (?:determine|investigate|assess|evaluate|examine|explore|identify)\b",
        ),
        (2.0, r"^to (?:determine|investigate|assess|evaluate|examine|compare|describe)\b"),
    ),
    "method": (  # what was done, and how it works
        (1.6, rf"\b(?:we|i) (?:(?:then|also|first|further|next|\w+ly) )?{_DID}\b"),
        (1.4, rf"\b(?:is|are|was|were|been) (?:(?:then|also|first|\w+ly) )?{_DID}\b"),
        (1.0, rf"\bwe (?:also |further |then )?{_MADE}\b"),
        (1.5, r"^(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|then|next|specifically|after)\b"),
        (1.0, r"\b(?:using|based on|by means of|consists? of|is composed of|in order to)\b"),
        (
            1.0,
            r"\b(?:our|the proposed|this|the) (?:method|approach|algorithm|model|framework)\b",
        ),
        (1.0, r"\b(?:each|into|input|output|parameters?|steps?|algorithms?|procedures?)\b"),
        (1.6, r"\b(?:participants|patients|subjects|samples?|data) (?:\w+ )?(?:were|was)\b"),
        (
            1.2,
            r"\b(?:randomi[sz]ed|questionnaires?|interviews?|cohort|placebo|double-blind)\b",
        ),
    ),
    "result": (  # what came out
        (
            3.0,
            r"\b(?:results?|findings|experiments?|simulations?|evaluations?)\b.{0,150}"
            rf"\b{_FOUND}\b",
        ),
        (
            2.4,
            r"^(?:(?:our|the|these|extensive|experimental|numerical|main|simulation) )*results\b",
        ),
        (1.8, rf"\b(?:we|it (?:is|was)) (?:(?:also|further|then|\w+ly) )?{_FOUND}\b"),
        (1.6, rf"\b{_FOUND} that\b"),
        (
            1.6,
            r"\b(?:outperform\w*|achiev(?:e|es|ed|ing)|state[- ]of[- ]the[- ]art|superior)\b",
        ),
        (1.6, r"\d ?%|\bper ?cent\b|\bp ?[<=>] ?0?\.\d|\bconfidence interval\b|\b95 ?% ci\b"),
        (
            1.2,
            r"\b(?:significant(?:ly)?|higher|lower|better|faster|improv\w+|increased|reduced)\b",
        ),
        (1.0, r"\b(?:accuracy|effective(?:ness)?|compar(?:ed|able) (?:to|with)|than)\b"),
        (1.4, r"\bwe (?:also )?(?:demonstrate|evaluate|validate|verify|illustrate)\b"),
        (
            1.3,
            r"^finally\b|^in addition\b|\b(?:experimental(?:ly)?|experiments|benchmarks?)\b",
        ),
        (1.2, r"\b(?:associated with|correlat\w+|agree(?:s|ment)?|consistent with|ranged)\b"),
        (
            1.3,
            r"\b(?:is|are|was|were|be) (?:\w+ )?(?:found|shown|observed|seen|detected|obtained)\b",
        ),
        (
            0.9,
            r"\b(?:obtain(?:s|ed)?|yield(?:s|ed)?|turns? out|leads? to|depends? on|exceed\w*)\b",
        ),
        (
            0.7,
            r"\b(?:increases?|decreases?|larger|smaller|stronger|weaker|maximum|minimum)\b",
        ),
    ),
    "conclusion": (  # what it means
        (
            5.0,
            r"\b(?:we|authors?|it is|be) conclude[ds]?\b|\bin (?:conclusion|summary)\b",
        ),
        (4.0, r"^(?:overall|taken together|together|collectively|in sum|to conclude)\b"),
        (
            4.2,
            r"\b(?:results?|findings?|data|study|analys[ei]s|work|observations?"
            r"|evidence)\b[^.]{0,60}\b(?:suggest|impl(?:y|ies)|support|underlin|highlight"
            r"|underscore|emphasi[sz]e)",
        ),
        (
            3.6,
            r"\b(?:implications?|lessons|recommend\w*|limitations?) (?:\w+ )?(?:for|of|are|is"
            r"|that)\b",
        ),
        (
            3.4,
            r"\b(?:future|further) (?:\w+ )?(?:work|research|studies|directions?"
            r"|investigations?)\b",
        ),
        (
            3.0,
            r"^(?:thus|hence|therefore|consequently|accordingly)\b|\bwe (?:suggest|argue|believe"
            r"|interpret|speculate)\b",
        ),
        (
            2.2,
            r"\b(?:may|might|could|should) (?:\w+ )?(?:be|have|help|provide|lead|serve|explain"
            r"|contribute)\b",
        ),
        (
            2.2,
            r"\b(?:promising|potential(?:ly)?|insights?|contributes?|pave|useful|valuable"
            r"|understanding)\b",
        ),
        (
            2.0,
            r"^(?:this|these|our) (?:\w+ )?(?:results?|findings?|stud(?:y|ies)|work|approach)\b",
        ),
    ),
    "other": (  # what is about the publication
        (
            6.0,
            r"\ball rights reserved\b|^(?:\u00a9|\(c\)|copyright\b)|\bpublished by\b"
            r"|\blicen[cs]e\b",
        ),
        (
            5.0,
            r"\b(?:elsevier|springer|wiley|ieee|acm)\b.{0,20}(?:ltd|inc|b\.|v\.|$)|^ltd\b|^v\.",
        ),
        (4.5, r"https?:|\bwww\.|\bdoi\b|github|\be-?mail\b|@\w+\.\w|\bkey ?words\b"),
        (
            2.5,
            r"^(?:key ?words|index terms|subject areas|jel classification|categories and)\b|\u00a9",
        ),
        (4.5, r"\b(?:vol|pp|no)\. ?(?:\d|$)|^\d{4} elsevier|\bissn\b|\barxiv\b"),
        (
            4.0,
            r"\b(?:on|upon) request\b|\bavailable (?:online|at|from)\b|\bcan be found (?:at|on"
            r"|in)\b",
        ),
        (
            4.0,
            r"\b(?:source code|code|software|datasets?|supplementary \w+) (?:is|are"
            r"|will be) (?:\w+ )?available\b",
        ),
        (3.5, r"\b(?:supported|funded) (?:in part )?by\b"),
        (3.0, r"^(?:trial registration|funding|conflicts? of interest|acknowledge?ments?)\b"),
    ),
}
