"""What speaks for a role of a sentence in the report of a study: a trial, a cohort, a review, a
case, an experiment.

Such a report tells in the past what was done and what came of it, and in the present what is known
before and meant after it. Elsewhere tense says little, so these cues count in reports alone.
"""

_WHO = (
    r"(?:patients?|participants?|subjects?|adults?|children|infants?|women|men|girls?|boys?|people"
    r"|persons?|individuals?|volunteers?|nurses?|physicians?|students?|respondents?|cases?"
    r"|controls?|mice|rats?|animals?|cells?|trials?|studies|articles|samples?|specimens?|eyes"
    r"|kidneys)"
)
_NUMBER = (
    r"(?:\d[\d.,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six"
    r"|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?)"
)
_LY = r"(?:\w+ly |then |also |first |not )?"
# What is done to gather data and to compute with them.
_DONE = (
    r"(?:(?:re-?)?assigned|randomi[sz]ed|allocated|enrolled|recruited|invited|interviewed|surveyed"
    r"|asked|followed|measured|assessed|recorded|collected|obtained from|counted|scored|rated"
    r"|graded|examined|evaluated|analy[sz]ed|compared|reviewed|searched|extracted|pooled|estimated"
    r"|computed|calculated|quantified|determined by|defined|identified (?:from|through|by|in"
    r"|using)|selected|sampled|drawn|stored|cultured|treated with|stimulated|incubated|injected"
    r"|administered|given|fed|exposed to|depleted|stained|sequenced|genotyped|performed|conducted"
    r"|carried out|undertaken|used|applied|sent|matched|adjusted|stratified|blinded|tested|trained"
    r"|adjudicated|monitored|included (?:if|when|in the)|excluded|eligible|glued|built|kept|marked"
    r"|judged|read)"
)
_VERB = (  # told with "we" in front: done, whatever it was
    r"(?!found|observed|showed|demonstrated|detected|noted|saw|confirmed|revealed|concluded"
    r"|hypothesi[sz]ed|aimed|sought|identified|need|indeed|discovered)(?:\w+ed|put|built|sowed"
    r"|gave|took|ran|drew|made|chose|undertook|held|kept|sent|read)"
)
_TEST = (
    r"(?:questionnaires?|regression|models?|analys[ei]s|an?c?ova|t-?tests?|interviews?"
    r"|meta-analysis|meta-regression|chromatography|blot(?:ting)?|assays?|sequencing|microscopy"
    r"|scale|intention[- ]to[- ]treat)"
)
_CHANGED = (
    r"(?:f[ae]ll|rose|dropped|increased?|decreased?|declined|improved|worsened|reduced|lowered"
    r"|doubled|halved|grew|gained|lost|shortened|prolonged|slowed|suppressed|restored|remained"
    r"|reached|averaged|ranged|saved|exceeded|yielded)"
)
_MORE = (
    r"(?:higher|lower|greater|longer|shorter|larger|smaller|more|fewer|less|better|worse|older"
    r"|younger|faster|slower|cooler|warmer|similar|comparable|equal|common|frequent(?:ly)?"
    r"|unaffected|unchanged|rare|absent)"
)

# Sentences that tell of a study, and those that a study's report does not have.
STUDY = (
    rf"\b(?:was|were|did|had)\b|\b(?:{_CHANGED}|heard|chose|occurred|appeared|showed)\b"
    rf"|\bwe {_LY}(?:{_VERB}|found|saw|observed|showed)\b|\bp ?[<=>] ?0?\.\d|\b95 ?% ci\b"
    r"|\b(?:trials?|cohort|patients?|participants|randomi[sz]ed|placebo|clinical|mice|disease"
    r"|therapy|treatment|infections?|symptoms|mortality|cancer|surgery|diagnosis|syndrome)\b"
)
NO_STUDY = (
    r"\bthis paper\b|\bwe (?:propose|introduce|develop|prove|derive|formulate)\b|\bwe (?:present"
    r"|describe)\b(?! (?:a|the|two|three|an \w+) (?:\w+ )?(?:case|patient|\d))|\balgorithms?\b"
    r"|\bstate[- ]of[- ]the[- ]art\b|\b(?:the|is|are) proposed\b|\bframework\b"
)

