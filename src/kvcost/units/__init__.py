"""Quantities as people write them, and back: tokens, bytes, rates, times, lists and ranges.

Inside kvcost every number is in its base unit (tokens, bytes, bytes/s, s); a unit exists only
here, where text comes in (`parse`, `lists`) and where it goes out (`show`).
"""
