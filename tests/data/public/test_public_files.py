"""Fetching a public set from a host: here a real HTTP server on loopback."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote

import pytest

import proprl.data
from proprl.cli import main
from proprl.data import fetch_benchmark, load_benchmark, load_course
from proprl.data.public import BENCHMARKS, WHOLE_MAPS, data_root, missing_files
from proprl.data.public.catalogue import WholeMapSet
from proprl.errors import OutputError, PublicDataError
from proprl.files import cache_folder
from tiny_public import COMMIT, FILES, TINY, write_tiny

TRAIN = "dgcpl/Tiny/train.csv"
WITHIN = f"owner/tiny set/{COMMIT}/data"


class Host:
    """A host of public repositories that can be told to misbehave."""

    def __init__(self, folder: Path) -> None:
        self.files = write_tiny(folder, WITHIN) / WITHIN
        self.asked: Counter[str] = Counter()  # how often each file was asked for
        self.cut: dict[str, int] = {}  # how often yet to cut the connection half-way
        host = self

        class Handler(SimpleHTTPRequestHandler):
            def do_GET(self) -> None:
                path = unquote(self.path).removeprefix(f"/{WITHIN}/")
                host.asked[path] += 1
                if host.cut.get(path, 0):
                    host.cut[path] -= 1
                    content = (host.files / path).read_bytes()
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content[: len(content) // 2])
                    self.close_connection = True
                else:
                    super().do_GET()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    monkeypatch.setitem(BENCHMARKS, "tiny", TINY)  # type: ignore[misc]
    monkeypatch.delenv("PROPRL_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("time.sleep", lambda _: None)  # pooch waits before it tries again
    host = Host(tmp_path / "host")
    yield host
    host.close()


def content(folder: Path) -> dict[str, str]:
    """All files under a folder, whatever they are called."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in found}


def test_a_set_is_fetched_into_the_tree_that_is_read(host: Host, tmp_path: Path) -> None:
    told: list[str] = []

    folder = fetch_benchmark("tiny", tmp_path / "data", base_url=host.url, on_file=told.append)

    assert folder == tmp_path / "data"
    assert content(folder) == dict(sorted(FILES.items()))
    assert told == list(FILES)
    assert len(load_benchmark("tiny", folder)) == 4


