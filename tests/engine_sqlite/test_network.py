"""DUR-104: SQLite's locks cannot be trusted on a network file system, so it is named."""

from pathlib import Path

import pytest

from evomem.engines.sqlite import engine as engines
from evomem.engines.sqlite.location import network_file_system

MOUNTS = """\
/dev/vda / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/vdb /home/local ext4 rw 0 0
//nas/share /mnt/nas cifs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/ada/m.db", "nfs4"),
        ("/home/local/m.db", None),
        ("/mnt/nas/deep/m.db", "cifs"),
        ("/mnt/nasty/m.db", None),
        ("/var/m.db", None),
    ],
)
def test_the_longest_mount_that_holds_the_path_decides(tmp_path, path, kind):
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS, encoding="utf-8")
    assert network_file_system(Path(path), mounts) == kind


def test_a_system_that_does_not_tell_is_taken_as_local(tmp_path):
    assert network_file_system(tmp_path, tmp_path / "none") is None


def test_opening_a_store_there_warns_and_works(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(engines, "network_file_system", lambda path: "nfs4")
    engines.SqliteEngine(tmp_path / "m.db").close()
    assert "network file system (nfs4)" in caplog.text
