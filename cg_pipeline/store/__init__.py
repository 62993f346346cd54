"""Where results live: tables in DuckDB, arrays in shards, and every path.

Nothing else knows Arrow, SQL or paths. Read `tables`, `warehouse`, `shards`; then what they lean on.
"""
