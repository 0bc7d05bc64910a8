"""Human studies: forms, sheets for raters, the key, and import of what raters return."""

# of forms.FORMS
FORM_NAMES = ("claims", "pairs", "rubric", "elements", "facets", "facts", "reading")

# Format names, each with the module whose KIND is its record.
FORMATS = {
    "csv": "metassay.studies.sheets",
    "xlsx": "metassay.studies.workbooks",
    "label-studio": "metassay.studies.label_studio",
}
