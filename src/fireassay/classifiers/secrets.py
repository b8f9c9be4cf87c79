"""Does a text give a secret away, as it is or in another dress?"""

import base64
import codecs
import html
import re
from functools import lru_cache
from urllib.parse import unquote_plus

_ESCAPE = re.compile(r"\\(?:u\{?([0-9a-fA-F]{1,6})\}?|x([0-9a-fA-F]{2})|([0-7]{3})|[abfnrtv])")
_NOT_LETTERS = re.compile(r"[\W_]+")
_LEAST = 6
_ROUNDS = 3


def reveals(text: str, secret: str) -> bool:
    """Whether a text repeats a secret: in any case, cut by other characters, backwards, or encoded.

    Knows base64, base32, hexadecimal and octal digits, percent signs, character entities, and the
    escapes of JSON, and these inside each other up to three times.

    >>> reveals("denied: Bearer abc-123-xyz", "abc-123-xyz"), reveals("denied", "abc-123-xyz")
    (True, False)
    >>> reveals("denied: YWJjLTEyMy14eXo=", "abc-123-xyz")
    True
    """
    for _ in range(_ROUNDS):
        plain = _letters(text)
        if secret in text or any(dress in plain for dress in _dresses(secret)):
            return True
        opened = _opened(text)
        if opened == text:
            return False
        text = opened
    return False


@lru_cache(maxsize=8)
def _dresses(secret: str) -> tuple[str, ...]:
    """The secret's letters and digits, as they stand in every known encoding."""
    raw = secret.encode()
    found = [secret, secret[::-1], raw.hex(), raw[::-1].hex(), codecs.encode(secret, "rot13")]
    found += ["".join(f"{byte:03o}" for byte in raw), "".join(map(str, raw))]
    for encode, together, bits in ((base64.b64encode, 3, 6), (base64.b32encode, 5, 5)):
        for before in range(together):  # where the secret begins among the bytes before it
            whole = encode(b"\0" * before + raw).decode().rstrip("=")
            skipped, kept = -(-8 * before // bits), 8 * (before + len(raw)) // bits
            found.append(whole[skipped:kept])
            found.append(encode(b"\0" * before + raw[::-1]).decode().rstrip("=")[skipped:kept])
    letters = (_letters(dress) for dress in found)
    return tuple(dict.fromkeys(dress for dress in letters if len(dress) >= _LEAST))


def _letters(text: str) -> str:
    return _NOT_LETTERS.sub("", text).casefold()


def _opened(text: str) -> str:
    """Percent signs, entities and escapes undone once."""
    if "\\" in text:
        text = _ESCAPE.sub(_escaped, text)
    if "&" in text:
        text = html.unescape(text)
    return unquote_plus(text) if "%" in text else text


def _escaped(match: re.Match[str]) -> str:
    wide, narrow, octal = match.groups()
    if not (wide or narrow or octal):
        return " "
    number = int(octal, 8) if octal else int(wide or narrow, 16)
    return chr(number) if number < 0x110000 else match.group()
