import pytest

OLD = "We picked Postgres for the ledger."
NEW = "We moved the ledger to SQLite."


@pytest.fixture
def pair(note):
    return note(OLD), note(NEW)


def test_link_and_unlink(run, run_json, pair):
    old, new = pair
    assert f"replaces {old}" in run("link", new, "--supersedes", old, "--reason", "cost").stdout
    assert run_json("show", old)["superseded_by"] == [new]
    assert f"in force again: active  {old}" in run("unlink", new, old, "--actor", "ada").stdout
    assert run_json("show", old)["status"] == "active"


def test_link_answers_with_the_result_as_json(run_json, pair):
    old, new = pair
    assert run_json("link", new, "--supersedes", old)["superseded"] == [old]
    again = run_json("link", new, "--supersedes", old)
    assert "nothing was done" in again["warnings"][0]
    assert run_json("unlink", new, old)["restored"] == [old]


def test_link_takes_several_older_nodes(run_json, pair, note):
    old, new = pair
    other = note("The cluster has three nodes.")
    result = run_json("link", new, "--supersedes", old, "--supersedes", other)
    assert sorted(result["superseded"]) == sorted([old, other])


def test_link_without_an_older_node_is_wrong_usage(run, pair):
    assert "--supersedes" in run("link", pair[1], exit_code=2).stderr


def test_writes_take_whole_ids_only(run, run_json, pair):
    old, new = pair
    run("link", new, "--supersedes", old)
    run("link", new[:8], "--supersedes", old, exit_code=1)
    run("link", new, "--supersedes", old[:8], exit_code=1)
    run("unlink", new, old[:8], exit_code=1)
    run("forget", new[:8], exit_code=1)
    assert run_json("show", new)["supersedes"] == [old]


def test_unlink_without_a_link_is_refused(run_json, pair):
    old, new = pair
    assert run_json("unlink", new, old, exit_code=1)["error"]["code"] == "NOT_FOUND"


def test_forget_takes_out_of_recall_and_keeps_the_history(run, run_json, pair):
    old, _ = pair
    assert run("forget", old).stdout == f"Forgotten  {old}\n"
    assert run_json("recall", "postgres")["hits"] == []
    assert run_json("history", old)["nodes"][0]["text"] == OLD
    assert "nothing was done" in run("forget", old).stdout


def test_purge_needs_yes_without_a_terminal(run, run_json, pair):
    old, _ = pair
    assert "--yes" in run("forget", old, "--purge", exit_code=1, input="y\n").stderr
    assert run_json("forget", old, "--purge", exit_code=1)["ok"] is False
    assert run_json("show", old)["text"] == OLD
    assert run_json("forget", old, "--purge", "--yes")["purged"] is True
    assert "purged" in run("show", old, exit_code=1).stderr
    assert "(text purged)" in run("history", old).stdout
