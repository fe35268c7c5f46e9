"""Wrong input: one clear line and a hint on stderr, nothing on stdout, exit 2."""

import pytest

BASE = ("transfer", "--model", "llama2-70b", "--ctx", "4096", "--link", "100gbe")


def refused(ran, *words):
    assert ran.code == 2
    assert ran.out == ""
    lines = ran.err.splitlines()
    assert len(lines) == 2, ran.err
    assert lines[0].startswith("error: ")
    assert lines[1].startswith("hint: ")
    assert len(lines[0]) < 300
    for word in words:
        assert word in ran.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--model", "llama2-71b"), ("--model: unknown model 'llama2-71b'", "nearest: llama2-7", "`kvcost models`")),
        (("--model", "x,,y"), ("--model", "empty item")),
        (("--link", "ib-ndx"), ("--link: unknown link 'ib-ndx'", "nearest: ib_ndr", "`kvcost links`")),
        (("--link", "100"), ("--link", "neither a known link nor a rate", "100Gbps")),
        (("--link", "0Gbps"), ("--link", "neither a known link nor a rate")),
        (("--engine", "vlm-nixl"), ("--engine: unknown engine", "nearest: vllm-nixl")),
        (("--ctx", "-5"), ("--ctx", "outside 1..1,000,000,000")),
        (("--ctx=-5",), ("--ctx", "outside 1..")),
        (("--ctx", "0"), ("--ctx", "outside 1..")),
        (("--ctx", "4.5"), ("--ctx", "not a whole number of tokens: '4.5'")),
        (("--ctx", "10^18"), ("--ctx", "10^18")),
        (("--ctx", "1" + "0" * 18), ("--ctx", "outside 1..")),
        (("--ctx", "4x"), ("--ctx", "unknown token unit 'x'")),
        (("--ctx", ""), ("--ctx: an empty value",)),
        (("--ctx", " "), ("--ctx: an empty value",)),
        (("--ctx", "8k..1k"), ("--ctx", "runs downwards", "1k..8k")),
        (("--bandwidth", "100"), ("--bandwidth", "without a clear unit: '100'", "100Gbps", "100GB/s")),
        (("--bandwidth", "0GB/s"), ("--bandwidth", "above zero")),
        (("--tp", "3"), ("--tp: TP 3 does not fit llama2-70b: 8 KV heads", "1, 2, 4, 8")),
        (("--tp", "0"), ("--tp",)),
        (("--tp", "1.5"), ("--tp", "not a whole number")),
        (("--prefill-tp", "3"), ("--prefill-tp: TP 3",)),
        (("--decode-tp", "5"), ("--decode-tp: TP 5",)),
        (("--kv-dtype", "fp7"), ("--kv-dtype: unknown KV dtype 'fp7'", "bf16", "int4:gN")),
        (("--kv-dtype", "fp8_ds_mla"), ("--kv-dtype", "MLA latents only")),
        (("--prefix-hit", "150%"), ("--prefix-hit", "outside 0..1")),
        (("--prefix-hit", "1.5"), ("--prefix-hit",)),
        (("--efficiency", "0"), ("--efficiency", "above 0")),
        (("--efficiency", "1.1"), ("--efficiency",)),
        (("--efficiency", "92"), ("--efficiency", "92 % is written 0.92 or 92%")),
        (("--rails", "0"), ("--rails",)),
        (("--link", "aws_p5", "--rails", "9"), ("--rails", "8 rails")),
        (("--latency", "5"), ("--latency", "time without a unit", "5ms")),
        (("--latency", "-5ms"), ("--latency",)),
        (("--overlap", "pull"), ("--overlap: unknown value 'pull'", "serial, push, decode-start")),
        (("--basis", "best"), ("--basis: unknown value 'best'", "line-rate")),
        (("--staging", "gpu"), ("--staging", "none, host")),
        (("--forwarding", "fast"), ("--forwarding", "pipelined")),
        (("--block-size", "0"), ("--block-size",)),
        (("--prefill-time", "fast"), ("--prefill-time",)),
        (("--path", "pcie5,nolink"), ("--path", "unknown link")),
        (("--format", "xml"), ("--format: unknown format 'xml'", "table, json")),
        (("--json", "--format", "csv"), ("--format", "contradict")),
        (("--color", "blue"), ("--color", "auto, always or never")),
        (("--columns", "wire_byte"), ("--columns: unknown column 'wire_byte'", "nearest: wire_bytes")),
        (("--columns", "a,,b"), ("empty item",)),
        (("--explain", "--format", "csv"), ("--explain", "does not fit into csv")),
        (("--modle", "x"), ("no such option", "--help")),
        (("extra",), ("unexpected extra argument",)),
        (("--ctx",), ("requires an argument",)),
        (("--output", "/nonexistent/folder/a.csv"), ("--output: cannot write", "folder that exists")),
        (("--output", "/proc/nothing.csv"), ("--output: cannot write",)),
        (("--output", "/"), ("--output: cannot write",)),
        (("--catalog", "/nonexistent"), ("/nonexistent: no such catalog",)),
        (("--ctx", "@/nonexistent/list"), ("--ctx: cannot read /nonexistent/list",)),
        (("--ctx", "1..1000000000:+1"), ("--ctx", "more than")),
    ],
    ids=" ".join,
)
def test_transfer(kvcost, words, expected):
    refused(kvcost(*BASE[:1], *(word for word in kept(BASE[1:], words)), *words), *expected)


