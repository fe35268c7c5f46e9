"""Every output field is explained, and nothing else is."""

import typing

from kvcost.cases.compute import ComputeRow
from kvcost.cases.gains import GainRow
from kvcost.cases.quantities import QUANTITIES
from kvcost.cases.size import SizeRow
from kvcost.cases.transfer import TransferRow
from kvcost.check.document import CheckRow

ROWS = (SizeRow, TransferRow, ComputeRow, GainRow, CheckRow)


def test_every_field_is_explained():
    fields = {field for row in ROWS for field in typing.get_type_hints(row)}
    assert fields == set(QUANTITIES)


def test_explanations_are_sentences_and_not_empty():
    for name, quantity in QUANTITIES.items():
        assert len(quantity.meaning) > 10, name
        assert not quantity.symbols or quantity.formula, f"{name}: symbols of no formula"
