"""The GPU catalog."""

from __future__ import annotations

import pytest

from kvcost.catalog.store import Catalog
from kvcost.cost.gpu import Constant
from kvcost.errors import KvcostError

CATALOG = Catalog()


def test_all_of_them():
    assert len(CATALOG.entries("gpus")) == 43


@pytest.mark.parametrize(("alias", "name"), [
    ("a100", "a100_80_sxm"),
    ("H100", "h100_sxm"),
    ("h200", "h200_sxm"),
    ("L40S", "l40s"),
    ("4090", "rtx4090"),
    ("trillium", "tpu_v6e"),
])  # fmt: skip
def test_names_that_people_type(alias, name):
    assert CATALOG.gpu(alias).name == name


def test_dense_peaks_and_one_direction():
    h100 = CATALOG.gpu("h100")
    assert (h100.bf16_flops_per_s, h100.fp8_flops_per_s, h100.fp4_flops_per_s) == (989e12, 1979e12, None)
    assert (h100.hbm_bytes, h100.hbm_bytes_per_s, h100.scaleup_bytes_per_s) == (80 * 10**9, 3.35e12, 450e9)


def test_a_mesh_gives_one_peer_one_link():
    mi300x = CATALOG.gpu("mi300x")
    assert (mi300x.peer_bytes_per_s, mi300x.scaleup_bytes_per_s) == (64e9, 448e9)


def test_without_a_fabric_ranks_meet_over_pcie():
    assert CATALOG.gpu("l40s").scaleup_bytes_per_s == 31.5e9


@pytest.mark.parametrize("name", sorted(CATALOG.entries("gpus")))
def test_entries_are_sane(name):
    gpu = CATALOG.gpu(name)
    for key, constant in gpu.constants._asdict().items():
        if isinstance(constant, Constant):
            assert constant.low <= constant.value <= constant.high, key
    assert gpu.constants.basis in ("fitted", "estimate")
    assert gpu.constants.evidence
    assert gpu.peer_bytes_per_s <= gpu.scaleup_bytes_per_s
    assert 1e12 < gpu.bf16_flops_per_s < 1e16


def write(tmp_path, **changes):
    entry = {"title": "My GPU", "vendor": "me", "bf16": "100TFLOPS", "hbm": "80GB", "hbm_bandwidth": "2TB/s", "pcie": "63GB/s"}
    entry |= {"source": "mine", "confidence": "measured", "checked": "2026-11-29", **changes}
    file = tmp_path / "gpus.yaml"
    file.write_text("mine:\n" + "".join(f"  {key}: {value}\n" for key, value in entry.items()))
    return Catalog([str(file)])


def test_a_users_gpu_takes_average_constants(tmp_path):
    gpu = write(tmp_path).gpu("mine")
    assert gpu.constants.basis == "estimate"
    assert gpu.constants.eta_bf16 == Constant(0.7, 0.52, 0.85)


def test_a_single_constant_is_its_own_range(tmp_path):
    assert write(tmp_path, constants="{eta_bf16: 0.6}").gpu("mine").constants.eta_bf16 == Constant(0.6, 0.6, 0.6)


@pytest.mark.parametrize(("changes", "words"), [
    ({"bf16": "100"}, "with a unit, such as 989TFLOPS"),
    ({"bf16": "fast"}, "dense figure"),
    ({"pcie": "63GB/s", "scaleup": "10GB/s", "peer": "20GB/s"}, "peer exceeds"),
    ({"constants": "{eta_bf16: [0.9, 0.5, 0.7]}"}, "rising order"),
    ({"constants": "{eta_bf16: 1.4}"}, "less than or equal to 1"),
    ({"hbm_gb": "80"}, "unknown key"),
])  # fmt: skip
def test_what_is_wrong_is_refused(tmp_path, changes, words):
    with pytest.raises(KvcostError, match=words):
        write(tmp_path, **changes).gpu("mine")
