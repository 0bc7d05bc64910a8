"""How many words the site has, by page: python website/words.py

A word has a letter or a digit. Code counts, addresses of links do not. Lists that
`make docs` generates from the code are counted apart, because people search them and
do not read them: a page per table, the signatures of the API, and the list of metrics.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"\]\([^)]*\)")
API = "api.md"
METRICS = "\n## All metrics\n"  # what follows in docs/metrics.md is generated


def count_words(text: str) -> int:
    """Return how many words a text in Markdown has."""
    return sum(any(map(str.isalnum, word)) for word in LINK.sub("]", text).split())


def named_pages() -> list[str]:
    """Return the pages of the site's navigation, in its order."""
    settings = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    navigation = settings["project"]["nav"]
    return [page for part in navigation for pages in part.values() for page in pages]


def count_read() -> dict[str, int]:
    """Return the words of each page that people read, without generated lists."""
    counts = dict[str, int]()
    for name in named_pages():
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        if name != API:
            counts[name] = count_words(text.partition(METRICS)[0])
    return counts


def count_generated() -> dict[str, int]:
    """Return the words of each generated list."""
    docs = ROOT / "docs"
    metrics = (docs / "metrics.md").read_text(encoding="utf-8").partition(METRICS)[2]
    tables = sorted((docs / "tables").glob("*.md"))
    return {
        "a page per table": sum(
            count_words(page.read_text("utf-8")) for page in tables
        ),
        "signatures of the API": count_words((docs / API).read_text("utf-8")),
        "list of all metrics": count_words(metrics),
    }


if __name__ == "__main__":
    for title, counts in (("read", count_read()), ("generated", count_generated())):
        for name, count in counts.items():
            print(f"{count:7,}  {name}")
        print(f"{sum(counts.values()):7,}  {title}\n")
