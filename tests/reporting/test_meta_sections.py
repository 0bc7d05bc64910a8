"""What the page says of the tables about meta-evaluation, against hand-made rows."""

import re

import pandas as pd
import pytest

from metassay.meta_evaluation.verdicts import VERDICTS
from metassay.reporting.certificates import best_metrics, certificates_section
from metassay.reporting.metrics import significance_section
from metassay.reporting.report import write_report
from tests.reporting.conftest import CERTIFICATION
from tests.reporting.html_tree import section, tree_of
from tests.reporting.invented_meta import FOUND, HOSTILE, SCRIPT, SENTENCE

NAMES = ("completeness", f"odd {SCRIPT}")
SECTIONS = [
    "strata",
    "judged_metrics",
    "components",
    "significance",
    "agreement",
    "preferences",
    "ensembles",
]
SECTIONS += ["conflicts", "confounds", "corrected", "judge_cards"]
SECTIONS += ["matrix", "people", "weights", "ranks", "profile"]


@pytest.fixture(scope="module")
def tree(page):
    return tree_of(page)


def cell(td):
    """A cell's text and the smaller lines below it."""
    return ["".join(td.texts), *(small.text() for small in td.all("small"))]


def lines(table):
    """A table's rows by their names; a name that recurs has its last row."""
    body = table.all("tbody")[0]
    return {tr.all("th")[0].text(): [cell(td) for td in tr.all("td")] for tr in body.all("tr")}


def heads(table):
    return [th.text() for th in table.all("thead")[0].all("th")]


def test_sections_stand_in_the_order_of_the_questions(tree):
    ids = [s.attributes["id"] for s in tree.all("section")]
    expected = ["headline", "leaderboard", "trust", "correlations", *SECTIONS]
    assert ids == [*expected, "answers", "published", "documents"]
    links = [a.attributes["href"] for a in tree.all("nav")[0].all("a")]
    assert [link[1:] for link in links] == ids


def test_every_section_says_how_to_read_it_and_links_its_files(tree, written):
    for name in ("trust", *SECTIONS):
        made = section(tree, name)
        assert len(made.all("p")[0].text()) > 80
        files = [a.attributes["href"] for a in made.all("a") if "figures/" not in str(a.attributes)]
        assert files, name
        assert all((written / file).is_file() for file in files)


def test_best_metric_per_criterion_and_decision(tree):
    table = section(tree, "headline").all("table")[0]
    assert heads(table)[2:] == [
        "any two texts (global level)",
        "two texts of one document (document level)",
        "two systems (system level)",
    ]
    name = "claim_recall (lexical)"
    best = [name, "use", "corrected 0.470 [0.200, 0.710]", "best of 3 metrics"]
    none = ["none", "1 promising, 1 cannot tell, 1 undefined"]
    none += [f"first: {name}, promising", "rate more systems", *best[2:]]
    assert lines(table) == {name: [["invented"], best, best, none] for name in NAMES}


def test_what_cannot_be_shown_is_said_before_any_table(tree):
    for name in ("headline", "trust"):
        made = section(tree, name)
        first = next(e for e in made.children if e.tag in ("ul", "div", "details", "dl"))
        assert [li.text() for li in first.all("li")] == [FOUND]


def test_each_stratum_is_shown_by_itself(tree):
    made = section(tree, "strata")
    first, *others = made.all("table")
    assert len(others) == 2  # a table per level
    assert heads(first) == ["metric", SCRIPT, "news"]
    alone = [["−0.100", "n = 2, 1 missing"], ["0.700", "[0.500, 0.800]", "n = 4, 1 missing"]]
    assert lines(first) == {"bleu": alone}


