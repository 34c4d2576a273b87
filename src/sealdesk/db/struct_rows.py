"""Structs that are stored as rows, each field in the column of its name."""

from typing import Generic, TypeVar

import msgspec
from msgspec import inspect

from sealdesk.db.engine import Params, Row, Tx

S = TypeVar("S", bound=msgspec.Struct)


class StructRows(Generic[S]):
    """How a struct is a row: lists and structs in it are JSON, booleans are numbers."""

    def __init__(self, kind: type[S]) -> None:
        self.columns = kind.__struct_fields__
        self._kind = kind
        self._decoders = {
            field.name: bool if field.type is bool else msgspec.json.Decoder(field.type).decode
            for field in msgspec.structs.fields(kind)
            if isinstance(
                inspect.type_info(field.type),
                (inspect.BoolType, inspect.StructType, inspect.VarTupleType),
            )
        }
        self._json = [name for name, decode in self._decoders.items() if decode is not bool]

    def read(self, row: Row) -> S:
        """The struct of a row, which may have more columns."""
        values = {name: row[name] for name in self.columns}
        for name, decode in self._decoders.items():
            values[name] = decode(values[name])
        return self._kind(**values)

    async def find(self, tx: Tx, sql: str, params: Params) -> S | None:
        """The struct of the first row, None when there is none."""
        row = await tx.fetch_one(sql, params)
        return None if row is None else self.read(row)

    def params(self, struct: S) -> dict[str, object]:
        values = msgspec.structs.asdict(struct)
        for name in self._json:
            values[name] = msgspec.json.encode(values[name]).decode()
        return values
