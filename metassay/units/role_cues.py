"""What speaks for a role of a sentence in scientific English.

A cue is a pattern, and the points that it gives to a role if a sentence matches it. We
chose the points, on a scale of logarithms: 1 makes a role about three times as likely.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, get_args

Role = Literal["background", "objective", "method", "result", "conclusion", "other"]
ROLES: tuple[Role, ...] = get_args(Role)


class Cue(NamedTuple):
    """Points for a role, and a pattern in a sentence's lower case; it counts once a sentence."""

    points: float
    pattern: re.Pattern[str]


Cues = Mapping[Role, Sequence[Cue]]


def _cue(points: float, pattern: str) -> Cue:
    return Cue(points=points, pattern=re.compile(pattern))


# ---- parts of patterns

_AUTHORS = (
    "(?:we|i|the authors?|this (?:paper|study|work|article|research|thesis|report"
    "|chapter))"
)
_THIS_WORK = (
    "(?:this|the present|the current|our|present) "
    "(?:paper|study|work|article|research|thesis|report|chapter|survey|trial|review"
    "|investigation)"
)
_VERBS_OF_FINDING = (
    "(?:show(?:s|ed|n)?|demonstrat(?:e|es|ed)|indicat(?:e|es|ed)|reveal(?:s|ed)?"
    "|confirm(?:s|ed)?|f(?:i|ou)nds?|observ(?:e|es|ed)|prov(?:e|es|ed)"
    "|establish(?:es|ed)?)"
)
_VERBS_OF_MAKING = (
    "(?:propos(?:e|es|ed)|present(?:s|ed)?|introduc(?:e|es|ed)|describ(?:e|es|ed)"
    "|develop(?:s|ed)?|design(?:s|ed)?)"
)
_VERBS_OF_STUDY = (
    r"(?:investigat\w+|examin\w+|explor\w+|stud(?:y|ies|ied)|address(?:es|ed)?"
    "|analy[sz]e[sd]?|review(?:s|ed)?|discuss(?:es|ed)?|consider(?:s|ed)?"
    r"|aim(?:s|ed)?|seeks?|sought|attempt\w*|assess(?:es|ed)?|focus(?:es|ed)?)"
)
_VERBS_OF_METHOD = (
    "(?:use[sd]?|appl(?:y|ied)|employ(?:ed)?|train(?:ed)?|comput(?:e|ed)"
    "|calculat(?:e|ed)|measur(?:e|ed)|collect(?:ed)?|conduct(?:ed)?|perform(?:ed)?"
    "|carr(?:y|ied) out|implement(?:ed)?|extract(?:ed)?|combine[d]?|compare[d]?"
    "|model(?:l?ed)?|simulate[d]?|construct(?:ed)?|adopt(?:ed)?|select(?:ed)?"
    "|recruit(?:ed)?|search(?:ed)?|estimate[d]?|formulate[d]?|interview(?:ed)?"
    "|survey(?:ed)?|randomi[sz]ed|derive[d]?|define[d]?)"
)
_PEOPLE = (
    "(?:patients?|participants?|subjects?|adults?|children|infants?|women|men|girls?"
    "|boys?|people|persons?|individuals?|volunteers?|nurses?|physicians?|students?"
    "|respondents?|cases?|controls?|mice|rats?|animals?|cells?|trials?|studies"
    "|articles|samples?|specimens?|eyes|kidneys)"
)
_NUMBER = (
    r"(?:\d[\d.,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    "|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?)"
)
# An adverb, or nothing.
_ADVERB = r"(?:\w+ly |then |also |first |not )?"
# What is done to gather data and to compute with them.
_METHOD_PARTICIPLES = (
    "(?:(?:re-?)?assigned|randomi[sz]ed|allocated|enrolled|recruited|invited"
    "|interviewed|surveyed|asked|followed|measured|assessed|recorded|collected"
    "|obtained from|counted|scored|rated|graded|examined|evaluated|analy[sz]ed"
    "|compared|reviewed|searched|extracted|pooled|estimated|computed|calculated"
    "|quantified|determined by|defined|identified (?:from|through|by|in|using)"
    "|selected|sampled|drawn|stored|cultured|treated with|stimulated|incubated"
    "|injected|administered|given|fed|exposed to|depleted|stained|sequenced|genotyped"
    "|performed|conducted|carried out|undertaken|used|applied|sent|matched|adjusted"
    "|stratified|blinded|tested|trained|adjudicated|monitored"
    "|included (?:if|when|in the)|excluded|eligible|glued|built|kept|marked|judged"
    "|read)"
)
# After "we": what was done, whatever it was.
_METHOD_VERB = (
    "(?!found|observed|showed|demonstrated|detected|noted|saw|confirmed|revealed"
    "|concluded|hypothesi[sz]ed|aimed|sought|identified|need|indeed|discovered)"
    r"(?:\w+ed|put|built|sowed|gave|took|ran|drew|made|chose|undertook|held|kept|sent"
    "|read)"
)
_TEST = (
    "(?:questionnaires?|regression|models?|analys[ei]s|an?c?ova|t-?tests?|interviews?"
    "|meta-analysis|meta-regression|chromatography|blot(?:ting)?|assays?|sequencing"
    "|microscopy|scale|intention[- ]to[- ]treat)"
)
_CHANGE_VERB = (
    "(?:f[ae]ll|rose|dropped|increased?|decreased?|declined|improved|worsened|reduced"
    "|lowered|doubled|halved|grew|gained|lost|shortened|prolonged|slowed|suppressed"
    "|restored|remained|reached|averaged|ranged|saved|exceeded|yielded)"
)
_COMPARATIVE = (
    "(?:higher|lower|greater|longer|shorter|larger|smaller|more|fewer|less|better"
    "|worse|older|younger|faster|slower|cooler|warmer|similar|comparable|equal|common"
    "|frequent(?:ly)?|unaffected|unchanged|rare|absent)"
)