def test_a_certificate_is_shown_whole_the_best_verdict_first(tree):
    table = section(tree, "trust").all("table")[1]  # completeness, within documents
    assert heads(table) == [
        *("metric", "verdict", "in words", "correlation", "adjusted p", "accuracy"),
        *("against a rater", "confound", "to settle it"),
    ]
    assert list(lines(table)) == ["claim_recall (lexical)", "bleu", HOSTILE]
    strong, weak, undefined = lines(table).values()
    counts = "n = 97, 4 undefined, 3 missing"
    assert strong == [
        ["use", "use it"],
        [SENTENCE],
        ["0.520", "[0.310, 0.690]", "these systems: [0.410, 0.620]", counts],
        ["<.001", "text by text"],
        ["0.710", "chance 0.410", "1,234 pairs", "tie within 0.025"],
        ["−0.049", "[−0.150, 0.070]", "metric 0.510", "rater 0.560", "n = 80"],
        ["none found"],
        ["–"],
    ]
    assert weak == [
        ["cannot tell", "rate more systems"],
        [f"Weak. {SCRIPT}"],
        ["0.130", "[−0.080, 0.330]", "these systems: [>−0.001, 0.250]", counts],
        [".250", "between systems"],
        ["0.440", "chance 0.400", "1,234 pairs", "tie within 0.000"],
        ["–"],
        ["words", "0.020 left", "p = .800"],
        ["~ 12 systems", "1,200 documents"],
    ]
    assert undefined == [
        ["undefined", "nothing to compare"],
        ["It is constant."],
        ["undefined", counts],
        *([["–"]] * 5),
    ]


def test_the_rater_s_number_less_the_metric_s_is_the_difference_that_is_printed(frames):
    """The numbers stand beside each other, so a reader subtracts them."""
    rows = frames["certificates"]
    one = rows[rows["metric"] == "claim_recall"].iloc[[0]]
    pairs = [(0.1234 + k / 977, 0.9876 - k / 991) for k in range(60)]
    some = pd.concat(
        [
            one.assign(metric=f"m{k}", with_raters=a, rater=b, against_rater=a - b)
            for k, (a, b) in enumerate(pairs)
        ]
    )
    grid = certificates_section(some, CERTIFICATION, 0.95).groups[0].groups[0].grids[0]
    place = grid.heads.index("against a rater") - 1
    for _, cells in grid.rows:
        texts = (cells[place].text, *cells[place].notes[1:3])
        difference, metric, rater = (
            float(re.sub(r"[^\d.−]", "", text).replace("−", "-")) for text in texts
        )
        assert abs(metric - rater - difference) <= 0.001 + 1e-9


def test_a_column_without_a_single_answer_is_left_out(frames):
    rows = frames["certificates"]
    alone = rows.assign(**dict.fromkeys(("with_raters", "rater", "against_rater")))
    heads = certificates_section(alone, CERTIFICATION, 0.95).groups[0].groups[0].grids[0].heads
    assert "against a rater" not in heads
    assert "accuracy" not in heads  # any two texts


def test_every_verdict_is_explained_with_an_example_of_the_page(tree):
    terms = section(tree, "trust").all("dl")[0]
    words = [dt.text().removesuffix(" …") for dt in terms.all("dt")]
    assert words == list(VERDICTS)
    examples = dict(zip(words, (dd.all("small")[0].text() for dd in terms.all("dd")), strict=True))
    said = {word: example for word, example in examples.items() if example != "none here"}
    assert said == {
        "use": "here: claim_recall (lexical) for completeness, any two texts",
        "promising": "here: claim_recall (lexical) for completeness, two systems",
        "cannot tell": "here: bleu for completeness, any two texts",
        "undefined": f"here: {HOSTILE} for completeness, any two texts",
    }
    meanings = " ".join(dd.text() for dd in terms.all("dd"))
    assert "p < .05" in meanings
    assert "still .30 or more" in meanings
    assert "at most .05 less" in section(tree, "trust").all("dl")[1].text()


def test_every_column_is_explained_with_the_page_s_first_number(tree):
    _, columns = section(tree, "trust").all("dl")
    table = section(tree, "trust").all("table")[1]
    words = [dt.text() for dt in columns.all("dt")]
    assert words == heads(table)[3:]
    examples = [small.text() for small in columns.all("small")]
    where = "here: claim_recall (lexical) for completeness, any two texts"
    assert examples == [
        f"{where}: 0.520 [0.310, 0.690]",
        f"{where}: <.001",
        f"{where}: 0.710, by chance 0.410",
        f"{where}: 0.510 less 0.560 is −0.049",
        "here: bleu for completeness, any two texts: words",
        "here: bleu for completeness, any two texts: 12 systems",
    ]


