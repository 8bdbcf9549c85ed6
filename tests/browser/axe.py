"""Pages against the rules of axe-core: what a listener, or a user without a mouse, cannot use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lessons_lib.npm import installed

__all__ = ["Problem", "pages_of", "problems"]

IMPACTS = ("serious", "critical")
RUN = """async (impacts) => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .filter(rule => impacts.includes(rule.impact))
    .map(rule => [rule.id, rule.impact, rule.help, rule.nodes.length, rule.nodes[0].html])"""
# What somebody can click on, and what the Tab key goes past. Plotly draws its sliders and menus as
# pictures.
UNREACHABLE = """() => [...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [role=button], [role=slider], " +
    ".updatemenu-button, .updatemenu-item-rect, .slider-group")]
    .filter(control => control.checkVisibility({checkOpacity: true, checkVisibilityCSS: true})
        && !control.disabled && control.tabIndex < 0)
    .filter(control => control.getAttribute("aria-hidden") !== "true"
        && !control.closest("[role=radiogroup], [role=tablist], [inert]"))
    .map(control => ["keyboard", "serious", "Every control is reached by the Tab key", 1,
        control.outerHTML])"""
# Figures come alive when they are asked to, and with them their controls: in a folded section not
# before it is opened.
TURN_ON_FIGURES = """() => {
  document.querySelectorAll("details:has(figure.interactive)").forEach(fold => fold.open = true);
  document.querySelectorAll("figure.interactive .turn-on").forEach(button => button.click()) }"""
# A page has thousands of coloured words of code and of letters of formulas. One
# word of each colour and no letter is enough, for the
# rules look at each element, and take four times as long over a lesson.
THIN_OUT = """() => {
    document.querySelectorAll("mjx-container").forEach(formula => formula.replaceChildren());
    const seen = new Set();
    for (const word of document.querySelectorAll("pre span[class]")) {
        const kind = [word, word.parentElement, word.closest("[class*=highlight]")]
            .map(place => place?.className).join("|");
        if (!word.childElementCount && seen.size === seen.add(kind).size)
            word.replaceWith(word.textContent); } }"""


@dataclass(frozen=True)
class Problem:
    """One rule that a page breaks: how grave it is, how often, and the first place."""

    page: str
    rule: str
    impact: str
    what: str
    times: int
    first: str

    def __str__(self) -> str:
        return (f"{self.page}: {self.rule} ({self.impact}, {self.times} times): {self.what}: "
                f"{self.first[:200]}")


def pages_of(folder: Path) -> list[Path]:
    """All HTML pages of a folder but the parts of a theme in ``_static``."""
    return sorted(path for path in folder.rglob("*.html")
                  if "_static" not in path.relative_to(folder).parts)


def problems(window: Any, pages: Sequence[Path], *, root: Path) -> list[Problem]:
    """Serious and critical problems of pages, read from their files, with their scripts at work.

    Parameters: window, a context of the browser; pages; root, the folder that their names are told
    from. Raises BackendUnavailable without axe-core.
    """
    rules, found = installed("axe") / "axe-core" / "axe.min.js", []
    page = window.new_page()
    for path in pages:
        page.goto(path.resolve().as_uri())
        page.evaluate(TURN_ON_FIGURES)
        page.wait_for_function(
            "() => document.querySelectorAll('figure.interactive:not(.alive)').length === 0")
        page.evaluate(THIN_OUT)
        page.add_script_tag(path=rules)
        lines = [*page.evaluate(RUN, list(IMPACTS)), *page.evaluate(UNREACHABLE)]
        found += [Problem(path.relative_to(root).as_posix(), *line) for line in lines]
    page.close()
    return found
