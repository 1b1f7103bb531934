"""Values as the UI shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import dagster as dg


def table(rows: Sequence[Mapping[str, str | int | float | bool]]) -> dg.TableMetadataValue:
    """A table, also of no rows."""
    records = [dg.TableRecord(dict(row)) for row in rows]
    return dg.MetadataValue.table(records, None if records else dg.TableSchema(columns=[]))


def interval(found: Sequence[float] | None) -> str:
    """Of a mean absolute error."""
    return "[{:.3f}, {:.3f}]".format(*found) if found else ""