def test_verdicts_are_marked_with_more_than_colour(tree, page):
    cells = [td for table in section(tree, "trust").all("table") for td in table.all("td")]
    marked = {
        td.attributes["class"]: td.text()
        for td in cells
        if td.attributes.get("class", "")[:2] == "v "
    }
    assert marked == {
        "v use": "use use it",
        "v promising": "promising rate more systems",
        "v cannot": "cannot tell rate more systems",
        "v undefined": "undefined nothing to compare",
    }
    every = [dt.attributes["class"] for dt in section(tree, "trust").all("dl")[0].all("dt")]
    signs = [re.search(rf"\.v\.{css[2:]}::before {{ content: \"(.)\"", page) for css in every]
    assert len({sign.group(1) for sign in signs}) == len(VERDICTS)


def test_what_explains_a_metric_is_loud_only_where_it_is_the_verdict(frames):
    rows = frames["certificates"]
    bleu = rows[rows["metric"] == "bleu"]
    said = bleu.assign(verdict="explained by words", p=0.001)
    for frame, text, css in ((bleu, "words", ""), (said, "!\u00a0words", "alarm")):
        grid = certificates_section(frame, CERTIFICATION, 0.95).groups[0].groups[0].grids[0]
        cell = grid.rows[0][1][grid.heads.index("confound") - 1]
        assert (cell.text, cell.css) == (text, css)


def test_certificates_open_at_the_first_criterion_s_global_level(tree):
    opened = [d for d in section(tree, "trust").all("details") if "open" in d.attributes]
    titles = [d.all("summary")[0].texts[0].strip() for d in opened]
    assert titles == ["completeness", "Any two texts", "Any two texts"]


def test_best_is_by_verdict_then_by_the_corrected_value(frames):
    rows = frames["certificates"].copy()
    bleu = rows["metric"] == "bleu"
    rows.loc[bleu & (rows["level"] == "system"), "corrected"] = 0.9  # its verdict is worse
    rows.loc[bleu & (rows["level"] == "document"), ["verdict", "trusted"]] = ["use", True]
    best = best_metrics(rows).rows[0][1]
    assert [c.text for c in best[1:]] == ["claim_recall (lexical)"] * 2 + ["none"]
    rows.loc[bleu & (rows["level"] == "document"), "corrected"] = 0.471
    assert best_metrics(rows).rows[0][1][2].text == "bleu"
    undefined = rows.assign(value=None, corrected=None, verdict="undefined", trusted=False)
    none = best_metrics(undefined).rows[0][1]
    assert [(c.text, c.notes) for c in none[1:]] == [("none", ("3 undefined",))] * 3


def test_components_stand_beside_each_other_under_people_s_shares(tree):
    table = section(tree, "components").all("table")[0]
    assert table.all("caption")[0].text() == (
        "People’s ratings vary 12 % between systems, 30 % between documents, 58 % text by text"
    )
    assert heads(table) == ["metric", "between systems", "between documents", "text by text"]
    assert lines(table)["bleu"] == [
        ["0.900", "[−0.400, 1.000]", "40 % of its variance", "n = 4, 3 missing"],
        ["0.200", "[−0.100, 0.450]", "10 % of its variance", "n = 25, 3 missing"],
        ["undefined", "50 % of its variance", "n = 97, 3 missing"],
    ]


