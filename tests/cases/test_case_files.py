"""--input: one case a row, CSV or JSON lines; bad rows are named and the others still run."""

import csv
import io
import json

import pytest

COLUMNS = "--columns=model,ctx_tokens,wire_bytes"


@pytest.fixture
def price(kvcost, tmp_path):
    """Run `transfer --input` over a file of this content."""

    def call(content, *words, name="cases.csv", command="transfer"):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return kvcost(command, "--input", file, *words)

    return call


def rows_of(ran):
    return list(csv.DictReader(io.StringIO(ran.out)))


CSV = "model,ctx,link\nllama2-70b,4096,100gbe\nllama3.1-8b,8k,ib-ndr\n"
JSONL = '{"model": "llama2-70b", "ctx": 4096, "link": "100gbe"}\n{"model": "llama3.1-8b", "ctx": "8k", "link": "ib-ndr"}\n'


@pytest.mark.parametrize("content", [CSV, JSONL])
@pytest.mark.parametrize("change", [str, lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n"), lambda text: "\n\n" + text, str.rstrip])
def test_csv_and_json_lines_say_the_same(price, content, change):
    ran = price(change(content), "--format", "csv", COLUMNS)
    assert ran == (0, "model,ctx_tokens,wire_bytes\nllama2-70b,4096,1342177280\nllama3.1-8b,8192,1073741824\n", "")


def test_options_are_defaults_that_a_row_replaces(price):
    ran = price("ctx,tp\n1k,\n2k,8\n", "--model", "llama2-70b", "--link", "nvlink4", "--tp", 4, "--format", "csv", "--columns", "ctx_tokens,decode_tp")
    assert ran == (0, "ctx_tokens,decode_tp\n1024,4\n2048,8\n", "")


def test_a_case_alone_and_in_a_file_give_one_row(price, kvcost):
    words = ("--model", "qwen3-235b-a22b", "--ctx", "32k", "--link", "ib-ndr", "--tp", "8", "--kv-dtype", "fp8", "--prefix-hit", "50%", "--basis", "engine")
    typed = json.loads(kvcost("transfer", *words, "--json").out)["rows"]
    row = {word[2:].replace("-", "_"): value for word, value in zip(words[::2], words[1::2], strict=True)}
    assert json.loads(price(json.dumps(row), "--json").out)["rows"] == typed
    hyphens = {key.replace("_", "-"): value for key, value in row.items()}
    assert json.loads(price(json.dumps(hyphens), "--json").out)["rows"] == typed


def test_other_keys_pass_through(price):
    ran = price("id,model,ctx,link,basis,link_cost\na,llama2-70b,1k,100gbe,engine,3\nb,llama2-70b,2k,100gbe,line-rate,\n", "--format", "csv")
    assert [(row["id"], row["link_cost"], row["basis"]) for row in rows_of(ran)] == [("a", "3", "engine"), ("b", "", "line-rate")]
    ran = price('{"model": "llama2-70b", "ctx": 1024, "link": "100gbe", "tags": ["x", {"y": 1}], "share": 0.5, "ok": true, "none": null}', "--json")
    row = json.loads(ran.out)["rows"][0]
    assert (row["tags"], row["share"], row["ok"], row["none"]) == (["x", {"y": 1}], 0.5, True, None)


def test_a_key_that_is_also_a_column_keeps_both(price):
    ran = price("model,ctx,link,transfer_s\nllama2-70b,4k,12.5GB/s,0.2\n", "--format", "csv", "--columns", "transfer_s,transfer_s_input")
    assert ran.out == "transfer_s,transfer_s_input\n0.1073741824,0.2\n"


def test_keys_that_the_first_row_lacks_are_left_out_with_a_warning(price):
    rows = '{"model": "llama2-70b", "ctx": 1024, "link": "100gbe"}\n{"model": "llama2-70b", "ctx": 1024, "link": "100gbe", "late": 1}\n'
    ran = price(rows * 2, "--format", "csv")
    assert ran.code == 0
    assert ran.err.count("extra-key-dropped") == 1
    assert "late" in ran.err
    document = json.loads(price(rows, "--json").out)
    assert [warning["code"] for warning in document["warnings"]] == ["extra-key-dropped"]


BAD_ROWS = [
    ("llama9,4096,100gbe", "unknown model 'llama9'"),
    ("llama2-70b,4.5,100gbe", "--ctx"),
    ("llama2-70b,,100gbe", "no context length"),
    ("llama2-70b,4096,100", "neither a known link nor a rate"),
    ("llama2-70b,4096,", "no link given"),
    ('llama2-70b,"1k,2k",100gbe', "stands for several cases"),
    ("llama2-70b,1k..8k,100gbe", "stands for several cases"),
    ("llama2-70b,4096,100gbe,extra", "more cells than the header"),
]


@pytest.mark.parametrize(("row", "words"), BAD_ROWS)
def test_a_bad_row_is_named_by_its_line_and_the_others_run(price, row, words):
    ran = price(f"model,ctx,link\nllama2-70b,1k,100gbe\n{row}\nllama2-70b,4k,100gbe\n", "--format", "csv", COLUMNS)
    assert ran.code == 1
    assert [row["ctx_tokens"] for row in rows_of(ran)] == ["1024", "4096"]
    assert "cases.csv:3: " in ran.err
    assert words in ran.err
    assert ran.err.count("error:") == ran.err.count("hint:") == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        *(
            ("{", "not a JSON object"),
            ("[1]", "not a JSON object"),
            ('"text"', "not a JSON object"),
            ("17", "not a JSON object"),
            ("model,ctx", "not a JSON object"),
        ),
        *(('{"model": ["llama2-70b"], "ctx": 1, "link": "100gbe"}', "not list"), ('{"model": "llama2-70b", "ctx": true, "link": "100gbe"}', "not bool")),
        *(
            ('{"model": "llama2-70b", "ctx": 1, "link": "100gbe", "x": NaN}', "NaN"),
            ('{"model": "llama2-70b", "ctx": 1, "link": "100gbe", "x": -Infinity}', "Inf"),
        ),
        *(('{"model": "llama2-70b", "ctx": 1, "link": "100gbe", "x": 1e999}', "1e999"), ('{"a": ' + "[" * 100_000, "not a JSON object")),
        *(
            ('{"model": "llama2-70b", "ctx": {"a": 1}, "link": "100gbe"}', "not dict"),
            ('{"model": "llama2-70b", "ctx": 1e99, "link": "100gbe"}', "sensible range"),
        ),
    ],
)
def test_bad_json_lines(price, line, words):
    good = '{"model": "llama2-70b", "ctx": 1024, "link": "100gbe", "x": 1}'
    ran = price(f"{good}\n{line}\n{good}\n", "--format", "jsonl", name="cases.jsonl")
    assert ran.code == 1
    assert "cases.jsonl:2: " in ran.err
    assert words in ran.err
    assert ran.err.count("error:") == 1
    assert len(ran.out.splitlines()) == 2


