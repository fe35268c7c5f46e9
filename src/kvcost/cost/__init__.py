"""The pure core, in the order in which a request is priced.

`dtypes` (how an element is stored) → `layers` (what a layer caches; `model`: all of them) → `kv` (bytes held and reserved)
→ `wire` (bytes that travel; `techniques`, `technique`: what makes them fewer) → `transfer` (time over a link;
`path`: over several hops) → `overlap` (what of it is exposed).
`gpu` (peaks and constants) → `work` (FLOPs and bytes counted) → `rates` → `prepare` (seconds per unit of work)
→ `compute` (a prefill, a decode step), `terms` (part by part), `capacity` (does it fit), `measured` (times that replace the model).

`steps` (step times as functions of the batch, modelled or measured) → `load` (queues) → `serving` (work and deployments)
→ `mono`, `disagg` (the two deployments under load) → `tails` (p90, p99 gap) → `case` (one question, its joint draws, its answer)
→ `breakeven` (solved with `roots`), `goodput`, `threshold` → `verdict`, `flags` → `sweep` (many points, hoisted);
`words` (the lists of words of question and answer).
Plain numbers and frozen records in, records out; no I/O, no clock, no imports from outside.
"""