def kept(base, words):
    """The options of the base that the words do not set."""
    pairs = zip(base[::2], base[1::2], strict=True)
    given = {word.partition("=")[0] for word in words}
    return [word for pair in pairs if pair[0] not in given and not (pair[0] == "--link" and {"--path", "--bandwidth"} & given) for word in pair]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("transfer", "--ctx", "4k", "--link", "100gbe"), ("--model: no model given", "`kvcost models`")),
        (("transfer", "--model", "llama2-70b", "--link", "100gbe"), ("--ctx: no context length given",)),
        (("transfer", "--model", "llama2-70b", "--ctx", "4k"), ("--link: no link given", "--bandwidth")),
        (("transfer",), ("--model: no model given",)),
        (("size",), ("--model: no model given",)),
        (("size", "--model", "llama2-70b"), ("--ctx: no context length given",)),
        (("size", "--model", "llama2-70b", "--ctx", "4k", "--link", "100gbe"), ("no such option: --link",)),
        (("models", "llama9-70b"), ("unknown model", "nearest: llama")),
        (("links", "b200"), ("unknown link", "nearest: ")),
        (("engines", "x", "y"), ("unexpected extra argument",)),
        (("schema",), ("missing argument",)),
        (("schema", "resultt"), ("no schema of 'resultt'", "result")),
        (("transfr", "--model", "x"), ("unknown command 'transfr'", "nearest: transfer")),
        (("modles",), ("unknown command 'modles'", "nearest: models")),
        (("qqqqqq",), ("unknown command 'qqqqqq'", "`kvcost --help`")),
        (("links", "foo"), ("unknown link 'foo'", "hint: `kvcost links` lists all")),
        (("explain", "qqqqqq"), ("unknown quantity", "hint: `kvcost explain` lists all")),
        (("--nope",), ("no such option",)),
        (("breakeven", "--qps", "3"), ("no such option: --qps\n", "did you mean --rate? `kvcost breakeven --help`")),
        (("breakeven", "--rps=3"), ("did you mean --rate?",)),
        (("breakeven", "--isl", "4k"), ("did you mean --ctx?",)),
        (("transfer", "--input-len", "4k"), ("did you mean --ctx?",)),
        (("breakeven", "--output-len", "4k"), ("did you mean --osl?",)),
        (("transfer", "--qps", "3"), ("no such option: --qps",)),
        (("transfer", "--model", "llama2-70b", "--ctx", "4k", "--link", "rdma", "--prefill-tp", "2", "--decode-tp", "64"), ("unknown link 'rdma'",)),
        (("transfer", "--model", "opt-66b", "--ctx", "4k", "--link", "100gbe", "--prefill-tp", "8", "--decode-tp", "12"), ("do not divide each other",)),
    ],
    ids=" ".join,
)
def test_commands(kvcost, words, expected):
    refused(kvcost(*words), *expected)


