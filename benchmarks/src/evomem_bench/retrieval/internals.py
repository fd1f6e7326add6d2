"""The calibration with EvoMem's own analysis of texts: what a rule inside it could know.

Run it with `python -m evomem_bench.retrieval.internals`. The benchmark proper uses the public
surface only.
"""

from __future__ import annotations

from functools import partial

from evomem.domain.analysis import terms, tokens
from evomem_bench.concurrency.evidence import Evidence, machine
from evomem_bench.retrieval.adr import load_adr
from evomem_bench.retrieval.data import find_data
from evomem_bench.retrieval.run import FULL, calibrate
from evomem_bench.retrieval.signals import Index


def main() -> None:
    """Print the tables."""
    index = partial(Index, of_query=terms, of_note=tokens)
    rows = calibrate(load_adr(find_data(None)), FULL, 1, index)
    Evidence("retrieval-internals", [machine(), *rows], 1).print_tables()


if __name__ == "__main__":
    main()
