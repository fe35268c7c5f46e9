"""`kvcost check`."""

import sys
from typing import Annotated, Any

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


@app.command(cls=o.Grouped)
@o.taking(("view", "download", "catalog", *o.OUTPUT))
def check(paths: Paths, strict: Strict = False, report: Report = None, **values: Any) -> int:
    r"""Hold deployment presets to their limits: 0 all met, 1 one is broken, 2 a preset is bad, 3 no preset found.

    \b
    kvcost check presets/
    kvcost check presets/ --strict --report junit=report.xml --report sarif=kvcost.sarif
    kvcost check - --json < preset.yaml
    """
    style, known, reports = style_of(values), catalog_of(values), reports_of(report, values["output"], paths)
    answers = Answers(Reader(known, ModelFinder(known, values["view"], values["download"])))
    checked = check_presets(answers, paths, _piped, say_error)
    write_reports(reports, checked, paths, strict=strict)
    if not checked.presets and checked.bad:
        return EXIT_BAD
    _show(checked, style, paths, silent=owns_stdout(reports) and values["output"] is None, strict=strict)
    if not checked.presets:
        say_error(KvcostError("no preset found", where=", ".join(paths), hint="a preset ends in .yaml or .yml, and its name does not start with _ or ."))
        return EXIT_NOTHING
    return _code(checked, strict)


def _show(checked: Checked, style: Style, paths: list[str], *, silent: bool, strict: bool) -> None:
    """The result, unless a report has taken its place; the summary below a table, else on stderr where something is wrong.

    That warnings alone fail a run is said on stderr in any case: nothing else would tell why.
    """
    document = checked.document({"paths": paths}, bad=style.format == "json")
    table = style.format == "table" and style.columns is None
    said = summary(checked, strict=strict)
    if silent:
        say_notices(document, style)
    elif checked.presets or style.format == "json":
        emit(document._replace(inputs={"paths": paths, "summary": said}) if table else document, style)
    if strict and checked.warnings and not checked.broken and not checked.bad:
        print(f"error: {said}", file=sys.stderr)
    elif checked.presets and not style.quiet and (silent or not table) and (checked.broken or checked.bad):
        print(said, file=sys.stderr)


def _piped() -> bytes:
    """Standard input, no more of it than a preset may have."""
    return stdin_of("PATH").read(MAX_BYTES + 1).encode("utf-8", "surrogateescape")


def _code(checked: Checked, strict: bool) -> int:
    if checked.bad:
        return EXIT_BAD
    return EXIT_BROKEN if checked.broken or (strict and checked.warnings) else 0
