"""A problem is one line that any terminal can show, whatever a name in it holds."""

import pytest

from metassay.core.errors import BadInput, one_line, shown


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("params.yaml > é: no", "params.yaml > é: no"),
        ("a\tb\nc\r\0", r"a\tb\nc\r\x00"),
        ("\x1b[31mred\u202e", r"\x1b[31mred\u202e"),
        ("half \ud800 a pair", r"half \ud800 a pair"),
        (
            f"name {'x' * 5000} is long",
            f"name {'x' * 100}... (5,000 characters) is long",
        ),
        ("x" * 300, "x" * 300),
    ],
)
def test_one_line(message: str, line: str) -> None:
    assert one_line(message) == line
    assert BadInput(message).problems == (line,)
    assert BadInput([message, "b"]).problems == (line, "b")
    assert one_line(line) == line


@pytest.mark.parametrize(
    "key",
    [
        "d1",
        "gpt-4-0613",
        "Llama 3 70B Instruct",
        "模型一号",
        "article_12 (2)",
        "https://example.org/2301.00001v2/a-path-that-is-longer-than-forty-characters",
    ],
)
def test_a_key_is_shown_as_it_is(key: str) -> None:
    assert shown(key) == repr(key)


@pytest.mark.parametrize(
    "text",
    [
        "She has a cough now",
        "Pneumonia of the left lower lobe, resolving.",
        "病人主诉咳嗽三天没有发烧没有胸痛",
        "x" * 81,
        "a\nb\nc\nd\ne",
    ],
)
def test_what_may_be_a_text_is_told_by_length_and_hash(text: str) -> None:
    label = shown(text)
    assert label.startswith(f"<{len(text)} characters, sha256 ")
    assert not any(word in label for word in text.split() if len(word) > 1)
    assert label != shown(f"{text}.")


def test_what_does_not_print_is_escaped() -> None:
    assert shown("\x1b[31mred") == r"'\x1b[31mred'"
    assert shown("\ud800") == r"'\ud800'"
    assert shown(7) == "'7'"
