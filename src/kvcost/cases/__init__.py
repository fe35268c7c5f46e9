"""From the words of a question to the rows of its answer, the same for a command line, a file of rows, a preset and Python.

Words: `reading` and `values` (one option's words → values), `models` and `model_options` (the models), `linking` (links, paths of hops),
`plan` (→ what is sent, and how), `deployment` (→ both sides in every joint draw), `preset` (a preset's words as options).
Questions, everything but the lengths: `size`, `transfer` (rows: `sending`), `compute`, `breakeven` (rows: `gains`, `goodputs`;
`gain` is its door: `sweep` for a million points, `layouts` for --gpus-total; `article`, `whatif` for people), `reduce` (`changes`
and `codecs`: what a technique makes of a case; `reduced`, `remarks`: its row).
Asked: `question` (for lengths), `inputs` (case by case: `case_lines`, `case_shape`), `answers` (from Python).
Answered: `document` (what is handed to `render`), `schemas`, `quantities` and `terms` (what fields mean); `entries` and `imports`
answer with catalogs.
"""
