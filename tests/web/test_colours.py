"""The colours of both themes: contrasts of WCAG 2.2, layers, and one colour for each meaning."""

import re
from itertools import combinations

import pytest

from sealdesk.web import assets

_STYLES = assets.content("desk.css").decode()
_BLOCKS = re.findall(r":root([^\s{]*) \{(.*?)\}", _STYLES, re.DOTALL)
_COLOURS = [
    (theme, dict(re.findall(r"--([\w-]+): #([0-9a-f]{6});", block))) for theme, block in _BLOCKS
]
_LIGHT, _BY_SYSTEM, _BY_CHOICE = (colours for _, colours in _COLOURS if "paper" in colours)
_DARK = {**_LIGHT, **_BY_SYSTEM}
_THEMES = pytest.mark.parametrize("theme", [_LIGHT, _DARK], ids=["light", "dark"])
_MEANINGS = ("good", "wait", "new", "pause", "bad", "note")
_TEXTS = [
    *[("ink", ground) for ground in ("paper", "ground", "raised", "field", "sunken", "code")],
    *[("ink", ground) for ground in ("hit", "wait-tint", "bad-tint", "note-tint")],
    *[("soft", ground) for ground in ("paper", "ground", "sunken", "code")],
    *[("accent", ground) for ground in ("paper", "ground", "tint")],
    *[(name, ground) for name in _MEANINGS for ground in ("paper", f"{name}-tint")],
    ("ink", "tint"), ("on-accent", "accent"), ("paper", "bad"), ("paper", "ink"),
]  # fmt: skip


def _luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@_THEMES
def test_texts_have_the_contrast_of_level_aa(theme: dict[str, str]) -> None:
    low = {
        f"{text} on {ground}": round(_contrast(theme[text], theme[ground]), 2)
        for text, ground in _TEXTS
        if _contrast(theme[text], theme[ground]) < 4.5
    }
    assert low == {}


@_THEMES
def test_fields_and_the_focus_are_told_from_what_is_around_them(theme: dict[str, str]) -> None:
    for line in ("edge", "accent"):
        for around in ("paper", "ground", "field", "raised"):
            assert _contrast(theme[line], theme[around]) >= 3, (line, around)


@_THEMES
def test_each_meaning_has_a_colour_of_its_own(theme: dict[str, str]) -> None:
    for suffix in ("", "-tint"):
        colours = [theme[f"{name}{suffix}"] for name in _MEANINGS]
        assert all(one != other for one, other in combinations(colours, 2))
    assert theme["hit"] not in {theme[f"{name}-tint"] for name in _MEANINGS}


def test_in_the_dark_nearer_surfaces_are_lighter() -> None:
    layers = [_luminance(_DARK[name]) for name in ("ground", "field", "paper", "raised")]
    assert layers == sorted(layers) and len({*layers}) == 4


def test_the_dark_theme_sets_every_colour() -> None:
    assert _BY_SYSTEM.keys() == _LIGHT.keys()
    assert _BY_SYSTEM == _BY_CHOICE
