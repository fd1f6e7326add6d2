"""The command `evomem-bench`: one subcommand for each benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evomem_bench.concurrency import run as concurrency
from evomem_bench.concurrency.crash import run_crash
from evomem_bench.frameworks import langgraph
from evomem_bench.peers import run as peers
from evomem_bench.report import Report
from evomem_bench.retrieval import run as questions
from evomem_bench.retrieval.fusion import run_fusion
from evomem_bench.scale import run as scale
from evomem_bench.speed.run import FULL, QUICK, run_speed

_QUICK_ROUNDS = 50

app = typer.Typer(no_args_is_help=True, add_completion=False)

Quick = Annotated[bool, typer.Option("--quick", help="Fewer calls: two minutes on two cores.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Out = Annotated[Path | None, typer.Option(help="Also write the JSON document and a picture there.")]
Seed = Annotated[int, typer.Option(help="Seed of everything drawn at random.")]
Concurrency = Annotated[
    bool, typer.Option("--concurrency", help="Instead: many processes on one file, and servers.")
]
Scale = Annotated[
    bool, typer.Option("--scale", help="Instead: from a thousand to a million notes.")
]
Peers = Annotated[bool, typer.Option("--peers", help="Instead: beside other memories.")]
Langgraph = Annotated[
    bool, typer.Option("--langgraph", help="Instead: the LangGraph store beside others.")
]
Fusion = Annotated[
    bool, typer.Option("--fusion", help="Instead: which weights fuse words and meaning best.")
]
Data = Annotated[
    Path | None,
    typer.Option(help="Folder of the questions; $EVOMEM_BENCH_DATA, or ../shared, if not given."),
]
Rounds = Annotated[int, typer.Option(min=1, help="How often the writers are killed.")]


@app.callback()
def describe() -> None:
    """Measure EvoMem; every published figure is made by one of these commands."""


@app.command()
def speed(
    *,
    quick: Quick = False,
    beside: Concurrency = False,
    scaling: Scale = False,
    others: Peers = False,
    graphs: Langgraph = False,
    as_json: Json = False,
    out: Out = None,
    seed: Seed = 1,
) -> None:
    """Time writes, recalls and the import, and weigh the process."""
    if beside + scaling + others + graphs > 1:
        message = "Choose one of --concurrency, --scale, --peers and --langgraph."
        raise typer.BadParameter(message)
    report: Report
    if beside:
        many = concurrency.QUICK if quick else concurrency.FULL
        report = concurrency.run_concurrency(many, seed)
    elif scaling:
        report = scale.run_scale(scale.QUICK if quick else scale.FULL, seed)
    elif others:
        report = peers.run_peers(peers.QUICK if quick else peers.FULL, seed)
    elif graphs:
        report = langgraph.run_langgraph(langgraph.QUICK if quick else langgraph.FULL, seed)
    else:
        report = run_speed(QUICK if quick else FULL, seed)
    _hand_out(report, out, as_json=as_json)


@app.command()
def retrieval(
    *,
    quick: Quick = False,
    fusing: Fusion = False,
    data: Data = None,
    as_json: Json = False,
    out: Out = None,
    seed: Seed = 1,
) -> None:
    """Ask real decision histories, by words, by meaning and by both."""
    sizes = questions.QUICK if quick else questions.FULL
    report: Report
    if fusing:
        report = run_fusion(sizes.groups, seed, data)
    else:
        report = questions.run_retrieval(sizes, seed, data)
    _hand_out(report, out, as_json=as_json)


@app.command()
def crash(
    *,
    rounds: Rounds = 1000,
    quick: Quick = False,
    as_json: Json = False,
    out: Out = None,
    seed: Seed = 1,
) -> None:
    """Kill writers with `kill -9` and look for what they had acknowledged."""
    _hand_out(
        run_crash(min(rounds, _QUICK_ROUNDS) if quick else rounds, seed), out, as_json=as_json
    )


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