def test_lines_are_those_of_the_file_whatever_is_blank(price):
    ran = price("\n\nmodel,ctx,link\n\nllama2-70b,4k,100gbe\n\n\nllama9,4k,100gbe\n", "--format", "csv")
    assert ran.code == 1
    assert "cases.csv:8: --model: unknown model" in ran.err
    ran = price("\n\n" + JSONL + "\n{\n", "--format", "csv")
    assert "cases.csv:6: " in ran.err


def test_a_quoted_cell_may_hold_lines(price):
    ran = price('note,model,ctx,link\n"a\n\nb",llama2-70b,4k,100gbe\nc,llama9,4k,100gbe\n', "--format", "jsonl", "--columns", "note,ctx_tokens")
    assert json.loads(ran.out) == {"note": "a\n\nb", "ctx_tokens": 4096}
    assert "cases.csv:5: " in ran.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "holds no case"),
        ("\n  \n", "holds no case"),
        ("\ufeff", "holds no case"),
        ("model,ctx,link\n", "holds no case"),
        ("model,ctx,link\nllama9,4k,100gbe\n", "no row could be answered"),
        ("{\n{\n", "no row could be answered"),
        (b"model,ctx,link\nllama2-70b,\xff,100gbe\n", "not UTF-8"),
        ("model,ctx,link\n" + "x" * 200_000 + ",4k,100gbe\n", "no row could be answered"),
    ],
)
def test_nothing_to_answer(price, content, words):
    ran = price(content, "--format", "csv")
    assert ran.code == 2
    assert ran.out == ""
    assert words in ran.err
    assert "hint:" in ran.err
    assert len(ran.err) < 2000


def test_a_cell_of_any_length_does_not_stop_the_others(price):
    ran = price("model,ctx,link,note\nllama2-70b,4k,100gbe,a\nllama2-70b,4k,100gbe," + "x" * 200_000 + "\nllama2-70b,8k,100gbe,b\n", "--format", "csv", COLUMNS)
    assert ran.code in (0, 1)
    assert [row["ctx_tokens"] for row in rows_of(ran)][-1] == "8192"


def test_files_that_cannot_be_read(kvcost, tmp_path):
    for name in (tmp_path / "nowhere.csv", tmp_path):
        ran = kvcost("transfer", "--input", name)
        assert (ran.code, ran.out) == (2, "")
        assert "--input: cannot read" in ran.err
        assert "hint:" in ran.err


