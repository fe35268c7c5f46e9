"""One door to break-even questions: a sweep, a search for layouts, or cases one by one."""

from .breakeven import BreakevenQuestion
from .plan import Options
from .question import Question
from .reading import Reader

__all__ = ["ask_breakeven"]


def ask_breakeven(reader: Reader, options: Options, explain: bool = False) -> Question:
    """The question of these options, as a sweep where the columns asked for allow it.

    Raises KvcostError for words that cannot be read and combinations that cannot be served.
    """
    if options.get("gpus_total"):
        from .layouts import best_question

        question = best_question(reader, options, explain)
    else:
        question = BreakevenQuestion(reader, options, explain)
    if reader.wanted_order is not None and not explain and not options.get("gpus_total"):
        from .sweep import SweepQuestion, sweepable

        if sweepable(question, reader.wanted_order):
            return SweepQuestion(question, reader.wanted_order)
    if reader.for_people:
        from .whatif import commented

        question.comment = commented
    return question
