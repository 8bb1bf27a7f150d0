"""The tools of an agent; by night as a client of the MCP calls them."""

from __future__ import annotations

import json
import sys

import pytest

from leaderboard.models import Run
from rankfield.__main__ import main
from rankfield.agents import SiteTools, build_server
from rankfield.errors import SiteError
from rankfield.site import Site
from tests.builders import OTHER_RUN, RUN, make_run
from tests.client.conftest import URL


@pytest.fixture
def tools(bens_site, tmp_path) -> SiteTools:
    (tmp_path / "my.run").write_text(RUN)
    return SiteTools(bens_site, tmp_path)


def test_an_agent_finds_the_tracks(track, tools):
    [found] = tools.list_tracks()["tracks"]
    assert (found["slug"], found["primary_measure"]) == ("bread", "AP")


def test_lists_are_read_page_by_page(tools, monkeypatch):
    pages = {"": {"items": [], "next": "b"}, "b": {"items": [], "next": None}}
    asked = []

    def answer(connection, path, query):
        asked.append(query["after"])
        return pages[query["after"]]

    monkeypatch.setattr("rankfield.connection.Connection.get", answer)
    assert (tools.list_benchmarks(), asked) == ({"benchmarks": []}, ["", "b"])


def test_a_board_says_how_many_runs_it_cuts(track, ada, ben, tools):
    make_run(track, ben)
    make_run(track, ada, OTHER_RUN)
    board = tools.show_board("bread", rows=1)
    assert (board["runs"], len(board["standings"])) == (2, 1)


def test_the_worst_topics_of_a_run_are_first(track, ben, tools):
    found = tools.show_topics(make_run(track, ben).pk, rows=2)
    scores = [each["score"] for each in found["scores"]]
    assert (found["topics"], scores) == (3, sorted(scores))


def test_a_comparison_has_the_largest_moves_first(track, ada, ben, tools):
    a, b = make_run(track, ada, OTHER_RUN), make_run(track, ben)
    found = tools.compare_runs("bread", a.pk, b.pk)
    moves = [abs(each["b"] - each["a"]) for each in found["largest_moves"]]
    assert (found["verdict"], moves) == ("not significant", sorted(moves, reverse=True))


def test_an_agent_submits_from_the_folder_that_was_allowed(track, tools):
    sent = tools.submit_run("bread", "my.run")
    assert Run.objects.get().pk == sent["run"]
    assert tools.show_run(sent["run"])["state"] == "scored"


@pytest.mark.parametrize("name", ["../my.run", "/etc/passwd", "none.run", ".", "link"])
def test_no_other_file_is_submitted(bens_site, tmp_path, name):
    allowed = tmp_path / "runs"
    allowed.mkdir()
    (tmp_path / "my.run").write_text(RUN)
    (allowed / "link").symlink_to(tmp_path / "my.run")
    with pytest.raises(SiteError, match="is no file in"):
        SiteTools(bens_site, allowed).submit_run("bread", name)


def test_without_a_folder_nothing_is_submitted(bens_site):
    with pytest.raises(SiteError, match="start it with --submit-from"):
        SiteTools(bens_site).submit_run("bread", "my.run")


def test_without_the_library_the_command_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    assert main(["mcp", "--url", URL]) == 2
    assert "pip install 'rankfield[mcp]'" in capsys.readouterr().err


@pytest.mark.night
def test_a_client_of_the_protocol_reads_a_board(track, ben, tools, monkeypatch):
    mcp, anyio = pytest.importorskip("mcp"), pytest.importorskip("anyio")
    make_run(track, ben)
    found = tools.site.board("bread")
    # It calls tools on a thread of its own, which does not see the rows of the test.
    monkeypatch.setattr(Site, "board", lambda site, track, **choice: found)

    async def ask() -> tuple[dict, list]:
        async with mcp.Client(build_server(tools)) as client:
            listed = (await client.list_tools()).tools
            answer = await client.call_tool("show_board", {"track": "bread"})
        return json.loads(answer.content[0].text), listed

    board, listed = anyio.run(ask)
    assert board["standings"][0]["tag"] == "ben-bm25"
    assert [tool.name for tool in listed if not tool.annotations.read_only_hint] == ["submit_run"]


@pytest.mark.night
def test_a_client_of_the_protocol_starts_the_command():
    mcp, anyio = pytest.importorskip("mcp"), pytest.importorskip("anyio")
    words = ["-m", "rankfield", "mcp", "--url", "http://127.0.0.1:9"]
    path = {"PYTHONPATH": ":".join(sys.path)}
    parameters = mcp.StdioServerParameters(command=sys.executable, args=words, env=path)

    async def ask() -> tuple[list[str], str]:
        async with mcp.Client(mcp.stdio_client(parameters)) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            answer = await client.call_tool("show_track", {"track": "bread"})
        return names, answer.content[0].text

    names, said = anyio.run(ask)
    assert "submit_run" not in names and "show_board" in names
    assert "cannot be reached" in said
