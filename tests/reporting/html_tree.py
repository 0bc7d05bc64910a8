"""A page as a tree of elements, to ask what is where."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    children: list["Element"] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def all(self, tag: str) -> list["Element"]:
        found = [self] if self.tag == tag else []
        return found + [e for child in self.children for e in child.all(tag)]

    def text(self) -> str:
        return " ".join([*self.texts, *(child.text() for child in self.children)])


class Tree(HTMLParser):
    """Fails on a tag that isn't closed, or closed out of turn."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]
        self.feed(source)
        self.close()
        assert len(self.open) == 1, f"never closed: {[e.tag for e in self.open]}"

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> repeats an attribute"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.open[-1].children.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open[-1].tag == tag, f"</{tag}> inside <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data):
        self.open[-1].texts.append(data)


def tree_of(source: str) -> Element:
    return Tree(source).root


def section(tree, name):
    return next(s for s in tree.all("section") if s.attributes["id"] == name)
