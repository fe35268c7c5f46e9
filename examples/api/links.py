"""The cheapest link that brings a 32K prompt across in 100 ms, model by model."""

import kvcost

LIMIT_S = 0.1
LINKS = ["25gbe", "100gbe", "ib-ndr", "nvlink4"]  # cheapest first

found = kvcost.answer("transfer", model=["llama2-70b", "gemma-3-27b", "deepseek-v3"], ctx="32k", link=LINKS, columns=["model", "link", "achievable_s"])
for warning in found.warnings:
    print(f"beware: {warning.message}")
best = {}
for row in found.rows:
    if row["achievable_s"] <= LIMIT_S:
        best.setdefault(row["model"], row)
for model, row in best.items():
    print(f"{model:<12} {row['link']:<9} {1e3 * row['achievable_s']:6.1f} ms")
