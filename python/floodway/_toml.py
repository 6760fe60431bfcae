"""Mappings of Python as TOML, the language of scenarios."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeGuard

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def document(fields: Mapping[str, Any]) -> str:
    """Write a mapping as a TOML document, tables under headers.

    >>> print(document({"name": "x", "switch": {"queue": {"size": "2MB"}}}), end="")
    name = "x"
    <BLANKLINE>
    [switch.queue]
    size = "2MB"
    """
    return "\n".join(_sections(fields, "", "")).lstrip("\n")


def _sections(fields: Mapping[str, Any], path: str, header: str) -> Iterable[str]:
    """The text of a table and of those in it, each with an empty line before its header."""
    inner = {key: value for key, value in fields.items() if _has_header(value)}
    plain = {key: value for key, value in fields.items() if key not in inner}
    lines = [f"{_key(key)} = {inline(value)}\n" for key, value in plain.items()]
    # A table that holds only other tables needs no header of its own.
    if header and (lines or not inner or header.startswith("[[")):
        lines.insert(0, header + "\n")
    if lines:
        yield "".join(lines)
    for key, value in inner.items():
        below = f"{path}.{_key(key)}" if path else _key(key)
        if isinstance(value, Mapping):
            yield from _sections(value, below, f"[{below}]")
        else:
            for element in value:
                yield from _sections(element, below, f"[[{below}]]")


def _has_header(value: object) -> bool:
    """Whether a value is a table, or a list of nothing but tables."""
    if isinstance(value, Mapping):
        return True
    return _is_list(value) and len(value) > 0 and all(isinstance(each, Mapping) for each in value)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))


def inline(value: object) -> str:
    """Write a value on one line.

    >>> inline({"size": "2MB", "count": 2, "weights": [1, 0.5], "on": True})
    '{size = "2MB", count = 2, weights = [1, 0.5], on = true}'
    """
    if isinstance(value, str):
        # All that JSON escapes TOML escapes in the same way, except that it wants this one too.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    # Numbers of NumPy too; a truth value of Python is also a whole number, one of NumPy is neither.
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {inline(v)}" for k, v in value.items()) + "}"
    if _is_list(value):
        return "[" + ", ".join(inline(element) for element in value) + "]"
    if value is None:
        raise TypeError("None is no value in a scenario: leave the key out, or write False")
    raise TypeError(
        f"{value!r} is no value in a scenario: write text such as '2MB', a number, True or False, "
        "a list or a mapping"
    )


def plain(value: object) -> str:
    """Write a value as it stands in an argument: text without quotes.

    >>> plain("2MB"), plain(0.5), plain([1, 2])
    ('2MB', '0.5', '[1, 2]')
    """
    return value if isinstance(value, str) else inline(value)


def _key(key: object) -> str:
    if not isinstance(key, (str, int)) or isinstance(key, bool):
        raise TypeError(f"{key!r} is no key in a scenario: write a name")
    text = str(key)
    return text if _BARE.fullmatch(text) else inline(text)


_PATH = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


def nested(fields: Mapping[Any, Any]) -> dict[str, Any]:
    """Write keys with dots out as mappings. Names of variants are no paths.

    >>> nested({"switch.queue.size": "2MB", "switch": {"latency": "1us"}})
    {'switch': {'queue': {'size': '2MB'}, 'latency': '1us'}}
    """
    whole: dict[str, Any] = {}
    for key, value in fields.items():
        if key == "variants" and isinstance(value, Mapping):
            value = {name: _nested_value(overlay) for name, overlay in value.items()}
            _lay_over(whole, {"variants": value})
            continue
        *outer, last = str(key).split(".") if isinstance(key, (str, int)) else [key]
        overlay = {last: _nested_value(value)}
        for name in reversed(outer):
            overlay = {name: overlay}
        _lay_over(whole, overlay)
    return whole


def _nested_value(value: object) -> Any:
    if isinstance(value, Mapping):
        return nested(value)
    if _is_list(value):
        return [_nested_value(element) for element in value]
    return value


def _lay_over(below: dict[str, Any], above: Mapping[str, Any]) -> None:
    for key, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(key), dict):
            _lay_over(below[key], value)
        else:
            below[key] = value


def settings(changes: Mapping[Any, Any]) -> list[str]:
    """Write changes as arguments of ``--set``, one for each key of the mapping.

    >>> settings({"seed": 2, "switch": {"queue": {"size": "2MB"}}, "switch.latency": "1us"})
    ['seed=2', 'switch.queue.size="2MB"', 'switch.latency="1us"']
    """
    return [setting(_path(key), value) for key, value in changes.items()]


def setting(path: str, value: object) -> str:
    """Write one change as an argument of ``--set``."""
    while isinstance(value, Mapping) and len(value) == 1:
        ((key, value),) = value.items()
        path = f"{path}.{_path(key)}"
    return f"{path}={inline(_nested_value(value))}"


def _path(key: object) -> str:
    if isinstance(key, (str, int)) and _PATH.fullmatch(str(key)):
        return str(key)
    raise ValueError(
        f"{key!r} is no path in a scenario: write names with dots between them, like "
        "'switch.queue.size'"
    )


def texts(name: str, values: Iterable[str]) -> list[str]:
    """Give the texts of an argument; one text would be taken for its letters."""
    if isinstance(values, str):
        raise TypeError(f"`{name}` is one text: write a list of texts")
    return list(values)