@pytest.mark.parametrize(("command", "words"), [("size", ()), ("transfer", ("--link", "100gbe"))])
@pytest.mark.parametrize("rows", [1, 3])
def test_cases_as_a_table(price, command, words, rows):
    ran = price("model,ctx\n" + "llama2-70b,4096\n" * rows, *words, command=command)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("4,096") >= rows
    assert "1.342" in ran.out


def test_warnings_of_rows_are_said_once(price):
    ran = price("model,ctx,link\n" + "llama2-70b,32k,100gbe\n" * 5, "--format", "csv")
    assert ran.err.count("ctx-beyond-limit") == 1
    assert price("model,ctx,link\n" + "llama2-70b,32k,100gbe\n" * 5, "--format", "csv", "-q").err == ""


def test_explain_has_the_terms_of_each_row(price):
    ran = price(CSV, "--format", "jsonl", "--explain")
    for line in ran.out.splitlines():
        row = json.loads(line)
        held = [term for term in row["terms"] if term["unit"] == "B"]
        assert sum(term["value"] for term in held) == row["kv_bytes"]


def test_a_stream_of_cases_is_answered_from_stdin(spawn):
    ran = spawn("transfer", "--input", "-", "--format", "csv", COLUMNS, input=CSV.encode())
    assert ran == (0, "model,ctx_tokens,wire_bytes\nllama2-70b,4096,1342177280\nllama3.1-8b,8192,1073741824\n", "")


def test_a_value_given_twice_is_refused(price):
    ran = price("model,model,ctx,link\nqwen3-8b,llama2-70b,4k,100gbe\n")
    assert (ran.code, ran.out) == (2, "")
    assert "the column 'model' is there twice" in ran.err
    ran = price("model,ctx,link,kv_dtype,KV dtype\nqwen3-8b,4k,100gbe,fp8,bf16\n")
    assert ran.code == 2
    assert "kv_dtype is given twice" in ran.err
    ran = price('{"model": "llama2-70b", "ctx": 1, "ctx": 2}\n{"model": "llama2-70b", "ctx": 3}\n', "--link", "100gbe")
    assert ran.code == 1
    assert "cases.csv:1: the key 'ctx' is there twice\nhint: keep one" in ran.err


def test_column_names_are_read_whatever_their_case_and_joints(price):
    ran = price("Model,CTX,link,KV dtype\nllama2-70b,4k,100gbe,fp8\n", "--format", "csv", "--columns", "model,kv_dtype")
    assert ran == (0, "model,kv_dtype\nllama2-70b,fp8\n", "")


def test_bytes_that_are_no_text_cost_one_row(price):
    good = b"llama2-70b,1k,100gbe\n"
    ran = price(b"model,ctx,link\n" + good + b"llama2-70b\xff,1k,100gbe\n" + good, "--format", "csv", COLUMNS)
    assert (ran.code, len(rows_of(ran))) == (1, 2)
    assert "cases.csv:3: not UTF-8 text" in ran.err


def test_a_binary_file_is_one_error(price):
    ran = price(bytes(range(128, 256)) * 20 + b"\n" + bytes(range(128, 256)))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert ran.err.count("error: ") == 1
    assert "cases.csv: not UTF-8 text" in ran.err


def test_a_json_list_is_refused_with_the_way_to_make_lines_of_it(price):
    ran = price('[{"model": "llama2-70b", "ctx": 1024}]')
    assert (ran.code, ran.out) == (2, "")
    assert "jq -c '.[]'" in ran.err


def test_lists_in_later_rows_are_json_too(price):
    lines = [{"model": "llama2-70b", "ctx": 1024, "link": "100gbe", "t": t} for t in ("a", ["x", 1])]
    ran = price("\n".join(map(json.dumps, lines)), "--format", "csv", "--columns", "t")
    assert [row["t"] for row in rows_of(ran)] == ["a", '["x", 1]']


def test_no_column_is_there_twice(price):
    ran = price("model,ctx,link,wire_bytes,wire_bytes_input\nllama2-70b,4k,100gbe,1,2\n", "--format", "csv")
    (row,) = rows_of(ran)
    assert (row["wire_bytes_input"], row["wire_bytes_input_input"]) == ("2", "1")


def test_one_warning_for_all_lengths_beyond_the_limit(price):
    ran = price("model,ctx,link\n" + "".join(f"llama2-70b,{n},100gbe\n" for n in (5000, 9000, 7000)), "--format", "csv")
    (warning,) = (line for line in ran.err.splitlines() if "ctx-beyond-limit" in line)
    assert "9,000 tokens exceed the context limit of llama2-70b (4,096)" in warning
