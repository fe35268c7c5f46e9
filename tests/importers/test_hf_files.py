"""Configs on disk, in the hub cache, and from a hub."""

import http.server
import json
import os
import subprocess
import sys
import threading
import time

import pytest
from looks import look

from kvcost.errors import KvcostError
from kvcost.importers.hf_config import download as download_module
from kvcost.importers.hf_config import find_in_hub_cache, load_hf_config
from kvcost.importers.hf_config.download import download_config


def write(path, config):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(config), "utf-8")
    return path


def test_a_file_and_its_folder_give_the_same(tmp_path):
    file = write(tmp_path / "tiny" / "config.json", look("llama"))
    assert load_hf_config(file) == load_hf_config(file.parent)
    assert load_hf_config(file).model.name == "tiny"
    assert load_hf_config(file, name="mine").model.name == "mine"
    assert load_hf_config(write(tmp_path / "other.json", look("llama"))).model.name == "other"


def test_hf_quant_config_beside_it_is_read(tmp_path):
    write(tmp_path / "hf_quant_config.json", {"producer": {}, "quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}})
    assert load_hf_config(write(tmp_path / "config.json", look("llama"))).model.kv_dtype == "fp8"
    (tmp_path / "hf_quant_config.json").write_text("[]")
    with pytest.raises(KvcostError, match="object"):
        load_hf_config(tmp_path)


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "is not JSON"),
        (b'{"model_type": "llama", "num_hid', "is not JSON"),
        (b"\xff\xfe{}", "UTF-8"),
        (b"[1, 2]", "not an object"),
        (b'"text"', "not an object"),
        (b"null", "not an object"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": 1' + b"0" * 100_000 + b"}", "too long"),
        (b" " * 6_000_000, "too large"),
    ],
    ids=lambda value: value if isinstance(value, str) else len(value),
)
def test_a_damaged_file_is_one_error_with_its_place(tmp_path, data, word):
    file = tmp_path / "config.json"
    file.write_bytes(data)
    with pytest.raises(KvcostError, match=word) as caught:
        load_hf_config(file)
    assert caught.value.where.startswith(str(file))
    assert caught.value.hint


def test_a_file_of_fifty_megabytes_is_refused_without_reading_it(tmp_path):
    file = tmp_path / "config.json"
    with file.open("wb") as stream:
        stream.truncate(50_000_000)
    start = time.process_time()
    with pytest.raises(KvcostError, match="too large"):
        load_hf_config(file)
    assert time.process_time() - start < 0.5


def test_an_error_inside_the_config_is_placed_at_the_file(tmp_path):
    file = write(tmp_path / "config.json", look("llama", num_attention_heads="12"))
    with pytest.raises(KvcostError, match="num_attention_heads") as caught:
        load_hf_config(tmp_path)
    assert caught.value.where == str(file)


def test_a_missing_file_is_an_error(tmp_path):
    for path in (tmp_path / "nothing.json", tmp_path):
        with pytest.raises(KvcostError, match="cannot be read"):
            load_hf_config(path)


def test_infinity_in_a_field_that_does_not_count_is_no_matter(tmp_path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(look("nemotron-h") | {"time_step_limit": [0.0, float("inf")]}))
    assert load_hf_config(file).model.groups


def snapshot(cache, repo, revision, age_s=0):
    file = write(cache / f"models--{repo.replace('/', '--')}" / "snapshots" / revision / "config.json", look("llama"))
    os.utime(file.parent, (time.time() - age_s,) * 2)
    return file


def test_the_hub_cache_follows_refs_main(tmp_path):
    older, newer = snapshot(tmp_path, "org/model", "aaa", 100), snapshot(tmp_path, "org/model", "bbb")
    env = {"HF_HUB_CACHE": str(tmp_path)}
    assert find_in_hub_cache("org/model", env) == newer
    refs = tmp_path / "models--org--model" / "refs"
    refs.mkdir()
    (refs / "main").write_text("aaa\n")
    assert find_in_hub_cache("org/model", env) == older
    (refs / "main").write_text("gone")
    assert find_in_hub_cache("org/model", env) == newer
    assert load_hf_config(newer).model.name == "org/model"


