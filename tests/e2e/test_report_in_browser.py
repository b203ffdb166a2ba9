"""The report as a real browser shows it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from proprl.data import Course
from proprl.estimator import ProPRL
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


def chromium(page: Path, *options: str) -> str:
    assert CHROMIUM is not None, "Chromium is not installed"
    command = [
        CHROMIUM,
        *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
        *("--disable-component-update", "--disable-sync", "--no-first-run"),
        f"--user-data-dir={page.parent / 'profile'}",
        *options,
        page.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_browser_reads_what_was_written(page: Path, fitted: ProPRL) -> None:
    dom = chromium(page, "--dump-dom")
    assert "planted" in re.findall(r"<h1[^>]*>(.*?)</h1>", dom, re.DOTALL)[0]
    assert {"map-title", "reliability-title"} <= set(re.findall(r'id="([\w-]+)"', dom))
    for edge in fitted.graph(threshold=0.5):
        assert edge.source in dom
        assert edge.target in dom


def test_the_page_can_be_looked_at(page: Path, tmp_path: Path) -> None:
    picture = tmp_path / "report.png"
    chromium(page, f"--screenshot={picture}", "--window-size=1200,2000", "--hide-scrollbars")
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 30_000  # a blank page of this size is under 10 kB
