"""Help: examples first, one order and one wording of options in all commands."""

import itertools

import pytest

from kvcost.cli.app import COMMANDS, command_of
from kvcost.cli.help import GROUPS

ORDER = list(itertools.chain.from_iterable(GROUPS.values()))


def options_of(command):
    return {param.name: param for param in command_of(command).params if param.param_type_name == "option"}


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(COMMANDS, 2)), ids="-".join)
def test_shared_options_stand_in_one_order_and_are_said_in_the_same_words(one, other):
    ours, theirs = options_of(one), options_of(other)
    assert [name for name in ours if name in theirs] == [name for name in theirs if name in ours]
    for name in ours.keys() & theirs.keys():
        assert (ours[name].opts, ours[name].help, ours[name].metavar) == (theirs[name].opts, theirs[name].help, theirs[name].metavar)


@pytest.mark.parametrize("command", COMMANDS)
def test_options_come_in_the_order_of_the_sections(command):
    names = list(options_of(command))
    listed = [name for name in names if name in ORDER]
    assert listed == [name for name in ORDER if name in names]
    assert names[: len(listed)] == listed, "what is not in a section comes last"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_described_in_its_section(kvcost, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = kvcost(command, "--help").out
    head, _, listed = text.partition("\n\nArguments:\n")
    if not listed:
        head, _, listed = text.partition(":\n  -")
    assert text.startswith(f"Usage: kvcost {command} ")
    assert f"kvcost {command}" in head.partition("\n\n")[2]
    for name, option in options_of(command).items():
        assert option.help, name
        assert text.count(f"\n  {option.opts[0]}") + text.count(f", {option.opts[0]}") >= 1, name
    assert "default:" not in text


def test_the_commands_take_a_line_each(kvcost, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = kvcost("--help").out
    assert len(text.partition("Commands:\n")[2].splitlines()) == len(COMMANDS)
    assert len(text.splitlines()) <= 40


def test_most_options_take_a_line_each(kvcost, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for command in COMMANDS:
        options = len(options_of(command))
        sections = sum(any(name in group for name in options_of(command)) for group in GROUPS.values())
        assert len(kvcost(command, "--help").out.splitlines()) <= 1.1 * options + 2 * sections + 16, command


def test_a_command_that_was_forgotten_is_asked_for(kvcost):
    ran = kvcost("--model", "llama2-70b")
    assert ran.code == 2
    assert "name the command first, such as `kvcost transfer" in ran.err
