"""The one table of stages: `metassay update` writes every dvc.yaml from it.

`${key}` is a value of the benchmark's params.yaml, or each name of its list;
`${element}` an element of the list `each`. Whoever changes what a stage writes raises
its `version`: docs/decisions/declared-versions.md.
"""

from dataclasses import KW_ONLY, dataclass, replace

from metassay.core.params import TUNED

Names = tuple[str, ...]


@dataclass(frozen=True)
class Stage:
    """A stage of a dvc.yaml; `${key}` is replaced by a value of the benchmark's params.yaml.

    `version` is raised by whoever changes what the stage writes, so that DVC runs it
    again. `reads` and `writes` are tables: `parts` is a file, `texts/` a folder whose
    files several stages write, `texts/given` one of these. `files` are further
    dependencies, `outs` further outputs. `kinds` are named blocks whose options and
    versions the stage uses; `shared`, `params` and `versions` further keys of the
    root's params.yaml (or the registry), of the benchmark's, and of versions.yaml.
    There, `metrics.${metrics}` is a key for each name of that list. `each`: the list
    that the stage repeats over; with a mapping it also depends on the values.
    `program`: its module in stages/, if not its name. `tags`, `retries` and `delay`
    (seconds) are Prefect's. `git`: outputs are in git, not in DVC's cache.
    """

    name: str
    _: KW_ONLY
    version: int
    program: str = ""
    tags: Names = ("tables",)
    each: str = ""
    files: Names = ()
    reads: Names = ()
    kinds: Names = ()
    shared: Names = ()
    params: Names = ()
    versions: Names = ()
    writes: Names = ()
    outs: Names = ()
    argument: str = "${name}"
    git: bool = False
    retries: int = 1
    delay: int = 2

    @property
    def module(self) -> str:
        """Its module in stages/."""
        return self.program or self.name

    @property
    def repeats_over_mapping(self) -> bool:
        """Whether it repeats over a mapping of names to files or folders."""
        return self.each in ("few_shot", "studies", "released_claims", *TUNED)


Stages = tuple[Stage, ...]

# ---- lists that several stages name

# One of the two lists is empty.
DECOMPOSITION = (
    "decompositions.${decompositions}",
    "decompositions.${released_claims}",
)

METRICS = (
    "metrics.${metrics}",
    "costly_metrics.${costly_metrics}",
    "costly_metrics.${tuned_costly_metrics}",
    "statement_metrics.${statement_metrics}",
    "statement_metrics.${tuned_metrics}",
)

ANALYSES = (
    "designs",
    "strata",
    "correlations",
    "components",
    "significance",
    "agreement",
    "rating_summaries",
    "metric_correlations",
    "facet_weights",
    "preferences",
    "ensembles",
    "conflicts",
    "disagreements",
    "confounds",
    "corrected",
    "judge_cards",
    "calibration",
    "warnings",
)

# ---- stages that others are made from

GENERATE = Stage(
    name="generate",
    version=1,
    each="systems",
    reads=("sources",),
    kinds=("systems.${element}",),
    writes=(
        "texts/${element}",
        "responses/generate-${element}",
        "notes/generate-${element}",
    ),
    tags=("generate", "llm"),
)

DECOMPOSE = Stage(
    name="decompose",
    version=2,
    each="decompositions",
    reads=("sources", "parts"),
    kinds=("decompositions.${element}",),
    writes=("units", "responses/decompose", "notes/decompose"),
    tags=("tables", "llm"),
)

JUDGE = Stage(
    name="judge",
    version=1,
    each="judges",
    reads=("pairs/",),
    kinds=("judges.${element}",),
    writes=(
        "judgments/${element}",
        "responses/judge-${element}",
        "notes/judge-${element}",
    ),
    tags=("judge", "llm"),
    retries=2,
)

