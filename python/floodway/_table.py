"""Tables and their columns, open to everything that reads Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from operator import index
from typing import Any, overload

from floodway import _floodway
from floodway._html import table as html_table
from floodway._text import line

_SHOWN = 10


class Table:
    """A table of results, in the memory into which the simulation wrote it.

    Everything that speaks the Arrow PyCapsule interface takes it as it is and copies nothing:
    ``pyarrow.table(table)``, ``polars.DataFrame(table)``, and DuckDB by way of pyarrow.

    As in the files nothing is null. NaN stands for a value that is not there, such as the
    completion time of a flow that did not complete, so that an average over unfinished flows
    shows itself.
    """

    def __init__(self, inner: _floodway.Table) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """What a row is, in the plural."""
        return self._inner.name

    @property
    def doc(self) -> str:
        """What a row stands for."""
        return self._inner.doc or ""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return self._inner.columns

    @overload
    def __getitem__(self, key: str) -> Column: ...
    @overload
    def __getitem__(self, key: list[str]) -> Table: ...
    def __getitem__(self, key: str | list[str]) -> Column | Table:
        """Take one column by its name, or a table of some columns by a list of names."""
        names = key if isinstance(key, list) else [key]
        if not all(isinstance(name, str) for name in names):
            first = self.columns[0]
            raise TypeError(
                f"{key!r} is no column of table {self.name}, which is indexed by names: write "
                f"[{first!r}] for a column, [{first!r}][0] for its first value, or `to_pandas()` "
                "for rows"
            )
        try:
            if isinstance(key, str):
                return Column(self._inner.select([key]), key)
            return Table(self._inner.select(key))
        except KeyError as error:
            (name,) = error.args
            columns = ", ".join(self.columns)
            raise KeyError(f"table {self.name} has no column {name}; it has {columns}") from None

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __iter__(self) -> Iterator[str]:
        """Give the names of the columns, in order."""
        return iter(self.columns)

    def __len__(self) -> int:
        """Count the rows."""
        return len(self._inner)

    def to_pandas(self) -> Any:
        """Give a ``pandas.DataFrame``; needs pandas and pyarrow."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """Give a ``polars.DataFrame``; needs polars."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> Any:
        """Give a ``pyarrow.Table``; needs pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def to_dict(self) -> dict[str, list[Any]]:
        """Give all columns as lists; needs nothing else."""
        return {name: self[name].to_list() for name in self.columns}

    def __arrow_c_schema__(self) -> object:
        """Hand over the columns' names and types, with their meanings and units as metadata."""
        return self._inner.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand over the table, in one piece for each run."""
        return self._inner.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return line(f"<Table {self.name}: {len(self)} rows, columns {', '.join(self.columns)}>")

    def _repr_html_(self) -> str:
        shown = [self._inner.to_list(name, 0, _SHOWN) for name in self.columns]
        rows = [list(row) for row in zip(*shown, strict=True)]
        more = f" The first {_SHOWN}:" if len(self) > _SHOWN else ""
        caption = f"{self.name}: {len(self)} rows. {self.doc}{more}"
        return html_table(self.columns, rows, caption)


class Column:
    """One column of a table. It speaks the Arrow PyCapsule interface as well."""

    def __init__(self, inner: _floodway.Table, name: str) -> None:
        self._inner = inner
        self._name = name

    @property
    def name(self) -> str:
        """Its name, which ends in its unit where it has one."""
        return self._name

    @property
    def doc(self) -> str:
        """What a value means, and what NaN means if there can be one."""
        return self._inner.column_doc(self._name) or ""

    @property
    def unit(self) -> str | None:
        """``ns``, ``bytes``, ``gbps``, ``packets`` or ``frames``."""
        return self._inner.column_unit(self._name)

    def to_list(self) -> list[Any]:
        """Give the values as a list."""
        return self._inner.to_list(self._name, 0, len(self))

    def to_arrow(self) -> Any:
        """Give a ``pyarrow.ChunkedArray``; needs pyarrow."""
        import pyarrow

        return pyarrow.table(self._inner).column(self._name)

    def to_numpy(self) -> Any:
        """Give an array of NumPy; needs pyarrow. Numbers of one run are not copied."""
        chunks = self.to_arrow().chunks
        if len(chunks) == 1:
            return chunks[0].to_numpy(zero_copy_only=False)
        return self.to_arrow().to_numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy

        array = self.to_numpy()
        return numpy.array(array, dtype=dtype, copy=True if copy else None)

    def __arrow_c_schema__(self) -> object:
        """Hand over the column's type, as of a table with one column."""
        return self._inner.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand over the values, as a table with one column."""
        return self._inner.__arrow_c_stream__(requested_schema)

    @overload
    def __getitem__(self, key: int) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> list[Any]: ...
    def __getitem__(self, key: int | slice) -> Any:
        """Take one value, or a list of values by a slice."""
        if isinstance(key, slice):
            rows = range(len(self))[key]
            if rows.step == 1:
                return self._inner.to_list(self._name, rows.start, max(rows.start, rows.stop))
            return self.to_list()[key]
        try:
            row = range(len(self))[index(key)]
        except TypeError:
            raise TypeError(
                f"column {self._name} is indexed by whole numbers and slices, not by {key!r}; "
                "`to_numpy()` takes more"
            ) from None
        except IndexError:
            raise IndexError(
                f"column {self._name} has {len(self)} values, and none at {key!r}"
            ) from None
        return self._inner.to_list(self._name, row, row + 1)[0]

    def __len__(self) -> int:
        """Count the values."""
        return len(self._inner)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_list())

    def __repr__(self) -> str:
        return line(f"<Column {self._name}: {len(self)} values. {self.doc}>")
