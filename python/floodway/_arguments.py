"""What arguments of several functions can be: told before anything runs."""

from __future__ import annotations

import os
from operator import index
from pathlib import Path


def directory(name: str, path: str | os.PathLike[str]) -> Path:
    """Give a directory that is written to. An empty path would be the working directory.

    >>> directory("out", "results/mine").name
    'mine'
    """
    if os.fspath(path) == "":
        raise ValueError(f"`{name}` is empty: name a directory, or leave `{name}` out")
    return Path(path)


def threads(asked: int | None) -> int | None:
    """Give a number of threads, or none for one for each core.

    >>> threads(2)
    2
    """
    if asked is not None and index(asked) < 1:
        raise ValueError(
            f"a run needs at least 1 thread, and `threads` is {asked}: leave it out for one for "
            "each core"
        )
    return asked