# ---- cues of any text

GENERAL_CUES: Cues = {
    # what is known, common or lacking
    "background": [
        _cue(
            1.6,
            "in (?:recent|the (?:last|past)) (?:years|decades?|few)"
            "|recent(?:ly| years)",
        ),
        _cue(
            1.2,
            r"^(?:however|although|despite|while|nevertheless|unfortunately|yet)\b",
        ),
        _cue(
            1.3,
            r"\b(?:has|have) (?:\w+ )?(?:been|become|gained|received|attracted"
            r"|shown)\b",
        ),
        _cue(1.0, r"\b(?:is|are) (?:\w+ )?(?:an?|one of the|among the) \w+"),
        _cue(
            1.0,
            r"\b(?:important|increasing(?:ly)?|widely|popular|common(?:ly)?|major"
            r"|often)\b",
        ),
        _cue(
            1.4,
            r"\b(?:little|not|poorly|less) (?:is )?(?:well )?"
            r"(?:known|understood|studied)\b",
        ),
        _cue(
            1.0,
            r"\b(?:remains?|lacks?|lack of|challeng(?:e|es|ing)|difficult"
            r"|problems?)\b",
        ),
        _cue(
            0.8,
            r"\b(?:many|most|several|existing|traditional|previous|typically"
            r"|usually)\b",
        ),
        _cue(0.7, r"\bthere (?:is|are|has|have)\b|\bdue to\b|\bbecause\b|\bsince\b"),
    ],
    # what this text is for
    "objective": [
        _cue(
            3.0,
            r"\b(?:aims?|goals?|purposes?|objectives?|intention)\b "
            r"(?:of|is|was|here|in|behind|were|are)\b",
        ),
        _cue(
            2.5,
            rf"\b{_AUTHORS} (?:\w+ )?(?:aim(?:s|ed)?|seeks?|sought|attempt\w*"
            r"|intend\w*)[ ]",
        ),
        _cue(
            2.4, rf"\b{_THIS_WORK} (?:\w+ )?(?:{_VERBS_OF_MAKING}|{_VERBS_OF_STUDY})\b"
        ),
        _cue(2.2, rf"\b(?:in|here|with|throughout) {_THIS_WORK}\b"),
        _cue(
            1.6,
            r"^(?:here|to (?:address|this end|overcome|tackle)\b.{0,150}), we "
            rf"(?:{_VERBS_OF_MAKING}|{_VERBS_OF_STUDY})\b",
        ),
        _cue(1.2, rf"\bwe (?:\w+ )?{_VERBS_OF_STUDY} (?:the|whether|how|if|a|an)\b"),
        _cue(1.0, rf"\bwe (?:\w+ )?{_VERBS_OF_MAKING} (?:a|an|the)\b"),
        _cue(
            1.0,
            r"\bto (?:determine|investigate|assess|evaluate|examine|explore"
            r"|identify)\b",
        ),
        _cue(
            2.0,
            "^to (?:determine|investigate|assess|evaluate|examine|compare"
            r"|describe)\b",
        ),
    ],
    # what was done, and how it works
    "method": [
        _cue(
            1.6,
            rf"\b(?:we|i) (?:(?:then|also|first|further|next|\w+ly) )?{_VERBS_OF_METHOD}\b",
        ),
        _cue(
            1.4,
            rf"\b(?:is|are|was|were|been) (?:(?:then|also|first|\w+ly) )?{_VERBS_OF_METHOD}\b",
        ),
        _cue(1.0, rf"\bwe (?:also |further |then )?{_VERBS_OF_MAKING}\b"),
        _cue(
            1.5,
            "^(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|then|next|specifically"
            r"|after)\b",
        ),
        _cue(
            1.0,
            r"\b(?:using|based on|by means of|consists? of|is composed of"
            r"|in order to)\b",
        ),
        _cue(
            1.0,
            r"\b(?:our|the proposed|this|the) "
            r"(?:method|approach|algorithm|model|framework)\b",
        ),
        _cue(
            1.0,
            r"\b(?:each|into|input|output|parameters?|steps?|algorithms?"
            r"|procedures?)\b",
        ),
        _cue(
            1.6,
            r"\b(?:participants|patients|subjects|samples?|data) (?:\w+ )?"
            r"(?:were|was)\b",
        ),
        _cue(
            1.2,
            r"\b(?:randomi[sz]ed|questionnaires?|interviews?|cohort|placebo"
            r"|double-blind)\b",
        ),
    ],
    # what came out
    "result": [
        _cue(
            3.0,
            r"\b(?:results?|findings|experiments?|simulations?"
            rf"|evaluations?)\b.{{0,150}}\b{_VERBS_OF_FINDING}\b",
        ),
        _cue(
            2.4,
            "^(?:(?:our|the|these|extensive|experimental|numerical|main"
            r"|simulation) )*results\b",
        ),
        _cue(
            1.8,
            rf"\b(?:we|it (?:is|was)) (?:(?:also|further|then|\w+ly) )?{_VERBS_OF_FINDING}\b",
        ),
        _cue(1.6, rf"\b{_VERBS_OF_FINDING} that\b"),
        _cue(
            1.6,
            r"\b(?:outperform\w*|achiev(?:e|es|ed|ing)|state[- ]of[- ]the[- ]art"
            r"|superior)\b",
        ),
        _cue(
            1.6,
            r"\d ?%|\bper ?cent\b|\bp ?[<=>] ?0?\.\d|\bconfidence interval\b"
            r"|\b95 ?% ci\b",
        ),
        _cue(
            1.2,
            r"\b(?:significant(?:ly)?|higher|lower|better|faster|improv\w+|increased"
            r"|reduced)\b",
        ),
        _cue(
            1.0,
            r"\b(?:accuracy|effective(?:ness)?|compar(?:ed|able) (?:to|with)|than)\b",
        ),
        _cue(
            1.4,
            r"\bwe (?:also )?(?:demonstrate|evaluate|validate|verify|illustrate)\b",
        ),
        _cue(
            1.3,
            r"^finally\b|^in addition\b|\b(?:experimental(?:ly)?|experiments"
            r"|benchmarks?)\b",
        ),
        _cue(
            1.2,
            r"\b(?:associated with|correlat\w+|agree(?:s|ment)?|consistent with"
            r"|ranged)\b",
        ),
        _cue(
            1.3,
            r"\b(?:is|are|was|were|be) (?:\w+ )?"
            r"(?:found|shown|observed|seen|detected|obtained)\b",
        ),
        _cue(
            0.9,
            r"\b(?:obtain(?:s|ed)?|yield(?:s|ed)?|turns? out|leads? to|depends? on"
            r"|exceed\w*)\b",
        ),
        _cue(
            0.7,
            r"\b(?:increases?|decreases?|larger|smaller|stronger|weaker|maximum"
            r"|minimum)\b",
        ),
    ],
    # what it means
    "conclusion": [
        _cue(
            5.0,
            r"\b(?:we|authors?|it is|be) conclude[ds]?\b"
            r"|\bin (?:conclusion|summary)\b",
        ),
        _cue(
            4.0,
            r"^(?:overall|taken together|together|collectively|in sum|to conclude)\b",
        ),
        _cue(
            4.2,
            r"\b(?:results?|findings?|data|study|analys[ei]s|work|observations?"
            r"|evidence)\b[^.]{0,60}\b(?:suggest|impl(?:y|ies)|support|underlin"
            "|highlight|underscore|emphasi[sz]e)",
        ),
        _cue(
            3.6,
            r"\b(?:implications?|lessons|recommend\w*|limitations?) (?:\w+ )?"
            r"(?:for|of|are|is|that)\b",
        ),
        _cue(
            3.4,
            r"\b(?:future|further) (?:\w+ )?(?:work|research|studies|directions?"
            r"|investigations?)\b",
        ),
        _cue(
            3.0,
            r"^(?:thus|hence|therefore|consequently|accordingly)\b"
            r"|\bwe (?:suggest|argue|believe|interpret|speculate)\b",
        ),
        _cue(
            2.2,
            r"\b(?:may|might|could|should) (?:\w+ )?"
            r"(?:be|have|help|provide|lead|serve|explain|contribute)\b",
        ),
        _cue(
            2.2,
            r"\b(?:promising|potential(?:ly)?|insights?|contributes?|pave|useful"
            r"|valuable|understanding)\b",
        ),
        _cue(
            2.0,
            r"^(?:this|these|our) (?:\w+ )?(?:results?|findings?|stud(?:y|ies)|work"
            r"|approach)\b",
        ),
    ],
    # about the publication itself
    "other": [
        _cue(
            6.0,
            r"\ball rights reserved\b|^(?:\u00a9|\(c\)|copyright\b)|\bpublished by\b"
            r"|\blicen[cs]e\b",
        ),
        _cue(
            5.0,
            r"\b(?:elsevier|springer|wiley|ieee|acm)\b.{0,20}(?:ltd|inc|b\.|v\.|$)"
            r"|^ltd\b|^v\.",
        ),
        _cue(
            4.5,
            r"https?:|\bwww\.|\bdoi\b|github|\be-?mail\b|@\w+\.\w|\bkey ?words\b",
        ),
        _cue(
            2.5,
            "^(?:key ?words|index terms|subject areas|jel classification"
            r"|categories and)\b|\u00a9",
        ),
        _cue(4.5, r"\b(?:vol|pp|no)\. ?(?:\d|$)|^\d{4} elsevier|\bissn\b|\barxiv\b"),
        _cue(
            4.0,
            r"\b(?:on|upon) request\b|\bavailable (?:online|at|from)\b"
            r"|\bcan be found (?:at|on|in)\b",
        ),
        _cue(
            4.0,
            r"\b(?:source code|code|software|datasets?|supplementary \w+) "
            r"(?:is|are|will be) (?:\w+ )?available\b",
        ),
        _cue(3.5, r"\b(?:supported|funded) (?:in part )?by\b"),
        _cue(
            3.0,
            "^(?:trial registration|funding|conflicts? of interest"
            r"|acknowledge?ments?)\b",
        ),
    ],
}