STUDY_CUES: dict[str, tuple[tuple[float, str], ...]] = {
    "background": (
        (0.9, r"^(?!.*\b(?:was|were|did|had)\b).*\b(?:is|are|has|have|can|may|often|rarely)\b"),
        (
            1.2,
            r"\b(?:common|leading|frequent|rare|major) (?:\w+ )?(?:causes?|reasons?"
            r"|complications?)\b",
        ),
        (
            1.6,
            r"\b(?:un(?:known|clear|certain)|not (?:been )?(?:known|understood|established"
            r"|identified|studied)|scarce|lacking|conflicting|few (?:trials|studies|data)"
            r"|rarely (?:been )?studied|has been hard|remains? (?:difficult|debated))\b",
        ),
    ),
    "objective": (
        (
            2.4,
            r"^(?:\w+: )?to (?:determine|investigate|assess|evaluate|examine|compare|describe"
            r"|explore|estimate|identify|measure|test|characteri[sz]e|quantify|summari[sz]e|review"
            r"|study|see|establish|analy[sz]e|report)\b",
        ),
        (
            1.8,
            r"\bwe (?:\w+ )?(?:aim(?:ed)?|sought|ask(?:ed)?|investigated|examined|explored"
            r"|hypothesi[sz]ed|wanted|set out|tested) (?:to|if|whether|how|which|what|that"
            r"|the (?:effects?|association))",
        ),
        (
            1.6,
            r"\b(?:this|our|the present) (?:\w+ )?(?:study|trial|review"
            r"|analysis) (?:\w+ )?(?:assessed|examined|investigated|compared|evaluated|tested"
            r"|aimed|determined|explored|describes?)\b",
        ),
        (2.0, r"\b(?:aim|goal|purpose|objective)s? (?:of|was|were|is)\b"),
    ),
    "method": (
        (2.0, rf"\bwe {_LY}{_VERB}\b"),
        (1.6, rf"\bwe {_LY}{_VERB} .{{0,30}}\b{_NUMBER}\b"),
        (
            1.2,
            rf"\b(?:from|in|of|with|to) (?:all )?{_NUMBER} (?:\w+ )?(?:{_WHO}|donors|cent(?:re"
            rf"|er)s"
            r"|hospitals|practices|schools|homes|agencies)\b.{0,150}\b(?:was|were)\b|\b(?:was"
            r"|were)\b.{0,150}\bto (?:all )?\d[\d,]* ",
        ),
        (1.9, rf"\b(?:was|were) {_LY}{_DONE}\b"),
        (
            1.6,
            r"\b(?:retrospective|prospective|cross-sectional|case[- ]control|parallel[- ]group"
            r"|cross-?over|open-label|double-blind|single-blind|multicent(?:re|er)"
            r"|randomi[sz]ed(?: controlled)?|cohort|observational|qualitative|pilot|online"
            r"|controlled) (?:\w+[ -]){0,2}(?:stud(?:y|ies)|trials?|survey|design|experiment"
            r"|analysis)\b",
        ),
        (
            1.8,
            r"\b(?:primary|secondary|main) (?:outcome|end-?point)s?\b|\boutcomes? (?:was|were)\b"
            r"|\b(?:inclusion|exclusion|eligibility) criteria\b|\beligible\b|\b(?:blinded|masked"
            r"|unaware|did not know)\b|\bintention[- ]to[- ]treat\b",
        ),
        (1.2, rf"\b(?:with|using|by|used|included|from|a) (?:[\w-]+ ){{0,3}}{_TEST}\b"),
        (
            1.0,
            r"\b(?:between|from) (?:\w+ )?(?:19|20)\d\d (?:and|to|through|until)\b|\badjust(?:ed"
            r"|ing) for\b",
        ),
        (1.2, r"\b(?:databases?|medline|pubmed|embase|registr(?:y|ies)|codes|records|charts)\b"),
        (
            1.2,
            r"\b(?:followed|observed|for|over|weekly|daily|every|at) (?:\w+ ){0,3}(?:weeks|months"
            r"|years|days)\b",
        ),
        (
            3.0,
            r"\b(?:we (?:report|describe|present)|case of)\b.{0,150}\b(?:case|patients?)\b"
            r"|\byear-old\b",
        ),
        (
            1.4,
            rf"^(?:in (?:this|an?) )|\b{_NUMBER} (?:\w+ ){{0,3}}{_WHO} (?:\w+ ){{0,4}}(?:or"
            rf"|either)\b",
        ),
    ),
    "result": (
        (
            2.6,
            r"\bp ?[<=>\u2264] ?0?\.\d|\bp ?[<>=]|\bconfidence interval\b|\b\d+ ?% ci\b"
            r"|\bci[:,]? \d",
        ),
        (
            2.0,
            r"\b(?:odds|hazard|risk|rate) ratio\b|\b(?:a?or|a?hr|rr|smd|auc|irr|iqr"
            r"|sd)\b[ =:]*-?\d|\bmean difference\b|\u00b1|\bi2\b|\bsensitivity (?:of|was)\b"
            r"|\barea under\b|\brespectively\b",
        ),
        (1.4, r"\d ?%|\bper ?cent\b|\bpercentage points\b|\bfold\b|\btwofold\b"),
        (2.0, rf"\b{_CHANGED}\b.{{0,60}}\d"),
        (1.5, r"\bfrom [\d.]+ (?:.{0,20} )?to [\d.]+\b.{0,150}(?<![\d:])[.]\d|\bby [\d.]+ \w+"),
        (
            1.8,
            rf"\b(?:was|were|had|did|\w+ed|became|took) (?:\w+ ){{0,4}}{_MORE}\b"
            rf"|\b{_MORE}\b.{{0,150}}\bthan\b"
            r"|\bcompared (?:with|to)\b.{0,150}\d",
        ),
        (
            2.2,
            r"\bdid not (?:\w+ )?(?:differ|change|improve|affect|increase|fall)\b"
            r"|\bno (?:\w+ )?(?:differences?|effect|change|association)\b|\bhad no effect\b"
            r"|\bno \w+ (?:was|were)\b|\bnone of\b|\bneither\b",
        ),
        (1.5, r"\b(?:was|were) (?:\w+ )?(?:associated|correlated|linked|related)\b"),
        (  # a case's course
            2.0,
            r"^(?:he|she|the patient)\b|^on (?:\w+ )?examination\b|^(?:at|after) [\w-]+ (?:days"
            r"|weeks|months|years)\b|\b(?:tomography|imaging|biops(?:y|ies)|histology"
            r"|puncture)\b.{0,150}\b(?:revealed|showed|confirmed|disclosed)\b",
        ),
        (
            2.4,
            rf"^(?:of|among|in all|overall|altogether),? (?:the |all )?{_NUMBER}\b|^a total of\b"
            rf"|^overall,",
        ),
        (
            3.0,
            rf"^(?:{_NUMBER}|half|most|many|some|one|no) (?:of|[\w-]+ ).{{0,40}}\b(?:were included"
            r"|completed|responded|emerged|met|wanted|had|died|cracked|dropped|withdrew|stopped)\b",
        ),
        (
            1.8,
            rf"\b{_NUMBER} of (?:the |these |our )?{_NUMBER}\b|\b(?:there|it) (?:was|were)\b"
            r"|\b(?:mean|median) [\w -]{2,30} (?:was|were|of|reached)\b",
        ),
        (
            1.4,
            r"\b(?:revealed|showed|occurred|appeared|predicted|reproduced|recovered|developed"
            r"|survived|died|returned|remained|emerged|disclosed|responded|completed)\b",
        ),
    ),
    "conclusion": (
        (
            1.8,
            r"^(?!.*(?:\bwas\b|\bwere\b|\bdid\b|\bhad\b|\d ?%)).*\b(?:is|are|may|might|could"
            r"|should|can|would|supports?|suggests?|needs?|reduces?|improves?|shows?|represents?"
            r"|identify|increases?|deserves?)\b",
        ),
        (1.0, r"\b(?:may|might|could|should|can)\b"),
        (1.5, r"\b(?:is|are) (?:\w+ly )?(?:associated|related|linked)\b"),
        (
            2.0,
            r"\b(?:are|is) (?:needed|warranted|required|feasible|possible|safe|effective|worth)\b",
        ),
        (2.4, r"\bwe (?:therefore )?(?:recommend|conclude|propose that|suggest)\b"),
        (
            2.0,
            r"\b(?:clinicians|physicians|guidelines|policy ?makers|practice)\b.{0,150}\bshould\b",
        ),
        (
            2.2,
            r"^(?:these|our|the|this) (?:\w+ )?(?:findings|results|data|study|case|cases"
            r"|observations|review)\b.{0,40}\b(?:suggest|indicate|support|highlight|identif|show"
            r"|underline|illustrate|demonstrate|imply)",
        ),
    ),
    "other": (
        (
            3.0,
            r"\b(?:registered (?:at|with|in)|clinicaltrials\.gov|trial registration|prospero"
            r"|isrctn|nct\d)",
        ),
    ),
}
