"""The words of a question and of its answer, each list in one place."""

__all__ = ["OBJECTIVES", "ROUTERS", "VERDICTS"]

OBJECTIVES = ("all", "ttft", "tpot", "itl-p99", "e2e", "goodput")
ROUTERS = ("random", "round-robin", "least-loaded")
VERDICTS = ("disaggregate", "colocate", "mixed", "infeasible", "unknown")
