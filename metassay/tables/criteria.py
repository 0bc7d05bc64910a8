"""What rubrics ask."""

from metassay.parquet import Table, choice, integer, real, text

CRITERIA = Table(
    "criteria",
    "what rubrics ask, and the metrics that they make; and what is known of metrics whose scores"
    " came with the data",
    ("rubric", "criterion"),
    {
        "rubric": text("the rubric's name: rubrics/NAME.yaml; `given` of what came with data"),
        "criterion": text("the criterion's name; `overall` and `penalties` sum others up"),
        "metric": text("the metric that it makes: `<rubric>_<criterion>`"),
        "kind": choice(
            "scale",
            "penalties",
            "total",
            "overall",
            "given",
            meaning="a level of a scale; a number of penalties; the sum of these numbers; the"
            " weighted mean of the scales; or a score as it came",
        ),
        "position": integer("its place in the rubric, from 0"),
        "low": real("the lowest answer"),
        "high": real("the highest answer; null if there is no cap", null=True),
        "weight": real("its weight in the overall score; null if it has none", null=True),
        "value": choice(
            "share",
            "grade",
            meaning="what a score is: the answer divided by the highest one, or the answer",
        ),
        "combines": choice(
            *("best", "mean", "sum", "renormalised", "printed"),
            meaning="how several numbers make one: grades by several references their best or their"
            " mean; penalties their sum; and in the overall score, scales their weighted mean with"
            " weights renormalised over those that were scored, or, as printed in the paper on"
            " facets, the sum of value x weight divided by the number of weighted scales",
        ),
        "better": choice("higher", "lower", "neither", meaning="which direction is better"),
        "meaning": text("what it says"),
        "missing": text("what is done where an answer is missing"),
        "source": text("where it comes from"),
        "recipe": text("hash of the criterion; of `overall` and `penalties`, of the whole rubric"),
    },
)
