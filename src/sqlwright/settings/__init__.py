"""Defaults for the command line and services: flags, environment, project file, in this order.

The project file is `sqlwright.toml`, or the table `[tool.sqlwright]` of a `pyproject.toml`, in the
working folder or the nearest one above it (`boundary.project_file` says which are obeyed):

    database = "data/shop.sqlite"
    recipe = "local"
    overrides = ["generation.embedded.beam=4"]
    descriptions = "data/descriptions"
    tables = ["orders", "customers"]
    prepare = false
    seconds = 20
    max_scan = "10GB"

    [limits]
    seconds = 5
    rows = 500

    [llm]
    model = "openai/gpt-4.1"
    budget = "$0.05, 30 calls"
    privacy = "schema-only"

    [models.small]
    model = "openai-compatible/qwen3-4b"
    base_url = "http://localhost:8001/v1"

Paths are relative to the file. Every value is typed, unknown keys are refused. A project file can't
allow code in recipes: only a flag can.

Internal: may change without notice.
"""
