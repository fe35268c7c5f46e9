"""The examples of CONTRIBUTING.md are entries that the catalog takes."""

import re
from pathlib import Path

import pytest

from kvcost.catalog.compile import compile_file
from kvcost.catalog.names import normalise
from kvcost.catalog.store import Catalog

TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n# (\w+)\.yaml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize(("kind", "text"), EXAMPLES, ids=[kind for kind, _ in EXAMPLES])
def test_an_example_is_taken_and_found_by_its_names(kind, text, tmp_path):
    file = tmp_path / f"{kind}.yaml"
    file.write_text(text, encoding="utf-8")
    catalog = Catalog([str(file)])
    for name, entry in compile_file(kind, file).items():
        assert {catalog.find(kind, word) for word in (name, *entry["aliases"])} == {name}
        assert normalise(name) not in {normalise(known) for known in Catalog().entries(kind)}
        assert {"links": catalog.link, "engines": catalog.engine}[kind](name).provenance == entry["confidence"]


def test_there_is_an_example_of_each():
    assert [kind for kind, _ in EXAMPLES] == ["links", "engines"]