def test_significance_counts_what_holds_and_marks_who_is_closer(tree):
    made = section(tree, "significance")
    summary = " ".join(made.all("summary")[1].text().split())
    assert summary.startswith("Any two texts: 1 of 3 differences hold, 1 undefined")
    assert "permutation of documents, n = 90 to 92, up to 7 missing" in summary
    table = made.all("table")[0]
    # sums of differences: claim_recall .39 + .21, the hostile one 0, rouge1 -.21, bleu -.39
    assert lines(table) == {
        "1 claim_recall (lexical)": [[""], [""], ["·"], ["+"]],
        f"2 {HOSTILE}": [[""], [""], [""], ["?"]],
        "3 rouge1_fmeasure": [["·"], [""], [""], [""]],
        "4 bleu": [["−"], ["?"], [""], [""]],
    }


def test_exactly_5_per_cent_holds(frames):
    rows = frames["significance"]
    at = significance_section(rows.assign(p_holm=0.05)).groups[0].groups[0].title
    above = significance_section(rows.assign(p_holm=0.0501)).groups[0].groups[0].title
    assert at.startswith("Any two texts: 2 of 3")  # the third has no difference
    assert above.startswith("Any two texts: 0 of 3")


def test_agreement_has_intervals_and_denominators(tree):
    together, singles = section(tree, "agreement").all("table")
    assert heads(together) == ["criterion", "study", "krippendorff_alpha_interval"]
    value = ["0.654", "[0.500, 0.750]", "n = 6, 1 missing"]
    assert lines(together) == {"completeness": [["invented"], value]}
    assert lines(singles) == {f"one and two {SCRIPT}": [["undefined", "n = 6, 1 missing"]]}


def test_preferences_show_every_outcome(tree):
    table = section(tree, "preferences").all("table")[0]
    counts = [["12"], ["3"], ["4"], ["1"], ["5"], ["2"], ["6"]]
    assert lines(table) == {
        "bleu": [["0.680", "n = 25"], ["0.800", "n = 15"], *counts],
        HOSTILE: [["undefined", "n = 25"], ["undefined", "n = 15"], *counts],
    }


def test_ensembles_show_the_honest_number_beside_the_flattering_one(tree):
    best, subsets, containing = section(tree, "ensembles").all("table")
    both = f"bleu + {HOSTILE}"
    counts = "n = 88, 9 missing"
    assert lines(best) == {
        "completeness": [["invented"], ["pearson"], ["0.380", counts], ["0.470"], [both]]
    }
    assert list(lines(subsets).items()) == [
        (both, [["2"], ["0.470", counts]]),
        ("bleu", [["1"], ["0.130", counts]]),
        (HOSTILE, [["1"], ["undefined", counts]]),
    ]
    assert lines(containing) == {
        "bleu": [["0.300", counts], ["[0.100, 0.500]"], ["[0.250, 0.350]"]]
    }


@pytest.mark.usefixtures("no_figures")
def test_of_many_subsets_the_ten_best_are_on_the_page_and_none_chosen_is_said(
    make_report, frames, tmp_path
):
    rows = frames["ensembles"]
    one = rows[rows["members"] == "bleu"].iloc[[0]]
    many = [one.assign(kind="subset", members=f"m{k:02}", value=k / 100) for k in range(12)]
    nobody = rows[rows["kind"] == "best"].assign(members="", value=None, in_sample=None)
    write_report(make_report(ensembles=pd.concat([*many, nobody])), tmp_path / "out")
    made = section(
        tree_of((tmp_path / "out" / "index.html").read_text(encoding="utf-8")), "ensembles"
    )
    best, subsets = made.all("table")
    assert list(lines(subsets)) == [f"m{k:02}" for k in range(11, 1, -1)]
    assert "too few documents to choose" in best.text()
    assert len((tmp_path / "out" / "ensembles.csv").read_text(encoding="utf-8").splitlines()) == 14


def test_conflicts_are_pooled_over_documents(tree):
    made = section(tree, "conflicts")
    found = [
        (tr.all("th")[0].text(), [cell(td) for td in tr.all("td")])
        for tr in made.all("tbody")[0].all("tr")
    ]
    assert found == [
        ("bleu", [[HOSTILE], ["0.333"], ["3"], ["9"], ["2"]]),  # 3 of 6 and 0 of 3
        ("bleu", [["rouge1_fmeasure"], ["undefined"], ["0"], ["0"], ["0"]]),
    ]
    assert "1 pair of texts worth annotating" in made.text()


