"""The pure core, in the order in which a request is priced.

`dtypes` (how an element is stored) → `layers` (what a layer caches) → `kv` (bytes held, reserved
and on the wire) → `transfer` (time over a link; `path`: over several hops) → `overlap` (what of it is exposed).
Plain numbers and frozen records in, records out; no I/O, no clock, no imports from outside.
"""