def test_where_the_hub_cache_is(tmp_path):
    inside = snapshot(tmp_path / "home" / "hub", "org/model", "aaa")
    assert find_in_hub_cache("org/model", {"HF_HOME": str(tmp_path / "home")}) == inside
    assert find_in_hub_cache("org/model", {"HF_HOME": str(tmp_path / "home"), "HF_HUB_CACHE": str(tmp_path)}) is None
    xdg = snapshot(tmp_path / "xdg" / "huggingface" / "hub", "gpt2", "aaa")
    assert find_in_hub_cache("gpt2", {"XDG_CACHE_HOME": str(tmp_path / "xdg")}) == xdg
    home = snapshot(tmp_path / "me" / ".cache" / "huggingface" / "hub", "gpt2", "aaa")
    assert find_in_hub_cache("gpt2", {"HOME": str(tmp_path / "me")}) == home
    assert find_in_hub_cache("org/absent", {"HOME": str(tmp_path / "me")}) is None


@pytest.mark.parametrize("repo", ["", "/", "a/b/c", "../x", "org/..", "./config.json", "a\0b", "org/"])
def test_what_is_no_id_is_not_looked_up(tmp_path, repo):
    assert find_in_hub_cache(repo, {"HF_HUB_CACHE": str(tmp_path)}) is None


def test_without_the_client_the_extra_is_named(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(download_module.importlib, "import_module", missing)
    with pytest.raises(KvcostError, match="huggingface_hub") as caught:
        download_config("org/model")
    assert "kvcost[hf]" in caught.value.hint


def test_reading_a_config_loads_no_heavy_module():
    code = "import sys; import kvcost.importers.hf_config; print(*[m for m in ('pydantic', 'yaml', 'rich', 'typer', 'huggingface_hub') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


class Hub(http.server.BaseHTTPRequestHandler):
    """As much of a hub as fetching a small file needs."""

    files: dict[str, bytes]
    seen: list[tuple[str, str | None]]

    def answer(self, body):
        self.seen.append((self.path, self.headers.get("authorization")))
        data = self.files.get(self.path)
        self.send_response(200 if data is not None else 404)
        self.send_header("Content-Length", str(len(data or b"")))
        if data is None:
            self.send_header("X-Error-Code", "EntryNotFound" if "/org/model/" in self.path else "RepoNotFound")
        else:
            self.send_header("ETag", '"0123456789abcdef0123456789abcdef01234567"')
        self.send_header("X-Repo-Commit", "c" * 40)
        self.end_headers()
        if body and data:
            self.wfile.write(data)

    def do_GET(self):
        self.answer(True)

    def do_HEAD(self):
        self.answer(False)

    def log_message(self, *args):
        pass


@pytest.fixture
def hub():
    handler = type("OneHub", (Hub,), {"files": {"/org/model/resolve/main/config.json": json.dumps(look("llama")).encode()}, "seen": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server, handler
    server.shutdown()
    server.server_close()
    thread.join()


FETCH = """
import sys
from kvcost.errors import KvcostError
from kvcost.importers.hf_config import load_hf_config
from kvcost.importers.hf_config.download import download_config
try:
    print(load_hf_config(download_config(sys.argv[1])).model.name)
except KvcostError as error:
    print("error:", error.message, "| hint:", error.hint)
"""


def fetch(repo, cache, server, **env):
    pytest.importorskip("huggingface_hub")
    full = os.environ | {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_HOME": str(cache), "HF_HUB_DISABLE_TELEMETRY": "1"} | env
    for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        full.pop(proxy, None)
    return subprocess.run([sys.executable, "-c", FETCH, repo], capture_output=True, text=True, check=True, env=full, timeout=120).stdout.strip()


def test_a_config_is_fetched_from_a_mirror_with_the_token_then_found_offline(tmp_path, hub):
    server, handler = hub
    assert fetch("org/model", tmp_path, server, HF_TOKEN="hf_secret") == "org/model"
    assert ("/org/model/resolve/main/config.json", "Bearer hf_secret") in handler.seen
    handler.seen.clear()
    assert fetch("org/model", tmp_path, server, HF_HUB_OFFLINE="1") == "org/model"
    assert handler.seen == []
    assert find_in_hub_cache("org/model", {"HF_HOME": str(tmp_path)}) is not None


def test_what_keeps_a_config_from_being_fetched_is_said(tmp_path, hub):
    server, _ = hub
    assert "no such model" in fetch("org/absent", tmp_path, server)
    assert "local cache" in fetch("org/model", tmp_path / "empty", server, HF_HUB_OFFLINE="1")
    assert "error:" in fetch("not an id", tmp_path, server)
