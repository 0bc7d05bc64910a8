"""What makes a value of a word of the command line; argparse prints what is wrong with one."""

import argparse
import csv
import re
from collections.abc import Callable
from urllib.parse import urlsplit

LARGEST = 2**31 - 1  # for counts, such as seconds


def names(text: str) -> list[str]:
    """Return the names of NAME,NAME; a name with a comma stands in quotation marks."""
    parsed = [
        name.strip() for name in next(csv.reader([text], skipinitialspace=True), [""])
    ]
    if not all(parsed):
        raise argparse.ArgumentTypeError("a name is empty; write NAME or NAME,NAME")
    return parsed


def url(text: str) -> str:
    """Return an address of http or https."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise argparse.ArgumentTypeError("an address such as http://localhost:4200/api")
    return text


def base_url(text: str) -> str:
    """Return the address of a language model's endpoint."""
    parts = urlsplit(text)
    bare = not (parts.username or parts.query or parts.fragment)
    if parts.scheme not in ("http", "https") or not parts.hostname or not bare:
        raise argparse.ArgumentTypeError(
            "an address without user, ? and #, such as http://127.0.0.1:8000/v1; a key"
            " is named by --key-env"
        )
    return text


def variable(text: str) -> str:
    """Return the name of an environment variable."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
        raise argparse.ArgumentTypeError(
            "the name of an environment variable, such as OPENAI_API_KEY; never the key"
        )
    return text


def prices(text: str) -> tuple[float, float, str]:
    """Return the prices per million tokens read and written, and their currency."""
    parts = [part.strip() for part in text.split(",")]
    try:
        read, written, currency = parts
        if not re.fullmatch("[A-Z]{3}", currency):
            raise ValueError(currency)
        return float(read), float(written), currency
    except ValueError:
        raise argparse.ArgumentTypeError(
            "prices per million tokens read and written, such as 0.15,0.60,USD"
        ) from None


def _whole(least: int, most: int) -> Callable[[str], int]:
    """Return a parser of whole numbers from `least` to `most`."""

    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            end = f" to {most}" if most < LARGEST else ""
            raise argparse.ArgumentTypeError(f"a whole number from {least}{end}")
        return int(text)

    return read


def least_value(word: str) -> tuple[str, float]:
    """Return a name and the least value of it, of NAME=VALUE."""
    name, _, least = word.partition("=")
    try:
        return name, float(least)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{word!r}: write it as sensitivity=.9"
        ) from None


count = _whole(1, LARGEST)
few = _whole(1, 20)
seed = _whole(0, 2**63)