MEASURE_COSTLY = Stage(
    name="measure_costly",
    version=1,
    program="measure",
    each="costly_metrics",
    reads=("sources", "parts"),
    kinds=("costly_metrics.${element}", "segmentations.${segmentation}"),
    writes=("measurements/${element}", "notes/measure-${element}"),
    tags=("measure", "models"),
)

SCORE_STATEMENTS = Stage(
    name="score_statements",
    version=1,
    each="statement_metrics",
    reads=("sources", "parts", "units", "alignments/"),
    # Recipes print the last three.
    kinds=(
        "statement_metrics.${element}",
        "segmentations.${segmentation}",
        *DECOMPOSITION,
        "alignments.${alignments}",
    ),
    writes=(
        "statement_scores/${element}",
        "measurements/statements-${element}",
        "notes/score_statements-${element}",
    ),
    tags=("measure", "models"),
)

TUNE = Stage(
    name="tune",
    version=1,
    each="alignments",
    files=(
        "data/tables/${from}/sources.parquet",
        "data/tables/${from}/parts.parquet",
        "data/tables/${from}/units.parquet",
        "data/tables/${from}/alignments/${element}.parquet",
    ),
    params=("tune", "base", "training"),
    outs=("data/models/${name}-${element}",),
    writes=("notes/tune-${element}",),
    tags=("models",),
    retries=2,
)

# ---- the stages of each sort of folder, in the order of the data

EVALUATION = (
    Stage(
        name="ingest",
        version=1,
        files=("${raw}",),
        kinds=("datasets.${dataset}",),
        params=("criteria",),
        writes=(
            "sources",
            "segments",
            "texts/given",
            "ratings/given",
            "criteria/given",
            "pairs/given",
            "judgments/given",
            "measurements/given",
            "notes/ingest",
        ),
        retries=0,
        delay=1,
    ),
    GENERATE,
    replace(
        GENERATE,
        name="generate_few_shot",
        each="few_shot",
        program="generate",
    ),
    Stage(
        name="ingest_study",
        version=2,
        each="studies",
        reads=("sources", "texts/"),
        params=("criteria",),
        writes=("ratings/${element}", "notes/ingest_study-${element}"),
        retries=0,
        delay=1,
    ),
    Stage(
        name="segment",
        version=1,
        reads=("sources", "segments", "texts/"),
        kinds=("segmentations.${segmentation}",),
        writes=("parts", "responses/segment", "notes/segment"),
        tags=("tables", "llm"),
    ),
    DECOMPOSE,
    replace(
        DECOMPOSE,
        name="decompose_released",
        each="released_claims",
        program="decompose",
    ),
    Stage(
        name="align",
        version=1,
        each="alignments",
        reads=("sources", "units"),
        kinds=("alignments.${element}",),
        writes=("alignments/${element}", "notes/align-${element}"),
    ),
    Stage(
        name="pair",
        version=1,
        each="questions",
        reads=("sources", "parts", "units", "alignments/"),
        shared=("questions.${element}",),
        writes=("pairs/${element}",),
    ),
    Stage(
        name="pair_rubric",
        version=1,
        each="rubrics",
        files=("rubrics/${element}.yaml",),
        reads=("sources", "parts"),
        kinds=("segmentations.${segmentation}",),
        writes=("pairs/rubric-${element}", "criteria/${element}"),
    ),
    JUDGE,
    Stage(
        name="measure",
        version=1,
        reads=("sources", "parts"),
        # Recipes print the segmentation.
        kinds=("metrics.${metrics}", "segmentations.${segmentation}"),
        writes=("measurements/metrics", "notes/measure"),
        tags=("measure",),
    ),
    MEASURE_COSTLY,
    replace(
        MEASURE_COSTLY,
        name="measure_tuned",
        each="tuned_costly_metrics",
    ),
    SCORE_STATEMENTS,
    replace(
        SCORE_STATEMENTS,
        name="score_statements_tuned",
        each="tuned_metrics",
        program="score_statements",
    ),
    Stage(
        name="aggregate",
        version=1,
        reads=(
            "sources",
            "parts",
            "units",
            "alignments/",
            "pairs/",
            "judgments/",
            "criteria/",
            "measurements/",
        ),
        # Recipes print them.
        kinds=(
            "segmentations.${segmentation}",
            *DECOMPOSITION,
            "alignments.${alignments}",
        ),
        shared=(
            "aggregation",
            "combinations.${combinations}",
            "questions.${questions}",
        ),
        params=("design",),
        # How they are pooled, and which end is better.
        versions=(*METRICS,),
        writes=(
            "scores",
            "document_clusters",
            "leaderboard",
            "statement_scores/judged",
        ),
    ),
    Stage(
        name="meta_evaluate",
        version=8,
        reads=(
            "sources",
            "scores",
            "statement_scores/",
            "leaderboard",
            "ratings/",
            "criteria/",
        ),
        shared=("meta_evaluation",),
        params=("criteria", "design"),
        writes=(*ANALYSES, "evidence", "notes/meta_evaluate"),
    ),
    Stage(
        name="certify",
        version=7,
        reads=("evidence",),
        shared=("certification",),
        writes=("certificates",),
    ),
    Stage(
        name="report",
        version=11,
        files=("reports/published",),
        reads=(
            "sources",
            "texts/",
            "parts",
            "units",
            "alignments/",
            "pairs/",
            "judgments/",
            "criteria/",
            "responses/",
            "notes/",
            "scores",
            "document_clusters",
            "leaderboard",
            "ratings/",
            *ANALYSES,
            "certificates",
        ),
        kinds=("segmentations.${segmentation}",),
        shared=(
            "meta_evaluation.resamples",
            "meta_evaluation.confidence",
            "meta_evaluation.seed",
            "certification",
            "shown_as",
            "datasets.${dataset}",
            "models",
        ),
        params=("criteria", "published", "seen"),
        outs=("reports/${name}",),
        tags=("report",),
    ),
)

