"""`kvcost check`."""

import sys
from typing import Annotated

import typer

from ..cases.models import ModelFinder
from ..cases.reading import Reader
from ..check.document import Checked, check_presets, summary
from ..check.evaluate import Answers
from ..errors import KvcostError
from ..presets.read import MAX_BYTES
from ..render.output import Style, emit, say_error, say_notices
from . import options as o
from .asking import catalog_of, stdin_of, style_of
from .reporting import owns_stdout, reports_of, write_reports

app = typer.Typer()
EXIT_BROKEN, EXIT_BAD, EXIT_NOTHING = 1, 2, 3
Paths = Annotated[list[str], typer.Argument(metavar="PATH...", help="Preset files, folders of them, or - for standard input.", show_default=False)]
Strict = Annotated[bool, typer.Option("--strict", help="Warnings fail too.")]
Report = Annotated[
    list[str] | None, typer.Option("--report", metavar="KIND=FILE", help="Also a report: junit, sarif, json or github; - = stdout.", show_default=False)
]


@app.command()
def check(
    paths: Paths,
    strict: Strict = False,
    report: Report = None,
    view: o.View = "serving",
    download: o.Download = False,
    format: o.Format = None,  # noqa: A002
    json: o.Json = False,
    output: o.Output = None,
    columns: o.Columns = None,
    catalog: o.CatalogPath = None,
    color: o.Color = "auto",
    quiet: o.Quiet = False,
    debug: o.Debug = False,  # noqa: ARG001
) -> int:
    r"""Hold deployment presets to their limits: 0 all met, 1 one is broken, 2 a preset is bad, 3 no preset found.

    \b
    kvcost check presets/
    kvcost check presets/ --strict --report junit=report.xml --report sarif=kvcost.sarif
    kvcost check - --json < preset.yaml
    """
    values = {"format": format, "json": json, "output": output, "columns": columns, "catalog": catalog, "color": color, "quiet": quiet}
    style, known, reports = style_of(values), catalog_of(values), reports_of(report)
    answers = Answers(Reader(known, ModelFinder(known, view, download)))
    checked = check_presets(answers, paths, _piped, say_error)
    write_reports(reports, checked, paths, strict=strict)
    if not checked.presets and checked.bad:
        return EXIT_BAD
    _show(checked, style, paths, silent=owns_stdout(reports) and output is None)
    if not checked.presets:
        say_error(KvcostError("no preset found", where=", ".join(paths), hint="a preset ends in .yaml or .yml, and its name does not start with _ or ."))
        return EXIT_NOTHING
    return _code(checked, strict)


def _show(checked: Checked, style: Style, paths: list[str], *, silent: bool) -> None:
    """The result, unless a report has taken its place; the summary below a table, else on stderr where something is wrong."""
    document = checked.document({"paths": paths}, bad=style.format == "json")
    table = style.format == "table" and style.columns is None
    if silent:
        say_notices(document, style)
    elif checked.presets or style.format == "json":
        emit(document._replace(inputs={"paths": paths, "summary": summary(checked)}) if table else document, style)
    if checked.presets and not style.quiet and (silent or not table) and (checked.broken or checked.bad):
        print(summary(checked), file=sys.stderr)


def _piped() -> bytes:
    """Standard input, no more of it than a preset may have."""
    return stdin_of("PATH").read(MAX_BYTES + 1).encode("utf-8", "surrogateescape")


def _code(checked: Checked, strict: bool) -> int:
    if checked.bad:
        return EXIT_BAD
    return EXIT_BROKEN if checked.broken or (strict and checked.warnings) else 0
