"""The lesson object: what a notebook needs besides the mathematics, in one place and with one
set-up line.

``start`` fixes threads, seeds the generators and prints one line. The methods show, check and
explore. What they print depends on the lesson, the scale and the seed alone. Used by every lesson.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..core import check_choice, check_seed, generator
from .course import SCALES, Course, LessonCard, chosen_scale
from .threads import fix_threads, lesson_threads

if TYPE_CHECKING:
    import torch

    from ..exercises import Exercise

__all__ = ["Lesson", "start"]


class Lesson:
    """One open lesson. Made by `start`.

    ``id`` and ``question`` from the front matter; ``rng``, the NumPy generator for all chance;
    ``scale`` and ``settings``, the numbers of that scale (``lesson.settings.n_documents``);
    ``scales``, the settings of every scale; ``results``, what `leaderboard_cell` measured.
    """

    def __init__(self, card: LessonCard, *, scale: str, seed: int, order: Sequence[str] = ()):
        self.id, self.question, self.scale, self.seed = card.id, card.question, scale, seed
        self.rng = generator(seed)
        self.scales = {name: card.settings(name) for name in SCALES}
        self.settings = self.scales[scale]
        self.results: dict[str, Any] = {}
        self._order, self._hints_given = tuple(order), {}

    def __repr__(self) -> str:
        return f"Lesson({self.id!r}, scale={self.scale!r}, seed={self.seed})"

    @property
    def generator(self) -> torch.Generator:
        """The Torch generator of this lesson, seeded like ``rng``; made on first use, because Torch
        takes seconds to load.
        """
        if "_generator" not in self.__dict__:
            import torch

            torch.set_num_threads(lesson_threads())
            self._generator = torch.Generator().manual_seed(self.seed)
        return self._generator

    @property
    def leaderboard(self) -> Any:
        """The user's leaderboard (`evaluation.Leaderboard`)."""
        from .board import user_board

        return user_board()

    def rounded(self, values: Mapping[Any, Any] | Iterable[Any],
                digits: int = 2) -> dict[Any, float] | list[float]:
        """Numbers as a message shows them: ``{"mean": 0.61}`` in place of ``{"mean":
        np.float64(0.6078431372549019)}``.

        Parameters
        ----------
        values : numbers, or names with a number each.
        digits : behind the point.

        Returns
        -------
        A list, or a dict with the same keys, of plain floats.
        """
        if isinstance(values, Mapping):
            return dict(zip(values, self.rounded(values.values(), digits), strict=True))
        return [round(float(value), digits) for value in values]

    def show(self, fig: Any, *, id: str, alt: str, static: Any = None) -> None:
        """Display a figure with alt text and keep it as a file.

        Parameters: fig, a matplotlib or plotly figure; id, the figure's name (``zipf_wikipedia``);
        alt, 5 to 40 words that say kind, axes and finding; static, for a plotly figure: its
        matplotlib twin, for pages that cannot run it. SVG up to 2,000 marks, PNG above. Files go to
        the user's output folder; only ``lessons build`` writes ``figures/``. Raises ValueError or
        TypeError before anything is shown.
        """
        import matplotlib.pyplot as plt
        from IPython.display import display

        from .explore import widgets_work
        from .figures import figure_bundle, is_plotly, save_figure
        from .plotly_controls import has_controls, show_with_controls

        data, metadata, parts = figure_bundle(fig, id=id, alt=alt, static=static)
        plt.close(static if is_plotly(fig) else fig)
        if is_plotly(fig) and has_controls(fig) and widgets_work():
            show_with_controls(fig, data, metadata)
        else:
            display(data, raw=True, metadata=metadata)
        save_figure(id, parts)

    def explore(self, function: Callable, *, id: str, alt: str | Callable[..., str],
                **controls: Any) -> None:
        """Draw ``function`` at its defaults, and let controls change the picture in place where a
        kernel is live.

        Parameters: function, takes one argument per control and returns a matplotlib figure, a pair
        (plotly, matplotlib), a text, a number or a table; id and alt as in `show` (alt may be a
        function of the controls); controls, by argument: ``k=(1, 10)`` or ``(1, 10, 2)`` a slider,
        ``kind=["a", "b"]`` or ``{label: value}`` a list, ``log=True`` a box. The start is the
        function's own default, else the first value. Raises TypeError for an argument the function
        does not have, ValueError for a bad control.
        """
        from .explore import explore

        explore(function, id=id, alt=alt, controls=controls)

    def source(self, obj: Any, *, docstring: bool = True) -> None:
        """Show the library's code of a function, method, class or module with its place;
        ``docstring=False`` leaves docstrings out.
        """
        from IPython.display import display

        from .sources import source_markdown

        text = source_markdown(obj, docstring=docstring)
        display({"text/markdown": text, "text/plain": text}, raw=True)

    def table(self, rows: Iterable[Sequence | Mapping], columns: Sequence[str],
              caption: str = "") -> None:
        """Show a small table; every cell is escaped.

        Rows are sequences or dicts by column; None prints as a dash.
        """
        from IPython.display import display

        from .tables import Table

        display(Table(rows, columns, caption))

    @property
    def exercises(self) -> dict[str, Exercise]:
        """The lesson's exercises by name; empty where it has none."""
        from .. import exercises

        return exercises.for_lesson(self.id) if self.id in exercises.stems() else {}

    def _exercise(self, name: str) -> Exercise:
        return self.exercises[check_choice("name", name, self.exercises)]

    def check(self, name: str, answer: Any) -> None:
        """Print what the judge says about an answer: correct, not attempted yet, or the smallest
        case that goes wrong.

        None, ``...`` and a function that raises NotImplementedError count as not attempted, so that
        *Run All* goes on. An error in the learner's code is told in one line. Raises ValueError for
        an unknown exercise.
        """
        from ..exercises import verdict

        print(f"{name}: {verdict(self._exercise(name), answer)}")

    def hint(self, name: str) -> None:
        """Print the next hint: each call goes one step further."""
        hints, given = self._exercise(name).hints, self._hints_given.get(name, 0)
        if given >= len(hints):
            print(f'{name}: no more hints. lesson.solution("{name}") shows a tested solution')
            return
        self._hints_given[name] = given + 1
        print(f"{name}, hint {given + 1} of {len(hints)}: {hints[given]}")

    def solution(self, name: str) -> None:
        """Show the tested solution."""
        from IPython.display import display

        from ..exercises import solution_text

        text = solution_text(self._exercise(name))
        display({"text/markdown": f"```python\n{text}\n```", "text/plain": text}, raw=True)

    def audit(self) -> None:
        """Show that every check accepts its solution and refuses each planted wrong answer.

        Raises AssertionError when one does not.
        """
        from ..exercises import audit

        lines = audit(self.exercises)
        print("\n".join(map(str, lines)))
        if failed := [line.name for line in lines if not line.ok]:
            raise AssertionError(f"checks that are worth nothing: {', '.join(failed)}")

    def leaderboard_cell(self, encoders: Any, *, datasets: Sequence[Any] | None = None,
                         protocol: str = "all") -> None:
        """Score encoders, add their rows to the leaderboard, and show table and plot of this lesson
        and those before it.

        Parameters: encoders, one fitted `Encoder`, a list, or a dict name -> encoder; datasets,
        names or pair sets (default: ``course-sts`` and, where present, ``stsb``); protocol as in
        `evaluation.evaluate`. The figures are kept in ``lesson.results[name][set]``, for example
        ``lesson.results["TF-IDF"]["course-sts"].spearman``.
        """
        from IPython.display import display

        from .. import evaluation
        from .board import board_rows, board_table, named_encoders, present_sets

        sets, named = present_sets(datasets), named_encoders(encoders)
        for name, encoder in named.items():
            self.results[name] = evaluation.evaluate(encoder, sets, protocol=protocol,
                                                     seed=self.seed)
            self.leaderboard.add(name, self.id, self.results[name], seed=self.seed,
                                 scale=self.scale)
        rows = board_rows(self.id, self._order)
        display(board_table(rows))
        for dataset in self.results[name]:
            if len(rows) > 1:                    # one row alone is no comparison
                self._show_board(rows, dataset)

    def _show_board(self, rows: Sequence[Any], dataset: str) -> None:
        from ..plots import leaderboard_bars
        from .board import board_finding

        best, finding = board_finding(rows, dataset)
        self.show(leaderboard_bars(rows, dataset=dataset, title=finding, highlight=best),
                  id=f"{self.id}_leaderboard_{dataset.replace('-', '_')}",
                  alt=f"Dot plot of Spearman correlation times 100 on {dataset}, one row per "
                      f"encoder with its 95 % interval. {finding}.")