JUDGE_TEST = (
    # No responses are given; the folder is there without a judge.
    Stage(
        name="ingest_items",
        version=1,
        files=("${raw}",),
        kinds=("datasets.${dataset}",),
        params=("test", "options", "judges"),
        writes=(
            "gold",
            "ratings",
            "pairs/given",
            "judgments/given",
            "responses/given",
            "given_verdicts",
            "notes/ingest_items",
        ),
        retries=0,
        delay=1,
    ),
    JUDGE,
    Stage(
        name="examine",
        version=4,
        reads=("pairs/", "judgments/", "gold", "ratings", "given_verdicts"),
        shared=("meta_evaluation",),
        writes=("verdicts", "judge_cards", "calibration", "notes/examine"),
    ),
    Stage(
        name="report",
        version=5,
        program="report_judges",
        files=("reports/published",),
        reads=(
            "gold",
            "ratings",
            "pairs/",
            "judgments/",
            "verdicts",
            "responses/",
            "notes/",
            "judge_cards",
            "calibration",
        ),
        shared=("shown_as", "datasets.${dataset}", "models"),
        params=("test", "published", "seen"),
        outs=("reports/${name}",),
        tags=("report",),
    ),
)

# The report has the attack cards, too.
*OF_JUDGES, REPORT_OF_JUDGES = JUDGE_TEST
ATTACK_TEST = (
    *OF_JUDGES,
    Stage(
        name="compare_attacks",
        version=1,
        reads=("gold", "verdicts"),
        shared=("meta_evaluation.seed",),
        params=("options",),
        writes=("attack_gains", "notes/compare_attacks"),
    ),
    replace(REPORT_OF_JUDGES, reads=(*REPORT_OF_JUDGES.reads, "attack_gains")),
)

