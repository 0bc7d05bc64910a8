"""Show invisible characters that change how a text reads."""

# They reverse the text after them. Other marks of direction (U+200E, U+200F, U+061C)
# stay: texts in Arabic and Hebrew have them, and they reverse nothing.
_BIDI = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SHOWN: dict[int, int | str] = {code: f"\\u{code:04x}" for code in _BIDI}
# Control characters, as Unicode's pictures of them.
_SHOWN |= {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"}


def visible(text: str) -> str:
    """Replace each such character by a picture or an escape (`\\u202e`)."""
    return text.translate(_SHOWN)
