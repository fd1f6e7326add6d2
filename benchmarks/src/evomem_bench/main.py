"""The command `evomem-bench`: one subcommand for each benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evomem_bench.report import Report
from evomem_bench.speed.run import FULL, QUICK, run_speed

app = typer.Typer(no_args_is_help=True, add_completion=False)

Quick = Annotated[bool, typer.Option("--quick", help="Fewer calls: two minutes on two cores.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Out = Annotated[Path | None, typer.Option(help="Also write the JSON document and a picture there.")]
Seed = Annotated[int, typer.Option(help="Seed of everything drawn at random.")]


@app.callback()
def describe() -> None:
    """Measure EvoMem; every published figure is made by one of these commands."""


@app.command()
def speed(*, quick: Quick = False, as_json: Json = False, out: Out = None, seed: Seed = 1) -> None:
    """Time writes, recalls and the import, and weigh the process."""
    _hand_out(run_speed(QUICK if quick else FULL, seed), out, as_json=as_json)


def _hand_out(report: Report, out: Path | None, *, as_json: bool) -> None:
    if out is not None:
        report.save(out)
    if as_json:
        typer.echo(report.to_json())
    else:
        report.print_tables()


def main() -> None:
    """Run the command line."""
    app()
