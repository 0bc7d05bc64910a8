"""What a server says of a request that it refuses, as far as anybody may read it.

A server can quote the prompt. So a word that also occurs in what was sent is shown only if it is
one of the plain words below, a short number, or a parameter's name or value; if a sentence holds
any other, none of it is shown.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

_LONGEST = 300  # characters of what is shown
_DEEPEST = 6
_NAMED = ("code", "type", "param", "loc")
_SPOKEN = ("message", "msg", "detail", "raw")
_INSIDE = ("error", "metadata", *_SPOKEN)
_WORD = re.compile(r"\w+")
_ESCAPED = re.compile(r"\\|&#|&\w+;|%[0-9a-f]{2}", re.IGNORECASE)
_SHORT_NUMBER = 3  # digits

# What errors of APIs are made of. Alone, none of these says anything of a document.
_PLAIN = frozenset(
    _WORD.findall("""
    a about above access account additional after all allow allowed already also an and any api are
    argument array as at available bad be because been before below between body boolean both but by
    call can cannot change chat check choose code completion completions config configuration
    content context contact could default defined deployment deprecated did disabled do does doesn
    don either empty enable enabled encountered endpoint enough equal error errors every exceed
    exceeded exceeds expected extra fail failed false feature field fields following for forbidden
    format found from function given got greater had has have header help how http https if in
    incorrect input instead integer internal invalid is isn it its json key known larger length less
    level like limit limited list longer malformed match max maximum may message messages min
    minimum missing mode model models more must name need new no none not null number object of on
    one only openai option or other our out output parameter parameters parse parsing pass passed
    permission permitted please positive prompt property provide provided provider range read reason
    reasoning received recognized refused reject rejected remove request requested requests require
    required requires response retry returned role same sampling schema see sent server set should
    smaller some specified specify string strict structured such support supported supports system
    temperature text than that the their then there these this to token tokens too top true try type
    unable unexpected unknown unprocessable unrecognized unsupported up use used user using valid
    validation value values version was we were what when where which while will with within without
    wrong you your
    """)
)


def words(status: int, body: object, sent: bytes, secrets: Iterable[str]) -> str:
    """What an error body says, to be read after "it says"; `sent` is the body of the request.

    Nothing that occurs in `secrets` is shown, either.
    """
    request = json.loads(sent)
    texts = [message["content"] for message in request.pop("messages")]
    form = request.pop("response_format", {"type": ""})
    own = _PLAIN | set(_WORD.findall(_plain(json.dumps([request, form["type"]]))))
    quotable = _plain("\n".join([*texts, *secrets]))
    shown: list[str] = []
    hidden = False
    for name, said in dict.fromkeys(strings(body)):
        if not said.strip() or said == str(status):
            continue
        if _quotes(said, quotable, own):
            hidden = True
        else:
            cut = said if len(said) <= _LONGEST else f"{said[:_LONGEST]}..."
            shown.append(f"{name} {cut}" if name in _NAMED else f'"{cut}"')
    if hidden:
        shown.append("words that quote what was sent, which are not shown here")
    return ", ".join(shown) or "nothing"


def _quotes(said: str, quotable: str, own: frozenset[str]) -> bool:
    return bool(_ESCAPED.search(said)) or any(
        word not in own and word in quotable
        for word in _WORD.findall(_plain(said))
        if len(word) > 1 and not (word.isdigit() and len(word) <= _SHORT_NUMBER)
    )


def _plain(text: str) -> str:
    """Small letters without accents: a server may write them otherwise."""
    parted = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in parted if not unicodedata.combining(c))


def strings(body: object, name: str = "message", depth: int = 0) -> Iterator[tuple[str, str]]:
    """The strings that say what is wrong, each with the name of its member, names before words."""
    if name == "raw":  # OpenRouter passes on what the provider said
        body, name = _parsed(body), "message"
    if depth > _DEEPEST:
        return
    if isinstance(body, Mapping):
        for member in (*_NAMED, *_INSIDE):
            if member in body:
                yield from strings(body[member], member, depth + 1)
    elif isinstance(body, list) and name == "loc":
        yield name, ".".join(map(str, body))
    elif isinstance(body, list):
        for one in body:
            yield from strings(one, name, depth + 1)
    elif isinstance(body, str | int) and not str(body).lstrip().startswith("<"):  # a page of HTML
        yield name, str(body)


def _parsed(said: object) -> object:
    try:
        return json.loads(said) if isinstance(said, str) else said
    except (ValueError, RecursionError):
        return said