# ---- cues of reports of studies
#
# A trial, a cohort, a review, a case, an experiment. Such a report tells in the past what
# was done and what came of it, and in the present what is known before and meant after
# it. Elsewhere tense says little.

STUDY_CUES: Cues = {
    "background": [
        _cue(
            0.9,
            r"^(?!.*\b(?:was|were|did|had)\b).*\b"
            r"(?:is|are|has|have|can|may|often|rarely)\b",
        ),
        _cue(
            1.2,
            r"\b(?:common|leading|frequent|rare|major) (?:\w+ )?"
            r"(?:causes?|reasons?|complications?)\b",
        ),
        _cue(
            1.6,
            r"\b(?:un(?:known|clear|certain)|not (?:been )?(?:known|understood"
            "|established|identified|studied)|scarce|lacking|conflicting"
            "|few (?:trials|studies|data)|rarely (?:been )?studied|has been hard"
            r"|remains? (?:difficult|debated))\b",
        ),
    ],
    "objective": [
        _cue(
            2.4,
            r"^(?:\w+: )?to (?:determine|investigate|assess|evaluate|examine|compare"
            "|describe|explore|estimate|identify|measure|test|characteri[sz]e"
            r"|quantify|summari[sz]e|review|study|see|establish|analy[sz]e|report)\b",
        ),
        _cue(
            1.8,
            r"\bwe (?:\w+ )?(?:aim(?:ed)?|sought|ask(?:ed)?|investigated|examined"
            "|explored|hypothesi[sz]ed|wanted|set out|tested) "
            "(?:to|if|whether|how|which|what|that|the (?:effects?|association))",
        ),
        _cue(
            1.6,
            r"\b(?:this|our|the present) (?:\w+ )?(?:study|trial|review|analysis) "
            r"(?:\w+ )?(?:assessed|examined|investigated|compared|evaluated|tested"
            r"|aimed|determined|explored|describes?)\b",
        ),
        _cue(2.0, r"\b(?:aim|goal|purpose|objective)s? (?:of|was|were|is)\b"),
    ],
    "method": [
        _cue(2.0, rf"\bwe {_ADVERB}{_METHOD_VERB}\b"),
        _cue(1.6, rf"\bwe {_ADVERB}{_METHOD_VERB} .{{0,30}}\b{_NUMBER}\b"),
        _cue(
            1.2,
            rf"\b(?:from|in|of|with|to) (?:all )?{_NUMBER} (?:\w+ )?"
            f"(?:{_PEOPLE}|donors|cent(?:re|er)s|hospitals|practices|schools|homes"
            r"|agencies)\b.{0,150}\b(?:was|were)\b"
            r"|\b(?:was|were)\b.{0,150}\bto (?:all )?\d[\d,]*[ ]",
        ),
        _cue(1.9, rf"\b(?:was|were) {_ADVERB}{_METHOD_PARTICIPLES}\b"),
        _cue(
            1.6,
            r"\b(?:retrospective|prospective|cross-sectional|case[- ]control"
            "|parallel[- ]group|cross-?over|open-label|double-blind|single-blind"
            "|multicent(?:re|er)|randomi[sz]ed(?: controlled)?|cohort|observational"
            r"|qualitative|pilot|online|controlled) (?:\w+[ -]){0,2}"
            r"(?:stud(?:y|ies)|trials?|survey|design|experiment|analysis)\b",
        ),
        _cue(
            1.8,
            r"\b(?:primary|secondary|main) (?:outcome|end-?point)s?\b"
            r"|\boutcomes? (?:was|were)\b|\b(?:inclusion|exclusion"
            r"|eligibility) criteria\b|\beligible\b"
            r"|\b(?:blinded|masked|unaware|did not know)\b"
            r"|\bintention[- ]to[- ]treat\b",
        ),
        _cue(
            1.2,
            rf"\b(?:with|using|by|used|included|from|a) (?:[\w-]+ ){{0,3}}{_TEST}\b",
        ),
        _cue(
            1.0,
            r"\b(?:between|from) (?:\w+ )?(?:19|20)\d\d (?:and|to|through|until)\b"
            r"|\badjust(?:ed|ing) for\b",
        ),
        _cue(
            1.2,
            r"\b(?:databases?|medline|pubmed|embase|registr(?:y|ies)|codes|records"
            r"|charts)\b",
        ),
        _cue(
            1.2,
            r"\b(?:followed|observed|for|over|weekly|daily|every|at) (?:\w+ ){0,3}"
            r"(?:weeks|months|years|days)\b",
        ),
        _cue(
            3.0,
            r"\b(?:we (?:report|describe|present)|case of)\b.{0,150}\b"
            r"(?:case|patients?)\b|\byear-old\b",
        ),
        _cue(
            1.4,
            rf"^(?:in (?:this|an?) )|\b{_NUMBER} (?:\w+ ){{0,3}}{_PEOPLE} "
            r"(?:\w+ ){0,4}(?:or|either)\b",
        ),
    ],
    "result": [
        _cue(
            2.6,
            r"\bp ?[<=>\u2264] ?0?\.\d|\bp ?[<>=]|\bconfidence interval\b"
            r"|\b\d+ ?% ci\b|\bci[:,]? \d",
        ),
        _cue(
            2.0,
            r"\b(?:odds|hazard|risk|rate) ratio\b"
            r"|\b(?:a?or|a?hr|rr|smd|auc|irr|iqr|sd)\b[ =:]*-?\d|\bmean difference\b"
            r"|\u00b1|\bi2\b|\bsensitivity (?:of|was)\b|\barea under\b"
            r"|\brespectively\b",
        ),
        _cue(1.4, r"\d ?%|\bper ?cent\b|\bpercentage points\b|\bfold\b|\btwofold\b"),
        _cue(2.0, rf"\b{_CHANGE_VERB}\b.{{0,60}}\d"),
        _cue(
            1.5,
            r"\bfrom [\d.]+ (?:.{0,20} )?to [\d.]+\b.{0,150}(?<![\d:])[.]\d"
            r"|\bby [\d.]+ \w+",
        ),
        _cue(
            1.8,
            rf"\b(?:was|were|had|did|\w+ed|became|took) (?:\w+ ){{0,4}}{_COMPARATIVE}\b"
            rf"|\b{_COMPARATIVE}\b.{{0,150}}\bthan\b|\bcompared (?:with|to)\b.{{0,150}}\d",
        ),
        _cue(
            2.2,
            r"\bdid not (?:\w+ )?(?:differ|change|improve|affect|increase|fall)\b"
            r"|\bno (?:\w+ )?(?:differences?|effect|change|association)\b"
            r"|\bhad no effect\b|\bno \w+ (?:was|were)\b|\bnone of\b|\bneither\b",
        ),
        _cue(
            1.5,
            r"\b(?:was|were) (?:\w+ )?(?:associated|correlated|linked|related)\b",
        ),
        _cue(
            2.0,
            r"^(?:he|she|the patient)\b|^on (?:\w+ )?examination\b"
            r"|^(?:at|after) [\w-]+ (?:days|weeks|months|years)\b"
            r"|\b(?:tomography|imaging|biops(?:y|ies)|histology|puncture)\b.{0,150}\b"
            r"(?:revealed|showed|confirmed|disclosed)\b",
        ),
        _cue(
            2.4,
            rf"^(?:of|among|in all|overall|altogether),? (?:the |all )?{_NUMBER}\b"
            r"|^a total of\b|^overall,",
        ),
        _cue(
            3.0,
            rf"^(?:{_NUMBER}|half|most|many|some|one|no) (?:of|[\w-]+ ).{{0,40}}\b"
            "(?:were included|completed|responded|emerged|met|wanted|had|died"
            r"|cracked|dropped|withdrew|stopped)\b",
        ),
        _cue(
            1.8,
            rf"\b{_NUMBER} of (?:the |these |our )?{_NUMBER}\b"
            r"|\b(?:there|it) (?:was|were)\b|\b(?:mean|median) [\w -]{2,30} "
            r"(?:was|were|of|reached)\b",
        ),
        _cue(
            1.4,
            r"\b(?:revealed|showed|occurred|appeared|predicted|reproduced|recovered"
            "|developed|survived|died|returned|remained|emerged|disclosed|responded"
            r"|completed)\b",
        ),
    ],
    "conclusion": [
        _cue(
            1.8,
            r"^(?!.*(?:\bwas\b|\bwere\b|\bdid\b|\bhad\b|\d ?%)).*\b"
            "(?:is|are|may|might|could|should|can|would|supports?|suggests?|needs?"
            r"|reduces?|improves?|shows?|represents?|identify|increases?|deserves?)\b",
        ),
        _cue(1.0, r"\b(?:may|might|could|should|can)\b"),
        _cue(1.5, r"\b(?:is|are) (?:\w+ly )?(?:associated|related|linked)\b"),
        _cue(
            2.0,
            r"\b(?:are|is) (?:needed|warranted|required|feasible|possible|safe"
            r"|effective|worth)\b",
        ),
        _cue(2.4, r"\bwe (?:therefore )?(?:recommend|conclude|propose that|suggest)\b"),
        _cue(
            2.0,
            r"\b(?:clinicians|physicians|guidelines|policy ?makers"
            r"|practice)\b.{0,150}\bshould\b",
        ),
        _cue(
            2.2,
            r"^(?:these|our|the|this) (?:\w+ )?"
            "(?:findings|results|data|study|case|cases|observations"
            r"|review)\b.{0,40}\b(?:suggest|indicate|support|highlight|identif|show"
            "|underline|illustrate|demonstrate|imply)",
        ),
    ],
    "other": [
        _cue(
            3.0,
            r"\b(?:registered (?:at|with|in)|clinicaltrials\.gov|trial registration"
            r"|prospero|isrctn|nct\d)",
        ),
    ],
}

