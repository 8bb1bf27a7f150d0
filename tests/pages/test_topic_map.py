"""Every run on every topic: the drawing, the image and the table have the same numbers."""

from __future__ import annotations

import re
import struct
import zlib
from types import SimpleNamespace

import numpy as np
import pytest

from leaderboard.analysis.topic_map import item_total_correlations
from leaderboard.display.charts import boxes, heat
from leaderboard.display.charts.heat import heat_image, heat_map
from leaderboard.models import Run, Track
from leaderboard.pages.views import analysis
from tests.builders import make_user, signed_in
from tests.pages.reading import num_queries, page_at, rows, words
from tests.pages.ten_topics import send, ten_track

pytestmark = pytest.mark.long

ADDRESS = "/benchmarks/ten/topics/map/"
IMAGE = "/benchmarks/ten/topics/map.png"
# On topic 3 the best run is the worst and the worst run the best.
BEST = [1, 1, 5, 1, 1, 1, 1, 1, 1, 1]
MIDDLE = [2, 2, 2, 2, 2, 2, 2, 2, 2, 4]
LAST = [5, 5, 1, 5, 5, 5, 5, 5, 5, 5]


@pytest.fixture
def ten(ada, ben, cat) -> Track:
    track = ten_track(ada)
    send(track, ben, "best", BEST)
    send(track, cat, "middle", MIDDLE)
    send(track, cat, "last", LAST)
    return track


def scores() -> np.ndarray:
    return 1 / np.array([BEST, MIDDLE, LAST], dtype=float)


def cells(markup: str) -> dict[tuple[int, int], str]:
    """The class of every cell of a drawing, by its row and column."""
    drawn = markup.partition('class="plot heat ')[2].partition('class="key"')[0]
    return {
        (int(row), int(column)): step
        for step, path in re.findall(r'<path class="(\w+)" d="([^"]+)"', drawn)
        for column, row in re.findall(r"M(\d+) (\d+)h1", path)
    }


