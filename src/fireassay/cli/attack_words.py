"""Attacks, defences and values as somebody writes them on a command line."""

from typing import Any

from fireassay.core.errors import ParameterError


def read_attack(text: str) -> tuple[str, dict[str, Any]]:
    """A name and parameters.

    >>> read_attack("pgd:norm=linf,eps=0.1")
    ('pgd', {'norm': 'linf', 'eps': 0.1})
    >>> read_attack("art:PixelAttack:es=1")
    ('art:PixelAttack', {'es': 1})
    """
    start = len("art:") if text.startswith("art:") else 0
    name, _, rest = text[start:].partition(":")
    parameters: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise ParameterError("An attack is NAME:KEY=VALUE,KEY=VALUE.", got=repr(text))
        parameters[key.strip()] = read_value(value.strip())
    return text[:start] + name, parameters


def read_defence(text: str) -> tuple[str, float]:
    """A name and a value.

    >>> read_defence("conf=0.9")
    ('conf', 0.9)
    """
    name, _, value = text.partition("=")
    try:
        return name, float(value)
    except ValueError as error:
        raise ParameterError("A defence is NAME=VALUE, e.g. conf=0.9.", got=repr(text)) from error


def read_value(text: str) -> Any:
    """A whole number, a number, or the text itself.

    >>> [read_value(text) for text in ("3", "0.5", "linf")]
    [3, 0.5, 'linf']
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
