"""The CI examples: their commands are run, on presets that hold and on ones that do not."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from .table import FOLDER, ROOT

CI = ROOT / "examples" / "ci"
GOOD, CHANGED = "llama2-70b-ib-ndr.yaml", ("name: ib-ndr", "name: 100gbe")


@pytest.fixture
def repository(tmp_path):
    """A repository with one preset."""
    (tmp_path / "presets").mkdir()
    shutil.copy(FOLDER / GOOD, tmp_path / "presets" / GOOD)
    return tmp_path


def broken(repository):
    path = repository / "presets" / GOOD
    text = path.read_text(encoding="utf-8")
    assert CHANGED[0] in text
    path.write_text(text.replace(*CHANGED), encoding="utf-8")
    return next(number for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if "transfer_s:" in line)


def shell(line, folder, **env):
    """A line of shell as a runner executes it, with this environment's kvcost."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-c", line], cwd=folder, env={**os.environ, **env, "PATH": path}, capture_output=True, text=True, timeout=60, check=False
    )


def document(name):
    return yaml.safe_load((CI / name).read_text(encoding="utf-8"))


def github():
    """The steps of the workflow's one job."""
    (job,) = document("github.yaml")["jobs"].values()
    return job["steps"]


def line_of(steps):
    (line,) = [step for step in steps if step.startswith("kvcost ")]
    return line


WORKFLOW = line_of([step["run"] for step in github() if "run" in step])
PIPELINE = line_of(document("gitlab.yaml")["kvcost"]["script"])
SCRIPT = f"{CI / 'check.sh'} presets reports"


@pytest.mark.parametrize(
    ("line", "reports", "env"),
    [(WORKFLOW, ("kvcost.sarif", "kvcost.xml"), {"GITHUB_ACTIONS": "true"}), (PIPELINE, ("kvcost.xml",), {}), (SCRIPT, ("reports/kvcost.json",), {})],
    ids=["workflow", "pipeline", "script"],
)
def test_commands_pass_and_fail_with_the_presets(repository, line, reports, env):
    done = shell(line, repository, **env)
    assert done.returncode == 0, done.stderr
    assert all((repository / name).stat().st_size for name in reports)
    for name in reports:
        (repository / name).unlink()
    number = broken(repository)
    done = shell(line, repository, **env)
    assert done.returncode == 1
    assert all((repository / name).stat().st_size for name in reports)
    annotation = rf"^::error file=presets/{re.escape(GOOD)},line={number},"
    assert bool(re.search(annotation, done.stdout + done.stderr, re.MULTILINE)) == bool(env)


def test_workflow_uploads_what_the_check_writes():
    (upload,) = [step for step in github() if "upload-sarif" in step.get("uses", "")]
    assert f"sarif={upload['with']['sarif_file']} " in WORKFLOW + " "
    assert "cancelled()" in upload["if"]
    assert document("github.yaml")["permissions"] == {"contents": "read", "security-events": "write"}
    assert document("github.yaml")[True]["pull_request"]["paths"][0] == "presets/**"  # YAML 1.1 reads the key `on` so


def test_pipeline_keeps_its_report_after_a_failure():
    artifacts = document("gitlab.yaml")["kvcost"]["artifacts"]
    assert artifacts["when"] == "always"
    assert f"junit={artifacts['reports']['junit']}" in PIPELINE


@pytest.mark.parametrize(("text", "code", "said"), [("model: [", 2, "cannot be read"), (None, 3, "no preset in presets")])
def test_script_says_why_it_failed(repository, text, code, said):
    path = repository / "presets" / GOOD
    path.unlink()
    if text is not None:
        path.write_text(text, encoding="utf-8")
    done = shell(SCRIPT, repository)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr


def test_pre_commit_hook():
    """The form that pre-commit asks of a hook, and which files set it off."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["id"] == "kvcost-check"
    assert hook["entry"] == "kvcost check"
    assert (hook["language"], hook["types"]) == ("python", ["yaml"])
    assert set(hook) <= {"id", "name", "description", "entry", "args", "language", "types", "files", "pass_filenames"}
    assert hook["args"] == ["presets/"]
    assert not hook["pass_filenames"], "others may extend the preset that changed"
    files = re.compile(hook["files"])
    assert all(files.search(name) for name in ("presets/a.yaml", "presets/_defaults.yaml", "deploy/presets/eu/a.yml"))
    assert not any(files.search(name) for name in ("src/a.yaml", "mypresets.yaml", "presets.yaml"))