def pixels(png: bytes) -> np.ndarray:
    """The palette numbers of an image as we write it."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    start = png.index(b"IDAT") + 4
    size = struct.unpack(">I", png[start - 8 : start - 4])[0]
    lines = np.frombuffer(zlib.decompress(png[start : start + size]), dtype=np.uint8)
    return lines.reshape(height, width + 1)[:, 1:]


def test_a_cell_is_the_darker_the_higher_the_score(ten, client):
    drawn = cells(page_at(client, ADDRESS))
    assert len(drawn) == 30
    # Topic 10 has the lowest median and stands last: 1, 1/4 and 1/5.
    assert [drawn[row, 9] for row in range(3)] == ["h15", "h4", "h3"]
    # The others have median 1/2 and keep the order of the collection.
    assert [drawn[row, 2] for row in range(3)] == ["h3", "h8", "h15"]


def test_the_verdict_names_the_easiest_and_the_hardest_topic(ten, client):
    said = words(page_at(client, ADDRESS))
    assert (
        "Topic 1 is the easiest with a median AP of .500, topic 10 the hardest with .250." in said
    )


def test_the_table_has_the_values(ten, client):
    found = rows(page_at(client, ADDRESS), 0)
    assert found[2] == "3 1 .200 .350 .500 .750 1.000 .200 .500 1.000"
    assert found[9] == "10 1 .200 .225 .250 .625 1.000 1.000 .250 .200"


def test_the_order_of_runs_on_a_topic_is_held_to_all_others(ten):
    values = scores()
    rest = values.sum(axis=1) - values[:, 2]
    found = item_total_correlations(values)
    assert found[2] == pytest.approx(np.corrcoef(values[:, 2], rest)[0, 1])
    assert found[2] < 0 < found[0]
    assert item_total_correlations(values, slice(2, 3)).tolist() == [found[2]]


def test_a_topic_all_runs_are_equal_on_has_no_correlation():
    values = np.array([[0.5, 0.1, 0.2], [0.5, 0.2, 0.3], [0.5, 0.3, np.nan]])
    assert np.isnan(item_total_correlations(values)).tolist() == [True, True, True]
    values[:, 2] = [0.2, 0.3, 0.4]
    assert np.isnan(item_total_correlations(values)).tolist() == [True, False, False]


def test_two_runs_are_too_few_for_a_correlation():
    assert np.isnan(item_total_correlations(np.array([[0.1, 0.2], [0.3, 0.4]]))).all()


def test_organisers_see_on_which_topics_the_order_is_inverted(ten, ada):
    for user in (make_user("dan"), make_user("eve")):
        send(ten, user, "best", BEST)
        send(ten, user, "last", LAST)
    page = page_at(signed_in(ada), ADDRESS)
    assert "On 1 topic the order is inverted: 3." in words(page)
    assert "inverted −" in rows(page, 0)[2]
    assert page.count("order of runs inverted</title>") == 1


@pytest.mark.parametrize("reader", ["ben", None])
def test_nobody_else_does(ten, ben, client, reader):
    page = page_at(signed_in(ben) if reader else client, ADDRESS)
    assert "inverted" not in page and "item-total" not in page


def test_a_box_covers_the_middle_half_of_the_runs(ten, client):
    """Topic 10, the last: 1, 1/4 and 1/5 on an axis from 0 to 1 that is 220 pixels high."""
    page = page_at(client, ADDRESS)
    box = re.findall(
        r'<rect class="box" x="[^"]+" y="([^"]+)" width="[^"]+" height="([^"]+)"', page
    )
    assert len(box) == 10 and box[9] == ("82.5", "88")
    (ends,) = re.findall(r'spread" x1="95%" x2="95%" y1="([^"]+)" y2="([^"]+)"', page)
    assert ends == ("0", "176")
    assert "<title>topic 10: .200, .225, .250, .625, 1.000</title>" in page


def test_the_stroke_of_a_box_goes_across_it_at_the_median(ten, client):
    page = page_at(client, ADDRESS)
    strokes = re.findall(r'middle" x1="(.+?)%" x2="(.+?)%" y1="(.+?)" y2="(.+?)"', page)
    assert strokes[0] == ("4.2", "5.8", "110", "110")
    assert strokes[9] == ("94.2", "95.8", "165", "165")
    assert 'class="box" x="94.2%" y="82.5" width="1.6%"' in page


def test_hundreds_of_topics_are_bands(ten, client, monkeypatch):
    monkeypatch.setattr(boxes, "BOXES", 9)
    plot = page_at(client, ADDRESS).partition('class="plot boxes"')[2].partition("</div>")[0]
    assert 'class="box"' not in plot
    bands = dict(re.findall(r'<path class="(band-.)" d="M([^"]+)z"', plot))
    assert bands["band-1"].split("L")[9:11] == ["9 0", "9 176"]
    assert bands["band-2"].split("L")[9:11] == ["9 82.5", "9 170.5"]
    (median,) = re.findall(r'<path class="curve own" d="M([^"]+)"', plot)
    assert median.split("L") == [*(f"{place} 110" for place in range(9)), "9 165"]


def test_a_column_and_a_point_lead_to_the_topic(ten, client):
    page = page_at(client, ADDRESS)
    address = "/benchmarks/ten/topic/?number=10"
    assert f'{address}" tabindex="-1"><title>topic 10: median .2500</title><rect' in page
    assert f'{address}" tabindex="-1"><title>topic 10: 1 relevant, median .2500</title>' in page


def test_many_cells_are_an_image_with_the_same_order(ten, client, monkeypatch):
    monkeypatch.setattr(analysis, "CELLS", 29)
    page = page_at(client, ADDRESS)
    assert f'src="{IMAGE}?measure=AP" width="10" height="3"' in page and not cells(page)
    shown = pixels(client.get(f"{IMAGE}?measure=AP").content)
    assert shown.shape == (3, 10)
    assert shown[:, 9].tolist() == [63, 16, 12] and shown[:, 2].tolist() == [12, 32, 63]


def test_an_image_covers_the_paper_from_not_at_all_to_wholly():
    png = heat_image(np.array([[0.0, 1.0, np.nan]]))
    assert pixels(png).tolist() == [[0, 63, 0]]
    cover = png[png.index(b"tRNS") + 4 :][:64]
    assert cover[0] == 0 and cover[63] == 255 and list(cover) == sorted(cover)


TOPIC = SimpleNamespace(number="1", median=0.5, is_inverted=False)


def run(name, is_own=False):
    """What the chart draws of a run."""
    return SimpleNamespace(name=name, is_own=is_own)


def test_an_undefined_cell_is_bare():
    drawn = heat_map([run("a")], [TOPIC], np.array([[np.nan]]), "One")
    assert '<path class="none" d="M0 0h1v.9h-1z"/>' in drawn


def test_a_long_map_names_ones_own_runs_alone(monkeypatch):
    monkeypatch.setattr(heat, "NAMED", 1)
    named = [run("mine", is_own=True), run("theirs")]
    drawn = heat_map(named, [TOPIC], np.array([[0.1], [0.2]]), "Two")
    assert ">mine</text>" in drawn and ">theirs</text>" not in drawn


def test_a_long_name_stands_whole_on_a_desk_and_is_cut_on_a_phone():
    long = run("a-run-of-25-letters-alone")
    drawn = heat_map([long], [TOPIC], np.array([[0.1]]), "One")
    assert 'class="plot heat letters-32"' in drawn
    assert f'class="label opt" x="0%" y="13" dx="-8" text-anchor="end">{long.name}<' in drawn
    assert "a-run-of-25-lett…" in drawn


def test_the_values_are_a_table_for_other_programs(ten, client):
    lines = client.get(f"{ADDRESS}?format=csv").content.decode().splitlines()
    spread = "lowest,first_quartile,median,third_quartile,highest"
    assert lines[0] == f"topic,title,relevant,{spread},best,middle,last"
    assert lines[3] == "3,about 3,1,0.2,0.35,0.5,0.75,1.0,0.2,0.5,1.0"
    assert lines[10] == "10,about 10,1,0.2,0.225,0.25,0.625,1.0,1.0,0.25,0.2"


def test_organisers_also_get_the_correlations(ten, as_ada):
    lines = as_ada.get(f"{ADDRESS}?format=csv").content.decode().splitlines()
    assert lines[0].startswith("topic,title,relevant,correlation,lowest,")


def test_a_tag_is_no_formula(ten, client):
    Run.objects.filter(tag="last").update(tag="=1+1")
    head = client.get(f"{ADDRESS}?format=csv").content.decode().splitlines()[0]
    assert head.endswith(",'=1+1")


def test_another_measure_has_its_own_map(ten, client):
    page = page_at(client, f"{ADDRESS}?measure=P@5")
    assert 'aria-current="true">P@5' in page and set(cells(page).values()) == {"h3"}


def test_a_board_without_runs_has_no_map(ten, client):
    Run.objects.update(state="valid")
    assert "The map appears once a run is scored." in page_at(client, ADDRESS)


def test_the_topics_lead_to_the_map(ten, client):
    assert f'href="{ADDRESS}"' in page_at(client, "/benchmarks/ten/topics/")


def test_a_tag_is_text(ten, client):
    Run.objects.filter(tag="last").update(tag="<script>x")
    assert "<script>x" not in page_at(client, ADDRESS)


@pytest.mark.parametrize("page", ["map/", "map.png"])
def test_a_blind_track_has_no_map(blind_track, as_ben, page):
    assert as_ben.get(f"/benchmarks/blind/topics/{page}").status_code == 404
    assert "topics/map" not in page_at(as_ben, "/benchmarks/blind/topics/")


def test_queries_do_not_grow_with_the_board(ten, ben, client):
    asked = num_queries(client, ADDRESS)
    for rank in (3, 4):
        send(ten, ben, f"r{rank}", rank)
    assert num_queries(client, ADDRESS) == asked
