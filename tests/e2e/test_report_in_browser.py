"""The report as a real browser shows it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from proprl.curriculum.structure import topics_of
from proprl.data import Course
from proprl.estimator import ProPRL
from proprl.report.map_picture import map_page
from proprl.report.page import render_report, report_data

CHROMIUM = shutil.which("chromium")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None and "PROPRL_CI" not in os.environ, reason="Chromium is not installed"
    ),
]


@pytest.fixture
def page(planted: Course, fitted: ProPRL, tmp_path: Path) -> Path:
    graph = fitted.graph(threshold=0.5)
    path = tmp_path / "report.html"
    path.write_text(render_report(report_data(fitted.fitted_, graph, fitted.judged(planted))))
    return path


def chromium(page: Path, *options: str, at: str = "") -> str:
    assert CHROMIUM is not None, "Chromium is not installed"
    command = [
        CHROMIUM,
        *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
        *("--disable-component-update", "--disable-sync", "--no-first-run"),
        f"--user-data-dir={page.parent / 'profile'}",
        *options,
        page.as_uri() + at,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_browser_reads_what_was_written(page: Path, fitted: ProPRL) -> None:
    dom = chromium(page, "--dump-dom")
    assert "planted" in re.findall(r"<h1[^>]*>(.*?)</h1>", dom, re.DOTALL)[0]
    assert "reliability-title" in re.findall(r'id="([\w-]+)"', dom)
    for edge in fitted.graph(threshold=0.5):
        assert edge.source in dom
        assert edge.target in dom


def test_the_page_can_be_looked_at(page: Path, tmp_path: Path) -> None:
    picture = tmp_path / "report.png"
    chromium(page, f"--screenshot={picture}", "--window-size=1200,2000", "--hide-scrollbars")
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 30_000  # a blank page of this size is under 10 kB


def test_the_map_opens_at_a_concept_and_shows_its_neighbours(
    fitted: ProPRL, tmp_path: Path
) -> None:
    graph = fitted.graph(threshold=0.5)
    page = tmp_path / "map.html"
    page.write_text(map_page(graph, topics_of(graph), "planted"))
    edge = next(iter(graph))
    whole, there = chromium(page, "--dump-dom"), chromium(page, "--dump-dom", at=f"#{edge.source}")
    assert 'class="node faint"' not in whole
    assert 'class="node faint"' in there
    (about,) = re.findall(r'<aside id="about">(.*?)</aside>', there, re.DOTALL)
    assert f"<h2>{edge.source}</h2>" in about
    assert edge.target in about.partition("Then comes")[2]
