"""Facets by rules: cue phrases, places and neighbours of sentences, and headings.

It needs no model and no network, and knows English alone.
"""

from collections.abc import Sequence

from metassay.needs import Resources
from metassay.units.cue_rules import cue_roles
from metassay.units.record import Divided, Segmentation, Text
from metassay.units.roles import RoleOptions, divide_by_role


def divide(texts: Sequence[Text], options: RoleOptions, resources: Resources) -> Divided:  # noqa: ARG001
    """The facets of each text by the rules of `cue_rules`; see `roles.divide_by_role`."""
    return divide_by_role(texts, options.facets, lambda reads: [cue_roles(one) for one in reads])


KIND = Segmentation(
    options=RoleOptions, divide=divide, facets=lambda options: tuple(options.facets)
)