def test_confounds_show_what_is_left_beside_what_there_was_level_by_level(tree):
    everywhere, systems = section(tree, "confounds").all("table")
    assert heads(everywhere) == ["metric", "plain", "given words", "given zeal", "given system"]
    counts = "n = 95, 5 missing"
    assert lines(everywhere)["bleu"] == [
        ["0.130", "[−0.080, 0.330]"],
        ["! 0.020", "[−0.200, 0.240]", "p = .750", "with words: 0.800", counts],
        ["0.120", "[−0.100, 0.300]", counts],  # less than half goes
        ["undefined", counts],
    ]
    assert lines(systems)["bleu"] == [
        ["0.130", "[−0.080, 0.330]"],
        ["0.500", "[−1.000, 1.000]", counts],
    ]


def test_corrected_means_stand_beside_both_uncorrected_ones(tree):
    table = section(tree, "corrected").all("table")[0]
    found = [[cell(td) for td in tr.all("td")] for tr in table.all("tbody")[0].all("tr")]
    rests = ["40 texts with score and rating", "207 with score", "2 rated without score"]
    start = [[f"sys {SCRIPT}"], ["0.770"], ["3.150"]]
    powered = ["prediction-powered", "weight 0.625"]
    gladen = ["Rogan-Gladen", "sensitivity 0.900", "specificity 0.700"]
    assert found == [
        [*start, ["3.210", "[3.010, 3.410]"], powered, rests],
        [*start, ["undefined"], gladen, rests],
    ]


@pytest.mark.usefixtures("no_figures")
def test_without_ratings_no_heading_stands_over_nothing(make_report, nothing, tmp_path):
    report = make_report(**nothing)
    write_report(report, tmp_path / "out")
    tree = tree_of((tmp_path / "out" / "index.html").read_text(encoding="utf-8"))
    ids = [s.attributes["id"] for s in tree.all("section")]
    assert ids == ["headline", "leaderboard", "trust", "correlations", "agreement", "documents"]
    assert "No metric could be tested" in section(tree, "trust").text()
    assert "No two people rated the same thing." in section(tree, "agreement").text()
    assert not section(tree, "trust").all("table")
    assert (
        (tmp_path / "out" / "certificates.csv")
        .read_text(encoding="utf-8")
        .startswith("study,criterion,part,")
    )


@pytest.mark.usefixtures("no_figures")
def test_conflicts_need_no_ratings_and_say_when_nothing_was_drawn(
    make_report, frames, nothing, tmp_path
):
    write_report(make_report(**{**nothing, "conflicts": frames["conflicts"]}), tmp_path / "out")
    tree = tree_of((tmp_path / "out" / "index.html").read_text(encoding="utf-8"))
    assert "No pair of texts was drawn for annotation." in section(tree, "conflicts").text()


@pytest.mark.usefixtures("no_figures")
def test_correlations_within_parts_have_a_table_but_no_headline(make_report, frames, tmp_path):
    rows = frames["correlations"]
    one = rows[(rows["level"] == "document") & (rows["criterion"] == "completeness")]
    tau_c = {"coefficient": {"kendall": "kendall_c"}}
    within = one.assign(part="each", level="grouped").replace(tau_c)
    write_report(make_report(correlations=pd.concat([rows, within])), tmp_path / "out")
    tree = tree_of((tmp_path / "out" / "index.html").read_text(encoding="utf-8"))
    assert len(section(tree, "headline").all("table")[0].all("tbody")[0].all("tr")) == 2
    made = section(tree, "correlations")
    titles = [d.all("summary")[0].texts[0].strip() for d in made.all("details")]
    assert titles[:2] == ["completeness", "completeness, within each part"]
    table = made.all("table")[1]
    assert [" ".join(h.split()) for h in heads(table)] == [
        "metric",
        "pearson grouped level",
        "spearman grouped level",
        "kendall_c grouped level",
    ]
