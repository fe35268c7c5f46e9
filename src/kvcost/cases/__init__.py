"""From the words of a question to the rows of its answer, the same for a command line, a file of rows and a preset.

`reading` (one option's words → values) → `plan` (all options → requests and paths) →
`size`, `transfer` (requests and paths → rows) → `document` (what is handed to `render`).
"""
