"""Knowledge of a database besides its rows: schema, descriptions, profiles, joins.

`records` holds the nouns, `encoding` their JSON form. `descriptions` reads description files,
`scan` profiles tables, `formats` tells how values are written, `joins` infers undeclared keys.

Public: `records`; the rest is internal and may change without notice.
"""

from sqlwright.catalog.formats import Format
from sqlwright.catalog.records import Catalog, ColumnProfile, TableProfile

__all__ = ["Catalog", "ColumnProfile", "Format", "TableProfile"]
