"""Verbs of clinical notes in the forms that the rules turn into each other."""

from metassay.text.edits.wording import listed
from metassay.text.vocabulary.inflection import PAST as PAST_FORM
from metassay.text.vocabulary.inflection import THIRD, verb_forms

_BASES = listed("""
    attend appear ask believe call check complain consume continue contact cough describe develop
    discuss demonstrate drink eat enjoy exercise experience explain exhibit feel follow happen help
    improve increase decrease injure land lift limit live locate look monitor need notice order
    perform play prefer prescribe purchase reach receive recommend refer refill require recall
    remain reveal report schedule see show sleep smoke sprain start stop suffer take tolerate travel
    treat try twist undergo use utilize visit walk want watch wear work
""")
# Forms that "does not" and "did not" take back to the base; "has" and "had" are mostly auxiliaries.
PRESENT = {verb_forms(base)[THIRD]: base for base in _BASES}
PAST = {verb_forms(base)[PAST_FORM]: base for base in _BASES}
BASE_OF = PRESENT | PAST