def test_a_whole_map_is_fetched_in_the_same_way(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, train = TINY.files[0], next(file for file in TINY.files if file.path == TRAIN)
    whole_map = WholeMapSet(
        name="tiny-map",
        title="Four concepts",
        subject="mathematics",
        citation="Nobody, nowhere.",
        files=(index, train),
        topics=index.path,
        separator=",",
        annotations=train.path,
        texts=index.path,
        counts={"concepts": 2, "resources": 4, "pairs": 3, "positives": 1},
    )
    monkeypatch.setitem(WHOLE_MAPS, "tiny-map", whole_map)  # type: ignore[misc]
    fetch_benchmark("tiny-map", tmp_path / "data", base_url=host.url)
    assert content(tmp_path / "data").keys() == {index.path, train.path}


def test_the_users_cache_is_the_default(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROPRL_CACHE", str(tmp_path / "cache"))
    assert fetch_benchmark("tiny", base_url=host.url) == tmp_path / "cache" / "public"
    assert load_benchmark("tiny").name == "tiny"


def test_only_what_is_missing_or_differs_is_fetched(host: Host, tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "data")
    (folder / TRAIN).unlink()
    (folder / "gkrom/Tiny/resources_index.csv").write_text("changed")

    fetch_benchmark("tiny", folder, base_url=host.url)

    assert host.asked == {TRAIN: 1, "gkrom/Tiny/resources_index.csv": 1}
    assert content(folder) == dict(sorted(FILES.items()))


def test_a_cut_connection_leaves_no_half_file_and_the_next_try_goes_on(
    host: Host, tmp_path: Path
) -> None:
    host.cut[TRAIN] = 1
    with pytest.raises(
        PublicDataError, match=r"connection failed at .*train\.csv.*run the command"
    ):
        fetch_benchmark("tiny", tmp_path / "data", base_url=host.url, retries=0)
    assert content(tmp_path / "data").keys() == {"dgcpl/Tiny/concepts_index.csv"}

    fetch_benchmark("tiny", tmp_path / "data", base_url=host.url, retries=0)

    assert content(tmp_path / "data") == dict(sorted(FILES.items()))
    assert host.asked[TRAIN] == 2
    assert host.asked["dgcpl/Tiny/concepts_index.csv"] == 1


def test_a_cut_connection_is_tried_again(host: Host, tmp_path: Path) -> None:
    host.cut[TRAIN] = 2
    fetch_benchmark("tiny", tmp_path / "data", base_url=host.url)
    assert host.asked[TRAIN] == 3
    assert content(tmp_path / "data") == dict(sorted(FILES.items()))


def test_a_file_that_is_gone_lets_the_others_come(host: Host, tmp_path: Path) -> None:
    (host.files / TRAIN).unlink()
    with pytest.raises(PublicDataError, match=r"1 of 14 files.*\n.*train\.csv: 404") as caught:
        fetch_benchmark("tiny", tmp_path / "data", base_url=host.url, retries=0)
    assert str(tmp_path / "data") in str(caught.value)
    assert content(tmp_path / "data").keys() == FILES.keys() - {TRAIN}


def test_a_file_of_another_content_is_not_kept(host: Host, tmp_path: Path) -> None:
    (host.files / TRAIN).write_text(FILES[TRAIN].replace("0,1,1", "1,0,1"))
    folder = write_tiny(tmp_path / "data")
    (folder / TRAIN).write_text("mine")
    with pytest.raises(
        PublicDataError, match=r"train\.csv: .* no longer has the published content"
    ):
        fetch_benchmark("tiny", folder, base_url=host.url, retries=0)
    assert content(folder) == {**FILES, TRAIN: "mine"}


def test_no_host_at_all(host: Host, tmp_path: Path) -> None:
    host.close()
    with pytest.raises(PublicDataError, match="connection failed"):
        fetch_benchmark("tiny", tmp_path / "data", base_url=host.url, retries=0)
    assert content(tmp_path / "data") == {}


def test_a_folder_that_cannot_be_written(host: Host, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        fetch_benchmark("tiny", tmp_path / "file" / "data", base_url=host.url, retries=0)


def test_an_unknown_set() -> None:
    with pytest.raises(PublicDataError, match="the public sets are mooc"):
        fetch_benchmark("mook")


class TestCommand:
    def run(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: object
    ) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["proprl", "course", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        return int(end.value.code or 0), said.out, said.err

    def test_fetch_then_list_and_info(
        self,
        host: Host,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        from_host = partial(fetch_benchmark, base_url=host.url)
        monkeypatch.setattr(proprl.data, "fetch_benchmark", from_host)
        say = partial(self.run, monkeypatch, capsys)
        here = ("--data", tmp_path / "data", "--json")

        def listed() -> dict[str, Any]:
            return {entry["name"]: entry for entry in json.loads(say("list", *here)[1])}

        assert listed()["tiny"]["present"] is False
        assert say("info", "tiny", *here)[0] == 1

        code, out, _ = say("fetch", "tiny", *here)

        assert code == 0
        assert json.loads(out) == {"name": "tiny", "folder": str(tmp_path / "data"), "files": 14}
        tiny = listed()["tiny"]
        assert tiny["present"] is True
        assert tiny["kind"] == "public"
        assert (tiny["concepts"], tiny["labelled_pairs"], tiny["positives"]) == (4, 6, 4)
        assert tiny["cite"] == "Nobody, nowhere."
        assert json.loads(say("info", "tiny", *here)[1])["labelled_pairs"] == 6

    def test_what_it_says(
        self,
        host: Host,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        from_host = partial(fetch_benchmark, base_url=host.url, retries=0)
        monkeypatch.setattr(proprl.data, "fetch_benchmark", from_host)
        say = partial(self.run, monkeypatch, capsys)
        monkeypatch.setenv("COLUMNS", "200")

        assert "Nobody, nowhere." in say("fetch", "tiny", "--data", tmp_path / "data")[1]
        table = say("list", "--data", tmp_path / "data")[1]
        assert "campus" in table
        assert "lecturebank" in table
        host.close()
        code, _, error = say("fetch", "tiny", "--data", tmp_path / "other")
        assert code == 1
        assert "connection failed" in error
        assert "Traceback" not in error


def test_every_public_file_is_pinned() -> None:
    paper = [BENCHMARKS[name] for name in ("mooc", "ucd", "lecturebank")]
    for public in (*paper, *WHOLE_MAPS.values()):
        paths = {file.path for file in public.files}
        assert public.texts is None or public.texts in paths
        if isinstance(public, WholeMapSet):
            assert paths == {public.topics, public.annotations, public.texts}
        for file in public.files:
            assert len(file.commit) == 40
            assert len(file.sha256) == 64
            assert file.size > 0
            assert "/" in file.repository


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder that holds the set `tiny`."""
    monkeypatch.setitem(BENCHMARKS, "tiny", TINY)  # type: ignore[misc]
    monkeypatch.delenv("PROPRL_DATA", raising=False)
    return write_tiny(tmp_path / "data")


class TestWhereTheDataLies:
    def test_argument_then_environment_then_cache(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PROPRL_DATA", "~/elsewhere")
        assert data_root("given") == Path("given")
        assert data_root() == Path.home() / "elsewhere"
        monkeypatch.delenv("PROPRL_DATA")
        assert data_root() == cache_folder() / "public"

    def test_load_course_knows_the_public_sets(
        self, tiny: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PROPRL_DATA", str(tiny))
        assert load_course("tiny").fingerprint == load_benchmark("tiny").fingerprint
        monkeypatch.delenv("PROPRL_DATA")
        assert load_course("tiny", root=tiny).name == "tiny"

    def test_no_folder(self, tiny: Path) -> None:
        with pytest.raises(PublicDataError) as caught:
            load_benchmark("tiny", tiny / "nowhere")
        message = str(caught.value)
        assert f"there is no folder {tiny / 'nowhere'}" in message
        assert "dgcpl/Tiny/concepts_index.csv" in message
        assert "`proprl course fetch tiny`" in message
        assert "PROPRL_DATA" in message

    def test_half_a_set(self, tiny: Path) -> None:
        (tiny / "gkrom/Tiny/resources_index.csv").unlink()
        assert [file.path for file in missing_files(TINY, tiny)] == [
            "gkrom/Tiny/resources_index.csv"
        ]
        expected = r"1 of 14 files are missing, the first is gkrom/Tiny/resources_index\.csv"
        with pytest.raises(PublicDataError, match=expected):
            load_benchmark("tiny", tiny)

    @pytest.mark.parametrize(("old", "new"), [("1,0,0", "1,0,1"), ("1,0,0\n", "")])
    def test_a_changed_file_is_noticed(self, tiny: Path, old: str, new: str) -> None:
        file = tiny / "dgcpl/Tiny/train.csv"
        file.write_text(file.read_text().replace(old, new))
        with pytest.raises(PublicDataError, match=r"train\.csv is not the file that was published"):
            load_benchmark("tiny", tiny)
