"""Characters that nobody sees, and that change what one reads, made visible."""

# They turn what follows round. The marks of direction beside letters (U+200E, U+200F, U+061C) stay:
# texts in Arabic and Hebrew have them, and they turn no letter.
_BIDI = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SHOWN: dict[int, int | str] = {code: f"\\u{code:04x}" for code in _BIDI}
# Control characters, as Unicode's pictures of them.
_SHOWN |= {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"}


def visible(text: str) -> str:
    """The text with a picture or an escape (`\\u202e`) for each such character."""
    return text.translate(_SHOWN)
