"""A notebook with one of each thing that the kit puts into lessons."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lessons_lib.publish.folds import fold

ALT = "Two line charts against steps: the loss falls to zero, the score rises to one hundred."
PREDICT = 'guess = lesson.predict("Up or down?", ["up", "down", "it depends on many things"])'
TRY = 'lesson.try_it(count, "your text", default="a rose")'
WATCH = f'''import time
with lesson.watch("It learns", id="kit_loss", alt="{ALT}") as watch:
    for step in range(60):
        watch(step, 1 / (step + 1), score=step if step % 2 else None)
        time.sleep(0.02)'''

EXPLORE = f'''from matplotlib.figure import Figure
def drawn(slope=2):
    fig = Figure(figsize=(6, 2))
    fig.add_subplot(ylim=(0, 10)).plot([0, slope])
    return fig
lesson.explore(drawn, id="kit_slope", alt="{ALT}", slope=(0, 9))'''
SLIDE = f'''import numpy as np
look = {{"labels": ["a", "b"] * 2, "steps": [f"step {{k}}" for k in range(10)],
        "title": "It moves"}}
frames = np.arange(80.0).reshape(10, 4, 2) % 7
lesson.show(ll.plots.training_explorer(frames, hover=[""] * 4, **look), id="kit_frames",
            static=ll.plots.training_panels(frames, **look), alt="{ALT}")'''


def kit() -> Any:
    """The notebook, not run; the cells that tags fold are folded."""
    return notebook_of([
        ('import lessons_lib as ll\nlesson = ll.start("one_hot")', ()), (PREDICT, ()),
        ('guess.answer("down")', ("hide-output",)),
        ('unit = "words"\ndef count(text):\n    return f"{len(text.split())} {unit}"', ()),
        (TRY, ()), ('unit = "another meaning"', ()), (WATCH, ()),
        ('lesson.table([["word2vec", 65.4]], ["encoder", "score"], "A table")', ()),
        ('assert step == 59, f"expected 59, found {step}"\nprint("held")', ("check",))])


def controls() -> Any:
    """A notebook of controls alone, not run."""
    return notebook_of([('import lessons_lib as ll\nlesson = ll.start("one_hot")', ()),
                        (EXPLORE, ()), (SLIDE, ()), (PREDICT, ())])


def notebook_of(cells: list[tuple[str, tuple[str, ...]]]) -> Any:
    """A notebook of code cells with their tags, not run; the cells that tags fold are folded."""
    made = [new_code_cell(source, metadata={"tags": list(tags)} if tags else {})
            for source, tags in cells]
    folded = "<details><summary>For the curious: more</summary>\n\nThe **inside**.\n\n</details>"
    notebook = new_notebook(cells=[*made, new_markdown_cell(folded)])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    fold(SimpleNamespace(cells=notebook.cells))
    return notebook
