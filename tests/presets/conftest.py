"""A folder of presets to read."""

import pytest

from kvcost.errors import KvcostError
from kvcost.presets.read import PresetReader


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write files (name → text or bytes) into a folder that is the working directory; names are then short in messages."""
    monkeypatch.chdir(tmp_path)

    def write(**files):
        for name, text in files.items():
            (tmp_path / f"{name}.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path

    return write


@pytest.fixture
def read(folder):
    """The preset `a` of these files."""

    def call(text, **files):
        folder(a=text, **files)
        from pathlib import Path

        return PresetReader().read(Path("a.yaml"))

    return call


@pytest.fixture
def refused(read):
    """Place, message and hint of the error that reading the preset `a` ends with."""

    def call(text, **files):
        with pytest.raises(KvcostError) as caught:
            read(text, **files)
        assert caught.value.hint
        assert "\n" not in str(caught.value)
        return caught.value.where, caught.value.message, caught.value.hint

    return call
