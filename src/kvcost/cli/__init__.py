"""The command line: words in, one call, one document out."""
