"""Hugging Face config.json files → models."""

from .door import KNOWN_TYPES, read_hf_config
from .files import find_in_hub_cache, load_hf_config
from .types import Conventions, ImportedModel

__all__ = ["KNOWN_TYPES", "Conventions", "ImportedModel", "find_in_hub_cache", "load_hf_config", "read_hf_config"]