def test_three_names_are_offered(kvcost):
    for word, kind in (("llama2-71b", "model"), ("ib-ndx", "link"), ("vlm", "engine")):
        hint = kvcost(f"{kind}s", word).err.splitlines()[1]
        assert hint.startswith("hint: nearest: ")
        assert len(hint.partition(";")[0].split(",")) == 3


ENTRY = "mine:\n  title: T\n  kind: tcp\n  scope: port\n  per: port\n  line_rate: {rate}\n  achieved: 1GB/s\n  achieved_low: 1GB/s\n  achieved_high: 1GB/s\n"
ENTRY += "  basis: b\n  source: s\n  confidence: spec\n  checked: 2026-01-01\n"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (ENTRY.format(rate="1GB/s") + "  title: again\n", ":14:3", "stands twice"),
        (ENTRY.format(rate="12.5e9"), ":6:14", "has no unit"),
        (ENTRY.format(rate="1GB/s").replace("mine:", "no:"), ":1:1", "boolean"),
        (ENTRY.format(rate="1GB/s").replace("title: T", "title: 7"), ":2:10", "valid string"),
        (ENTRY.format(rate="1GB/s").replace("tcp", "udp"), ":3:9", "kind"),
        ("", "", "empty"),
    ],
)
def test_catalogs(kvcost, tmp_path, text, place, words):
    file = tmp_path / "links.yaml"
    file.write_text(text)
    refused(kvcost("transfer", "--model", "llama2-70b", "--ctx", "4k", "--link", "mine", "--catalog", file), f"links.yaml{place}: ", words)
    refused(kvcost("links", "--catalog", file), words)


def test_an_unreadable_catalog(kvcost, tmp_path):
    folder = tmp_path / "links.yaml"
    folder.mkdir()
    refused(kvcost("links", "--catalog", folder), "no YAML file")


def test_long_words_are_quoted_in_short(kvcost):
    ran = kvcost("transfer", "--model", "llama2-70b", "--link", "100gbe", "--ctx", "x" * 10_000)
    refused(ran, "...'")


def test_a_name_too_long_for_a_file_is_an_unknown_model(kvcost):
    ran = kvcost("size", "--model", "a" * 280, "--ctx", "4k")
    assert (ran.code, ran.out) == (2, "")
    assert "--model: unknown model" in ran.err


def test_a_home_that_nobody_has(kvcost):
    refused(kvcost("size", "--model", "~nosuchuser/x", "--ctx", "4k"), "--model: unknown model")


def test_files_that_cannot_be_opened(kvcost, tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    refused(kvcost("size", "--input", loop), "--input: cannot read")
    refused(kvcost("size", "--model", "llama2-70b", "--ctx", "4k", "-o", loop), "--output: cannot write")


def test_control_characters_of_the_input_do_not_reach_the_terminal(kvcost):
    ran = kvcost("size", "--model", "\x1b[31mevil\n", "--ctx", "4k")
    assert "\x1b" not in ran.err
    refused(ran, r"\x1b[31mevil")


def test_measured_times_of_zero_or_given_twice(kvcost):
    refused(kvcost(*BASE, "--overlap", "push", "--prefill-time", "4k=0ms"), "--prefill-time", "zero at 4,096 tokens")
    refused(kvcost(*BASE, "--overlap", "push", "--prefill-time", "4k=1ms,4096=2ms"), "--prefill-time", "given twice")
