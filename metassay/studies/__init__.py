"""Human studies that go out and come back: forms, sheets, the key, and what raters returned."""

# A form's name: the module that has it under the name KIND.
FORMS = {
    "claims": "metassay.studies.forms.claims",
    "pairs": "metassay.studies.forms.pairs",
    "rubric": "metassay.studies.forms.rubric",
    "elements": "metassay.studies.forms.elements",
    "facets": "metassay.studies.forms.facets",
}

# A format's name: the module that has it under the name KIND.
FORMATS = {
    "csv": "metassay.studies.csv_sheets",
    "xlsx": "metassay.studies.workbooks",
    "label-studio": "metassay.studies.label_studio",
}
