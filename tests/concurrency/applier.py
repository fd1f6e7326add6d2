"""What the processes of `test_apply_races` do: calls whose whole results they tell, as `worker.py`.

`applier.py PATH MEET ACTION`, with calls as a line of JSON. All meet before their first commit,
when they have planned on the same state; `ready` is printed there.
"""

import json
import sys

import evomem


def say(word):
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def meet_before_the_first_commit(engine):
    commit = engine.commit

    def commit_together(patch):
        engine.commit = commit
        say("ready")
        sys.stdin.readline()
        return commit(patch)

    engine.commit = commit_together


def outcome(memory, call):
    name, arguments = call
    try:
        told = getattr(memory, name)(**arguments).to_dict()
    except evomem.EvoMemError as error:
        told = error.to_dict()
    return told


def main(path):
    calls = json.loads(sys.stdin.readline())
    with evomem.open(path, linking="off") as memory:
        meet_before_the_first_commit(memory._context.engine)
        for call in calls:
            say(json.dumps(outcome(memory, call)))


if __name__ == "__main__":
    main(sys.argv[1])
