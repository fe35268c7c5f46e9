"""kvcost prices the KV transfer of prefill/decode disaggregation."""

__version__ = "0.1.0"
