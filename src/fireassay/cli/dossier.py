"""``fireassay dossier``, ``bundle``, ``verify``, ``cite``, ``schema``: what others take away."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument

from fireassay.cli.console import asked, emit_json, say, say_json, shape
from fireassay.cli.options import answering, arg, opt

Run = Annotated[Path, Argument(help="A run folder.")]
_RUN = Path("fireassay-run")


@answering
def dossier(
    run: Run = _RUN,
    for_: str = opt("stard, tripod, annex-iv or pas8800.", "stard", "--for"),
    output: Path | None = opt("An .html or .md file.", None, "--output", "-o"),
    pdf: bool = opt("Also print it as PDF (Chromium).", False),
) -> None:
    """Write a run in the order of a reporting guideline, item by item.

    Items are filled from the result with intervals. What no tool can know names its owner.

    Example: fireassay dossier fireassay-run --for stard -o stard.html
    """
    from fireassay.assessment.run.bundle import case_of
    from fireassay.core.errors import ParameterError
    from fireassay.core.files import write_text
    from fireassay.report.dossier import dossier as fill
    from fireassay.report.exports import print_pdf

    output = output or run / f"dossier-{for_}.html"
    if output.suffix not in (".html", ".md") or (pdf and output.suffix != ".html"):
        raise ParameterError("-o must end in .html (with --pdf) or .md.", got=str(output))
    filled = fill(for_, case_of(run))
    write_text(output, filled.html() if output.suffix == ".html" else filled.markdown())
    written = [output]
    if pdf:
        written.append(print_pdf(output, output.with_suffix(".pdf")))
    items = [{"number": i.number, "state": i.state} for i in filled.items]
    emit_json({"files": list(map(str, written)), "summary": filled.summary, "items": items})
    say(filled.summary)
    for path in written:
        say(f"written: {path}")


@answering
def bundle(
    run: Run = _RUN,
    output: Path | None = opt("The zip.", None, "--output", "-o"),
    with_samples: bool = opt("Put rows of the data in, too.", False),
) -> None:
    """Put a run into one zip that somebody else can verify offline.

    Rows of the data stay out unless --with-samples is given.

    Example: fireassay bundle fireassay-run -o evidence.zip
    """
    from fireassay.assessment.run.bundle import bundle_run

    output = output or run.resolve().with_suffix(".zip")
    digest = bundle_run(run, output, samples=with_samples)
    emit_json({"bundle": str(output), "sha256": digest})
    say(f"written: {output}")
    say(f"SHA-256: {digest} (give it to the reader by another way)")


@answering
def verify(
    file: Path = arg("A zip of fireassay bundle.", ...),
    sha256: str | None = opt("The SHA-256 that the sender gave."),
) -> None:
    """Verify a bundle: each file, and that result, limits, verdict and page agree.

    Exit code 0: everything holds. 1: something was changed. 2: this is no bundle.

    Example: fireassay verify evidence.zip --sha256 9f86d0…
    """
    from fireassay.assessment.run.bundle import verify_bundle

    found = verify_bundle(file, sha256=sha256)
    broken = [finding for finding in found if not finding.holds]
    emit_json({"holds": not broken, "findings": [vars(finding) for finding in found]})
    for finding in found:
        seen = "" if finding.holds or not finding.seen else f": {finding.seen}"
        mark = shape("pass" if finding.holds else "fail")
        silent = asked.json or (asked.quiet and finding.holds)
        say(f"{mark} {finding.what}{seen}", quiet=silent)
    if sha256 is None:
        say("Not compared: the sender's SHA-256 (--sha256).")
    say("Changed." if broken else "Holds.")
    raise typer.Exit(1 if broken else 0)


@answering
def cite(run: Run = _RUN) -> None:
    """Print BibTeX of fireassay and of the papers whose methods a run has used.

    Example: fireassay cite fireassay-run > references.bib
    """
    from fireassay.assessment.run.folder import read_report
    from fireassay.report.bom import bibtex

    text = bibtex(p.question for p in read_report(run, charts=False).parts if p.status == "done")
    emit_json({"bibtex": text})
    say(text)


@answering
def schema(name: str = arg("result or config.", "result")) -> None:
    """Print a JSON schema: of result.json, or of the configuration.

    Example: fireassay schema result > result.schema.json
    """
    from fireassay.core.errors import ParameterError

    if name == "result":
        from fireassay.report.document import result_schema

        found = result_schema()
    elif name == "config":
        from fireassay.assessment.init import config_schema

        found = config_schema()
    else:
        raise ParameterError("Known schemas: result, config.", got=name)
    if not asked.quiet:
        say_json(found)
