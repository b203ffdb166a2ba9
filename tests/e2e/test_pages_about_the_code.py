"""Pages that name files, folders, layers and functions: all of them are there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "proprl"
LAYERED = "Each layer imports only what stands below it"
USERS = ("course.toml", "results/", "proprl-demo/", "models/Qwen")
WITHIN_EXPERIMENTS = "Experiments: what is run knows nothing of what is shown"


def text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def there(path: str) -> Path | None:
    """The file or folder that a page means, within src/proprl or the project."""
    for home in (SOURCE, ROOT):
        if (home / path).exists():
            return home / path
    return None


def paths(page: str) -> list[str]:
    """What looks like a file or a folder of the project, but for what a user will have."""
    found = re.findall(r"`(\.?[\w-]+(?:/[\w.-]*)*)`", text(page))
    found = [one for one in found if "/" in one or one.endswith((".py", ".toml", ".md"))]
    return [one for one in found if "NAME" not in one and not one.startswith(USERS)]


MANY = {"docs/architecture.md": 40, "docs/paper-to-code.md": 10, "CONTRIBUTING.md": 4}
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *sorted(f"docs/{one.name}" for one in ROOT.glob("docs/*.md")),
]


@pytest.mark.parametrize("page", PAGES)
def test_every_file_and_folder_named_is_there(page: str) -> None:
    named = paths(page)
    assert len(named) >= MANY.get(page, 0)
    assert [one for one in named if there(one) is None] == []


def test_every_room_has_its_sentence() -> None:
    rooms = {
        f"{folder.relative_to(SOURCE).as_posix()}/"
        for folder in SOURCE.glob("**/")
        if folder != SOURCE and (folder / "__init__.py").exists() and folder.parent != SOURCE
    }
    rooms |= {f"{folder.name}/" for folder in SOURCE.iterdir() if (folder / "__init__.py").exists()}
    rooms |= {file.name for file in SOURCE.glob("*.py") if not file.name.startswith("__")}
    rooms -= {"experiments/"}  # each of its four rooms has one
    table = text("docs/architecture.md").partition("## The rooms")[2].partition("\n## ")[0]
    assert sorted(rooms - set(re.findall(r"`([^`]+)`", table))) == []


def test_the_picture_names_rooms_that_are_there() -> None:
    (picture,) = re.findall(r"```mermaid\n(.*?)```", text("docs/architecture.md"), re.DOTALL)
    named = re.findall(r"[\w/]+/|\w+\.py", " ".join(re.findall(r"\|([^|]+)\|", picture)))
    assert len(named) >= 8
    assert [one for one in named if there(one) is None] == []


@pytest.mark.parametrize("contract", [LAYERED, WITHIN_EXPERIMENTS])
def test_the_layers_are_those_that_import_linter_holds(contract: str) -> None:
    contracts = tomllib.loads(text("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    (held,) = [one["layers"] for one in contracts if one["name"] == contract]
    layers = [re.findall(r"\w+", line) for line in held]
    page = text("CONTRIBUTING.md").partition("## The layers")[2].partition("\n## ")[0]
    if contract == LAYERED:
        heads = re.findall(r"^\| (`[^|]+`) \|", page, re.MULTILINE)
        assert [re.findall(r"`(\w+)`", head) for head in heads] == layers
    else:
        within = re.findall(r"^Within `experiments`: (.*), from top", page, re.MULTILINE)
        assert [[name] for name in re.findall(r"`(\w+)`", within[0])] == layers


def test_every_line_from_paper_to_code_names_what_its_file_holds() -> None:
    rows = re.findall(r"^\| .+ \| (`.*`.*) \|$", text("docs/paper-to-code.md"), re.MULTILINE)
    assert len(rows) >= 13
    for row in rows:
        file, *names = re.findall(r"`([^`]+)`", row)
        path = there(file)
        assert path is not None, file
        code = path.read_text(encoding="utf-8")
        for name in (part for whole in names for part in whole.split(".") if part):
            assert re.search(rf"^\s*(def|class) {name}\b", code, re.MULTILINE), f"{name}: {file}"
