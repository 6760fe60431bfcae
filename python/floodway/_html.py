"""Small tables for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from floodway._floodway import printable


def escape(text: str) -> str:
    """Escape a text for HTML, with control characters written out."""
    return html.escape(printable(text))


def table(head: Sequence[str], rows: Iterable[Sequence[object]], caption: str) -> str:
    """Write a table with its caption above it; numbers stand on the right."""
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f"<p>{escape(caption)}</p><table><thead><tr>{cells}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _cell(value: object) -> str:
    if isinstance(value, (int, float)):
        return f'<td style="text-align: right">{value:,}</td>'
    return f'<td style="text-align: left">{escape(str(value))}</td>'


def details(summary: str, text: str) -> str:
    """Write a text that opens on demand."""
    return f"<details><summary>{escape(summary)}</summary><pre>{escape(text)}</pre></details>"