SEGMENT_TEST = (
    Stage(
        name="ingest_sentences",
        version=1,
        files=("${raw}",),
        kinds=("datasets.${dataset}",),
        params=("options",),
        writes=("texts/given", "sentences", "notes/ingest_sentences"),
        retries=0,
        delay=1,
    ),
    Stage(
        name="segment_sentences",
        version=1,
        each="segmentations",
        reads=("texts/", "sentences"),
        kinds=("segmentations.${element}",),
        writes=(
            "segmented/${element}",
            "responses/segment-${element}",
            "notes/segment-${element}",
        ),
        tags=("tables", "llm"),
        retries=2,
    ),
    Stage(
        name="examine_segmentations",
        version=2,
        reads=("sentences", "segmented/"),
        shared=("meta_evaluation",),
        writes=("segment_scores", "confusions", "notes/examine_segmentations"),
    ),
    Stage(
        name="report",
        version=5,
        program="report_segmentations",
        reads=(
            "texts/",
            "sentences",
            "segmented/",
            "segment_scores",
            "confusions",
            "responses/",
            "notes/",
        ),
        shared=("datasets.${dataset}", "models"),
        params=("seen",),
        outs=("reports/${name}",),
        tags=("report",),
    ),
)

BARTSCORE_TUNING = (TUNE,)

CTC_TUNING = (
    Stage(
        name="corrupt",
        version=1,
        files=("data/tables/${from}/units.parquet",),
        params=("tune", "corruption"),
        writes=("corruptions", "notes/corrupt"),
        tags=("models",),
        retries=2,
    ),
    replace(
        TUNE,
        reads=("corruptions",),
    ),
)

QUALITY_TUNING = (
    Stage(
        name="tune",
        version=1,
        files=("data/tables/${from}/parts.parquet", "data/tables/${from}/ratings"),
        params=("tune", "criterion", "base", "training"),
        outs=("data/models/${name}",),
        writes=("notes/tune",),
        tags=("models",),
        retries=2,
    ),
)

DISTILLATION = (
    replace(
        TUNE,
        name="distill",
        files=(
            "data/tables/${from}/sources.parquet",
            "data/tables/${from}/parts.parquet",
            "data/tables/${from}/units.parquet",
            "data/tables/${from}/alignments/${element}.parquet",
            "data/tables/${from}/statement_scores",
            "data/tables/${from}/ratings",
        ),
        params=("tune", "base", "training", "teachers"),
    ),
)

# What belongs to no single benchmark; the first stage is that of every project.
ROOT = (
    Stage(
        name="fetch",
        version=1,
        each="fetched",
        argument="${element}",
        shared=("datasets.${element}",),
        outs=("data/raw/${element}",),
        retries=4,
        delay=5,
        tags=("network",),
    ),
    Stage(
        name="train",
        version=1,
        argument="semantic",
        files=(
            "data/raw/wice_train",
            "data/raw/aci_bench_train",
            "data/judges/pairs/training.jsonl",
        ),
        shared=("judges.semantic",),
        outs=("data/judges/semantic.json", "data/judges/semantic.safetensors"),
        git=True,
        retries=0,
        delay=0,
        tags=("models",),
    ),
    Stage(
        name="train_roles",
        version=1,
        argument="csabstruct",
        files=("data/raw/csabstruct_train",),
        shared=("segmentations.bmrc_encoder",),
        outs=("data/segmenters/csabstruct_encoder.json",),
        git=True,
        retries=0,
        delay=0,
        tags=("models",),
    ),
)

TABLE: dict[str, Stages] = {
    "evaluation": EVALUATION,
    "judge_test": JUDGE_TEST,
    "attack_test": ATTACK_TEST,
    "segment_test": SEGMENT_TEST,
    "bartscore_tuning": BARTSCORE_TUNING,
    "ctc_tuning": CTC_TUNING,
    "quality_tuning": QUALITY_TUNING,
    "distillation": DISTILLATION,
    "root": ROOT,
}
