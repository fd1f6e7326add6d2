"""What one process of a race does; run by path in a fresh interpreter.

Given by the test: `location`, `barrier`, `rounds` (arguments of `remember`, one round each) and
`report`, the file that the outcomes go to.
"""

import json
from pathlib import Path

import evomem


def race(location, barrier, rounds, report):
    outcomes = []
    with evomem.open(location, linking="off") as memory:
        for arguments in rounds:
            barrier.wait(timeout=30)
            try:
                result = memory.remember(**arguments)
                outcomes.append({"id": result.node.id, "moved": result.moved})
            except evomem.EvoMemError as error:
                outcomes.append(error.to_dict())
    Path(report).write_text(json.dumps(outcomes), "utf-8")


if __name__ == "__racer__":
    given = globals()
    race(given["location"], given["barrier"], given["rounds"], given["report"])
