"""Help: examples first, the same options in the same order and words in every command."""

import itertools
import re

import pytest
import typer

from kvcost.cli.app import COMMANDS, app

ROOT = typer.main.get_command(app)


def _command(name):
    return ROOT.get_command(None, name)


def _options(name):
    return {parameter.name: parameter.help for parameter in _command(name).params if parameter.param_type_name == "option"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_examples_of_itself(name):
    examples = re.findall(r"^\s*kvcost .*$", _command(name).help, re.MULTILINE)
    assert any(f"kvcost {name}" in line for line in examples)


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(COMMANDS, 2)))
def test_two_commands_list_the_options_that_they_share_in_one_order(one, other):
    ours, theirs = _options(one), _options(other)
    shared = [option for option in ours if option in theirs]
    assert shared == [option for option in theirs if option in ours]


def test_an_option_is_described_in_the_same_words_everywhere():
    words = {}
    for name in COMMANDS:
        for option, text in _options(name).items():
            words.setdefault(option, set()).add(text)
    several = {option for option, texts in words.items() if len(texts) > 1}
    assert several <= {"engine"}  # compute knows an engine by what it adds to compute times alone


@pytest.mark.parametrize("name", COMMANDS)
def test_no_line_of_the_help_but_an_example_is_wider_than_80_columns(name):
    context = typer.Context(_command(name), info_name=name)
    lines = context.get_help().splitlines()
    assert all(len(line) <= 80 or line.lstrip().startswith("kvcost ") for line in lines)
