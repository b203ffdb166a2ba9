"""Mermaid's own parser and drawing, in a browser: what it finds in an exported flowchart.

Mermaid comes from npm's registry, 26 MB. Without the registry or
Chromium the test is skipped.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import tarfile
import urllib.request
from io import BytesIO
from pathlib import Path

import pytest

from exchange_content import awkward_content
from proprl.exchange.formats import FORMATS

VERSION = "12.3.0"
PACKAGE = f"https://registry.npmjs.org/mermaid/-/mermaid-{VERSION}.tgz"
CHROMIUM = shutil.which("chromium")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]

PAGE = """<!doctype html><meta charset="utf-8"><pre id="out"></pre>
<script src="mermaid.js"></script>
<script>
const text = TEXT, out = document.getElementById("out");
(async () => {
  mermaid.initialize({ startOnLoad: false });
  const read = await mermaid.mermaidAPI.getDiagramFromText(text);
  const drawn = document.createElement("div");
  drawn.innerHTML = (await mermaid.render("drawing", text)).svg;
  out.textContent = JSON.stringify({
    edges: read.db.getEdges().map(edge => [edge.start, edge.end, edge.text, edge.stroke]),
    labels: [...drawn.querySelectorAll(".node")].map(node => [node.id, node.textContent.trim()]),
  });
})().catch(error => { out.textContent = "error: " + error.message; });
</script>"""


@pytest.fixture
def mermaid(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    try:
        with urllib.request.urlopen(PACKAGE, timeout=60) as answer:
            package = answer.read()
    except OSError as error:
        pytest.skip(f"npm's registry cannot be reached: {error}")
    with tarfile.open(fileobj=BytesIO(package)) as files:
        script = files.extractfile("package/dist/mermaid.min.js")
        assert script is not None
        return script.read()


def test_mermaid_finds_and_draws_the_same_edges_and_names(mermaid: bytes, tmp_path: Path) -> None:
    content = awkward_content()
    (tmp_path / "mermaid.js").write_bytes(mermaid)
    page = tmp_path / "page.html"
    text = json.dumps(FORMATS["mermaid"](content)).replace("<", "\\u003c")
    page.write_text(PAGE.replace("TEXT", text), encoding="utf-8")
    assert CHROMIUM is not None
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    command += ["--disable-background-networking", "--timeout=15000", "--dump-dom"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    (said,) = re.findall(r'<pre id="out">(.*?)</pre>', done.stdout, re.DOTALL)
    found = json.loads(html.unescape(said))
    stroke = {"confirmed": "normal", "learned": "normal", "implied": "dotted"}
    assert found["edges"] == [
        [
            f"c{one.source}",
            f"c{one.target}",
            f"{one.probability:.2f}" if one.status == "learned" else "",
            stroke[one.status],
        ]
        for one in content.prerequisites
    ]
    labels = {re.sub(r".*flowchart-(c\d+)-.*", r"\1", key): name for key, name in found["labels"]}
    assert labels == {
        f"c{k}": " ".join(concept.name.split()) for k, concept in enumerate(content.concepts)
    }
