"""What the page says of the tables about meta-evaluation, against hand-made rows."""

import pandas as pd
import pytest

from metassay.reporting.report import write_report
from metassay.reporting.views.certificates import best_metrics
from metassay.reporting.views.significance import significance_section
from tests.reporting.html_tree import section, tree_of
from tests.reporting.invented_meta import HOSTILE, SCRIPT, SENTENCE

NAMES = ("completeness", f"odd {SCRIPT}")
SECTIONS = ["significance", "agreement", "preferences", "ensembles", "conflicts"]
SECTIONS += ["confounds", "corrected"]


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
    assert ids == [*expected, "published", "documents"]
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
    best = ["claim_recall (lexical)", "like a rater", "0.520 [0.310, 0.690]", "of 3 metrics"]
    assert lines(table) == {name: [["invented"], best, best, best] for name in NAMES}


def test_a_certificate_is_shown_whole_the_best_metric_first(tree):
    table = section(tree, "trust").all("table")[1]  # completeness, within documents
    assert list(lines(table)) == ["claim_recall (lexical)", "bleu", HOSTILE]
    strong, weak, undefined = lines(table).values()
    assert strong == [
        ["like a rater"],
        [SENTENCE],
        ["0.520", "[0.310, 0.690]", "n = 97, 4 undefined, 3 missing"],
        ["0.710", "chance 0.410", "1,234 pairs", "tie within 0.025"],
        ["−0.040", "[−0.150, 0.070]", "ceiling 0.560", "of [0.450, 0.650]"],
        ["none found"],
        ["0.275", "difference 0.185"],
    ]
    assert weak == [
        ["not shown"],
        [f"Weak. {SCRIPT}"],
        ["0.130", "[−0.080, 0.330]", "n = 97, 4 undefined, 3 missing"],
        ["0.440", "chance 0.400", "1,234 pairs", "tie within 0.000"],
        ["undefined", "ceiling 0.560", "of [0.450, 0.650]"],
        ["! words", "0.020 given it"],
        ["0.275"],
    ]
    assert undefined[:3] == [
        ["undefined"],
        ["It is constant."],
        ["undefined", "n = 97, 4 undefined, 3 missing"],
    ]
    assert undefined[5] == ["–"]  # no correlation that could go back to anything


def test_verdicts_have_a_class_each_and_their_word(tree):
    table = section(tree, "trust").all("table")[1]
    marked = {
        td.attributes["class"]: td.text()
        for td in table.all("td")
        if td.attributes.get("class", "").startswith("v ")
    }
    assert marked == {
        "v rater": "like a rater",
        "v unshown": "not shown",
        "v undefined": "undefined",
    }


def test_certificates_open_at_the_first_criterion_s_global_level(tree):
    opened = [d for d in section(tree, "trust").all("details") if "open" in d.attributes]
    titles = [d.all("summary")[0].texts[0].strip() for d in opened]
    assert titles == ["completeness", "Any two texts", "Any two texts"]


def test_best_is_by_each_level_s_own_value_and_undefined_is_never_best(frames):
    rows = frames["certificates"].copy()
    there = (rows["level"] == "system") & (rows["metric"] == "bleu")
    rows.loc[there, "value"] = 0.9
    best = best_metrics(rows).rows[0][1]
    assert [c.text for c in best[1:]] == ["claim_recall (lexical)"] * 2 + ["bleu"]
    none = best_metrics(rows.assign(value=float("nan"))).rows[0][1]
    assert [c.text for c in none[1:]] == ["none is defined"] * 3


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


def test_confounds_show_what_is_left_beside_what_there_was(tree):
    table = section(tree, "confounds").all("table")[0]
    assert heads(table) == ["metric", "given words", "given system"]
    counts = "n = 95, 5 missing"
    given_words = ["0.050", "without: 0.350", "metric and words: 0.800", counts]
    assert lines(table)["bleu"] == [given_words, ["undefined", counts]]


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
