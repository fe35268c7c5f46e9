"""Help: examples first, one order and one wording of options in all commands."""

import itertools
import re

import pytest

from kvcost.cli.commands import COMMANDS, command_of
from kvcost.cli.options import GROUPS

ORDER = list(itertools.chain.from_iterable(GROUPS.values()))


def options_of(command):
    return {param.name: param for param in command_of(command).params if param.param_type_name == "option"}


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(COMMANDS, 2)), ids="-".join)
def test_shared_options_stand_in_one_order_and_are_said_in_the_same_words(one, other):
    ours, theirs = options_of(one), options_of(other)
    assert [name for name in ours if name in theirs] == [name for name in theirs if name in ours]
    for name in ours.keys() & theirs.keys():
        assert (ours[name].opts, ours[name].metavar) == (theirs[name].opts, theirs[name].metavar)
        said = [options[name].help.partition(" [")[0] for options in (ours, theirs)]  # the default may differ
        assert said[0] == said[1]


@pytest.mark.parametrize("command", COMMANDS)
def test_options_come_in_the_order_of_the_groups(command):
    names = [name.rstrip("_") for name in options_of(command)]
    listed = [name for name in names if name in ORDER]
    assert listed == [name for name in ORDER if name in names]


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_come_first_and_every_option_is_described(kvcost, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = kvcost(command, "--help").out
    assert text.startswith(f"Usage: kvcost {command} ")
    assert re.search(rf"^  kvcost {command}\b", text.partition(":\n  -")[0], re.MULTILINE)
    for name, option in options_of(command).items():
        assert option.help, name
        assert text.count(f"\n  {option.opts[0]}") + text.count(f", {option.opts[0]}") >= 1, name
    assert "default:" not in text


@pytest.mark.parametrize("command", COMMANDS)
def test_no_line_but_an_example_is_wider_than_the_terminal(kvcost, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert all(len(line) <= 80 or line.startswith("  kvcost ") for line in kvcost(command, "--help").out.splitlines())


def test_the_commands_take_a_line_each(kvcost, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = kvcost("--help").out
    assert len(text.partition("Commands:\n")[2].splitlines()) == len(COMMANDS)
    assert len(text.splitlines()) <= 40


def test_most_options_take_a_line_each(kvcost, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for command in COMMANDS:
        options = len(options_of(command))
        groups = sum(any(name in group for name in options_of(command)) for group in GROUPS.values())
        assert len(kvcost(command, "--help").out.splitlines()) <= 1.1 * options + 2 * groups + 16, command


def test_a_command_that_was_forgotten_is_asked_for(kvcost):
    ran = kvcost("--model", "llama2-70b")
    assert ran.code == 2
    assert "name the command first, such as `kvcost transfer" in ran.err
