"""From the words of a question to the rows of its answer, the same for a command line, a file of rows and a preset.

`reading` (one option's words → values) → `plan` (all options → works and paths), `deployment` (→ both sides) →
`size`, `transfer`, `compute`, `breakeven` (questions: everything but the lengths) → `question` (asked for lengths)
or `inputs` (asked case by case) → `document` (what is handed to `render`).
"""
