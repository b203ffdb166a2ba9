"""Draw ProPRL's framework from the paper's equations.

    python tools/draw_framework.py      writes docs/images/framework.svg

In the texts `_x` lowers and `^x` raises a letter, or what stands in braces.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

OUT = Path(__file__).parents[1] / "docs" / "images" / "framework.svg"
WIDTH, HEIGHT = 1192, 500
INK, SOFT, RULE = "#1d2430", "#5a6475", "#9aa6b8"
GREEN, BLUE, AMBER = "#1b7f5c", "#1f5fae", "#b4530a"
PALE = {GREEN: "#e8f4ef", BLUE: "#e9f0f9", AMBER: "#fbf0e6", SOFT: "#f3f5f8"}


def main() -> None:
    """Write the picture."""
    lines = [*head(), *inputs(), *views(), *pair(), *answer(), "</svg>\n"]
    OUT.write_text("\n".join(lines), encoding="utf-8")


def head() -> list[str]:
    """Begin the picture, and name its four columns."""
    columns = ((20, "1  What a course has"), (262, "2  Two views of each concept"))
    columns += ((636, "3  One ordered pair (i, j)"), (960, "4  What is learned"))
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'width="{WIDTH}" height="{HEIGHT}" font-family="DejaVu Sans, Verdana, sans-serif">',
        "<title>The framework of ProPRL</title>",
        "<desc>Learner moves and resources give two views of each concept. A gate weighs the "
        "views for each ordered pair. Believing both orders of a pair is penalised.</desc>",
        '<defs><marker id="tip" markerWidth="9" markerHeight="9" refX="7" refY="4" '
        f'orient="auto"><path d="M0 0L8 4L0 8Z" fill="{SOFT}"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>',
        *(text(x, 34, name, size=15, bold=True) for x, name in columns),
    ]


def inputs() -> list[str]:
    """Draw moves, texts and resources."""
    moves = [(52, 128), (104, 104), (152, 134), (108, 164), (182, 98)]
    steps = [(0, 1), (1, 2), (0, 3), (3, 2), (1, 4), (2, 4)]
    dots = [(58, 392), (88, 372), (118, 402), (148, 376), (176, 402)]
    return [
        box(20, 56, 206, 134, BLUE),
        text(34, 78, "moves of learners, B", bold=True),
        *(between(moves[a], moves[b]) for a, b in steps),
        *(dot(x, y, BLUE) for x, y in moves),
        box(20, 218, 206, 62, SOFT),
        text(34, 240, "texts of concepts, X", bold=True),
        text(34, 262, "one vector a concept", colour=SOFT),
        box(20, 308, 206, 134, GREEN),
        text(34, 330, "concepts in resources, M", bold=True),
        *(
            f'<ellipse cx="{x}" cy="{y}" rx="{rx}" ry="27" fill="{GREEN}" fill-opacity="0.12" '
            f'stroke="{GREEN}"/>'
            for x, y, rx in ((88, 387, 48), (148, 391, 48))
        ),
        *(dot(x, y, GREEN) for x, y in dots),
        text(34, 432, "a resource joins its concepts", colour=SOFT),
        arrow("M226 123H256"),
        arrow("M226 238C244 238 238 208 256 208"),
        arrow("M226 262C244 262 238 320 256 320"),
        arrow("M226 375H256"),
    ]


def views() -> list[str]:
    """Write down the behaviour view V and the resource view U."""
    return [
        box(262, 56, 338, 198, BLUE),
        text(276, 80, "behaviour view, V", bold=True, colour=BLUE),
        text(276, 102, "both directions of a move, d = out and d = in", colour=SOFT),
        text(276, 128, "A^d = (D^d)^{−1} (B^d + I)"),
        text(276, 154, "H_{ℓ+1} = φ(A^d H_ℓ W_g) + H_ℓ W_0 ,   Q = H_L"),
        text(276, 180, "Z_{t+1} = (1 − α) A^d Z_t + α Q ,   k steps"),
        text(276, 202, "so moves over several steps count", colour=SOFT),
        text(276, 232, "V = LN(φ(Z^{out} W_{out} + Z^{in} W_{in}))"),
        box(262, 286, 338, 156, GREEN),
        text(276, 310, "resource view, U", bold=True, colour=GREEN),
        text(276, 332, "a hypergraph: a resource is an edge", colour=SOFT),
        text(276, 362, "P = D_c^{−½} M Ω D_r^{−1} M^T D_c^{−½}"),
        text(276, 394, "U_{ℓ+1} = φ(P U_ℓ W_h) + U_ℓ W_0"),
        text(276, 424, "both start from the texts: H_0 = U_0 = X", colour=SOFT),
        arrow("M600 124H630"),
        arrow("M600 364H630"),
    ]


def pair() -> list[str]:
    """Write down how the gate fuses the two views of a pair."""
    return [
        box(636, 86, 290, 76, BLUE),
        text(650, 110, "r^v = [v_i ; v_j ; v_i − v_j ; v_i ⊙ v_j]"),
        text(650, 142, "the difference tells the order", colour=SOFT),
        box(636, 196, 290, 108, AMBER),
        text(650, 220, "gate", bold=True, colour=AMBER),
        text(650, 246, "g = σ(MLP_g(r^u ; r^v ; |r^u − r^v| ; r^u ⊙ r^v))"),
        text(650, 272, "r = g ⊙ r^u + (1 − g) ⊙ r^v"),
        text(650, 294, "weighed anew for each pair", colour=SOFT),
        box(636, 338, 290, 52, GREEN),
        text(650, 370, "r^u = [u_i ; u_j ; u_i − u_j ; u_i ⊙ u_j]"),
        arrow("M780 162V190"),
        arrow("M780 338V310"),
        arrow("M600 70H940V124H954"),
        arrow("M926 250H954"),
        arrow("M600 414H940V364H954"),
    ]


def answer() -> list[str]:
    """Write down the three branches, the losses and the answer."""
    return [
        box(960, 98, 212, 52, BLUE),
        text(974, 130, "p^v , Siamese branch"),
        box(960, 224, 212, 52, AMBER),
        text(974, 256, "p^p = σ(MLP_p(r))"),
        box(960, 338, 212, 52, GREEN),
        text(974, 370, "p^u , Siamese branch"),
        text(974, 196, "views follow p^p : L_{con}", colour=SOFT),
        text(974, 312, "labels teach all three: L_{cls}", colour=SOFT),
        text(960, 420, "p = w_u p^u + w_v p^v + w_p p^p", bold=True),
        text(960, 442, "weights from validation", colour=SOFT),
        box(262, 456, 910, 34, SOFT),
        text(276, 478, "L = L_{cls} + β L_{con} + λ L_{irr}", bold=True),
        text(
            520,
            478,
            "L_{irr} = mean over prerequisites of max(0, p^p_{ij} + p^p_{ji} − μ) : "
            "not both orders at once",
        ),
    ]


def box(x: int, y: int, width: int, height: int, colour: str) -> str:
    """Draw a box in the colour of its view."""
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{PALE[colour]}" '
        f'stroke="{colour if colour != SOFT else RULE}"/>'
    )


def text(
    x: int, y: int, words: str, *, size: int = 13, bold: bool = False, colour: str = INK
) -> str:
    """Write words; letters after `_` and `^` stand lower and higher."""
    out, shift = "", 0
    for mark, group, letter, plain in re.findall(r"([_^])(?:\{([^}]*)\}|(.))|([^_^]+)", words):
        wanted = {"_": 4, "^": -5, "": 0}[mark]
        small = f' font-size="{size - 4}"' if mark else ""
        move = f' dy="{wanted - shift}"' if wanted != shift else ""
        out += f"<tspan{move}{small}>{escape(group or letter or plain)}</tspan>"
        shift = wanted
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}"{weight} '
        f'xml:space="preserve">{out}</text>'
    )


def arrow(path: str) -> str:
    """Draw an arrow along a path."""
    return (
        f'<path d="{path}" fill="none" stroke="{SOFT}" stroke-width="1.4" marker-end="url(#tip)"/>'
    )


def between(a: tuple[int, int], b: tuple[int, int]) -> str:
    """Draw an arrow from one dot to another."""
    length = ((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2) ** 0.5
    x, y = ((b[i] - a[i]) / length for i in (0, 1))
    begin, end = (a[0] + 7 * x, a[1] + 7 * y), (b[0] - 8 * x, b[1] - 8 * y)
    return arrow(f"M{begin[0]:.1f} {begin[1]:.1f}L{end[0]:.1f} {end[1]:.1f}")


def dot(x: int, y: int, colour: str) -> str:
    """Draw a concept."""
    return f'<circle cx="{x}" cy="{y}" r="5" fill="{colour}"/>'


if __name__ == "__main__":
    main()
