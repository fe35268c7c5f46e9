"""The line that counts rows while somebody waits."""

import time

from kvcost.render import progress


def test_short_answers_are_silent(capsys):
    assert list(progress.watched([(1,), (2,)], 2)) == [(1,), (2,)]
    assert capsys.readouterr().err == ""


def test_long_answers_are_counted_and_the_line_is_wiped(capsys, monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    assert list(progress.watched([(1,), (2,), (3,)], 3)) == [(1,), (2,), (3,)]
    err = capsys.readouterr().err
    assert "3 of 3 rows, 100%" in err
    assert err.endswith("\r\x1b[K")


def test_an_unknown_total_is_not_guessed(capsys, monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    list(progress.watched([(1,), (2,)], None))
    assert "2 rows" in capsys.readouterr().err