# ---- is a text the report of a study?

_ENOUGH = 0.4  # the share of a text's sentences that must be about a study
_AGAINST = 2  # the number of them that one sentence of another type outweighs
# Sentences that tell of a study.
_STUDY = re.compile(
    rf"\b(?:was|were|did|had)\b|\b(?:{_CHANGE_VERB}|heard|chose|occurred|appeared"
    rf"|showed)\b|\bwe {_ADVERB}(?:{_METHOD_VERB}|found|saw|observed|showed)\b"
    r"|\bp ?[<=>] ?0?\.\d|\b95 ?% ci\b|\b(?:trials?|cohort|patients?|participants"
    "|randomi[sz]ed|placebo|clinical|mice|disease|therapy|treatment|infections?"
    r"|symptoms|mortality|cancer|surgery|diagnosis|syndrome)\b"
)
# Sentences that a report of a study does not have.
_NO_STUDY = re.compile(
    r"\bthis paper\b|\bwe (?:propose|introduce|develop|prove|derive|formulate)\b"
    r"|\bwe (?:present|describe)\b(?! (?:a|the|two|three|an \w+) (?:\w+ )?(?:case"
    r"|patient|\d))|\balgorithms?\b|\bstate[- ]of[- ]the[- ]art\b"
    r"|\b(?:the|is|are) proposed\b|\bframework\b"
)


def is_study(sentences: Sequence[str]) -> bool:
    """Return whether a text reports a study: measurements, not a design.

    >>> is_study(["We enrolled 40 patients.", "Pain fell by half (p < 0.01)."])
    True
    >>> is_study(["This paper presents a state-of-the-art algorithm."])
    False
    """
    score = 0
    for sentence in sentences:
        lower = sentence.lower()
        score += bool(_STUDY.search(lower))
        score -= _AGAINST * bool(_NO_STUDY.search(lower))
    return score >= _ENOUGH * len(sentences)
