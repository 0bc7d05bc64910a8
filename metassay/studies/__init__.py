"""Human studies that go out and come back: forms, sheets, the key, and what raters returned."""

FORM_NAMES = ("claims", "pairs", "rubric", "elements", "facets", "facts")  # of forms.FORMS

# A format's name: the module that has it under the name KIND.
FORMATS = {
    "csv": "metassay.studies.sheets",
    "xlsx": "metassay.studies.workbooks",
    "label-studio": "metassay.studies.label_studio",
}
