"""A document → text: csv, tsv, json, jsonl, markdown, and tables for people. rich lives here alone."""
