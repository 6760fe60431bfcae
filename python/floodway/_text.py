"""Texts of others, as they are shown."""

from __future__ import annotations

from floodway._floodway import printable


def line(text: str) -> str:
    """Write out control characters and line feeds, so that a text stays on its line."""
    return printable(text).replace("\n", "\\n")
