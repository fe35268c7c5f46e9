"""Models, links and engines: hand-edited YAML in `data/`, read back as plain frozen records.

`strict_yaml` (text → values with positions) → `schema` (what an entry may say) → `compile`
(YAML → checked entries) → `records` (entries → records of `cost`) → `store` (look-up by name).
pydantic and yaml are imported only where YAML is read; the built-in entries come compiled.
"""