def _device(scale: str) -> str:
    """Where the lesson computes: Torch is asked when it is loaded already, or when the paper's
    scale may need a GPU.
    """
    import sys

    if "torch" not in sys.modules and scale != "paper":
        return "cpu"
    import torch

    if torch.cuda.is_available():
        return f"cuda: {torch.cuda.get_device_name(0)}"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def start(lesson_id: str, *, scale: str | None = None, seed: int = 0,
          notebooks: str | os.PathLike | None = None) -> Lesson:
    """Open a lesson: fix the threads, seed the generators, set the plot style, print one line.

    Parameters: lesson_id, without its number (``one_hot``); scale, ``smoke``, ``laptop`` or
    ``paper`` (default: ``LESSONS_SCALE``, else laptop); seed, int >= 0; notebooks, the folder of
    the lesson texts (default: the course's). Returns a `Lesson`. Raises ValueError for an unknown
    lesson or scale (nearest name, all names) or a bad ``LESSONS_THREADS``, TypeError or ValueError
    for a bad seed.
    """
    from ..plots import use_style

    course = Course() if notebooks is None else Course(Path(notebooks).resolve().parent)
    card, scale, seed = course.card(lesson_id), chosen_scale(scale), check_seed(seed)
    lesson = Lesson(card, scale=scale, seed=seed, order=course.ids())
    threads = fix_threads()
    use_style()
    print(f"lesson {card.id} | lessons_lib {__version__} | numpy {np.__version__} | {scale} scale "
          f"| seed {seed} | "
          f"{threads} thread{'s' if threads > 1 else ''} | {_device(scale)}")
    return lesson
