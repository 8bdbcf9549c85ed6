"""The lesson object: what a notebook needs besides the mathematics, with one set-up line.

``start`` fixes threads, seeds the generators and prints one line. The methods show, check and
explore. What they print depends on the lesson, the scale and the seed alone. Used by every lesson.
"""

from __future__ import annotations

import html
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..core import check_choice, check_seed, generator
from .course import SCALES, Course, LessonCard, chosen_scale
from .predict import Prediction
from .threads import fix_threads

if TYPE_CHECKING:
    import torch

    from ..exercises import Exercise
    from .tables import Table
    from .watch import Watch

__all__ = ["Lesson", "start"]

TICK = ('<div style="color: var(--jp-success-color1, #007a5a)"><b aria-hidden="true">✓</b> {}'
        "</div>")


class Lesson:
    """One open lesson, made by `start`.

    Parameters
    ----------
    card : LessonCard
    scale : {"smoke", "laptop", "paper"}
    seed : int >= 0
    order : sequence of str, default ()
        Ids of the course's lessons, in their order.

    Attributes
    ----------
    id, question : str
        From the front matter.
    settings : object
        The numbers of the scale: ``lesson.settings.n_documents``.
    scales : dict of str to object
        The settings of every scale.
    rng : numpy.random.Generator
        For all that is drawn.
    results : dict of str to evaluation.Results
        What `leaderboard_cell` measured.
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
        """The Torch generator, seeded like ``rng``; made on first use: Torch takes seconds to load.
        """
        if "_generator" not in self.__dict__:
            import torch                       # which reads how many threads `fix_threads` allows

            self._generator = torch.Generator().manual_seed(self.seed)
        return self._generator

    @property
    def leaderboard(self) -> Any:
        """The user's leaderboard (`evaluation.Leaderboard`)."""
        from .board import user_board

        return user_board()

    def rounded(self, values: Mapping[Any, Any] | Iterable[Any],
                digits: int = 2) -> dict[Any, float] | list[float]:
        """Round numbers for a message: ``{"mean": 0.61}``, not ``{"mean": np.float64(0.607843)}``.

        Parameters
        ----------
        values : iterable of float, or mapping of names to float
        digits : int, default 2
            Behind the point.

        Returns
        -------
        list of float, or dict with the same keys
        """
        if isinstance(values, Mapping):
            return dict(zip(values, self.rounded(values.values(), digits), strict=True))
        return [round(float(value), digits) for value in values]

    def show(self, fig: Any, *, id: str, alt: str, static: Any = None) -> None:
        """Display a figure with alt text and keep it as a file: SVG up to 2,000 marks, PNG above.

        Files go to the user's output folder; only ``lessons build`` writes ``figures/``.

        Parameters
        ----------
        fig : matplotlib or plotly figure
        id : str
            The figure's name: ``zipf_wikipedia``.
        alt : str
            5 to 40 words that say kind, axes and finding.
        static : matplotlib figure, optional
            The twin of a plotly figure, for pages that cannot run it.

        Raises
        ------
        TypeError, ValueError
            For no figure, a bad id or alt, or a plotly figure alone; nothing is shown then.
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
                names: Mapping[str, str] | None = None, **controls: Any) -> None:
        """Draw a function at its defaults; in a live kernel, controls change the picture in place.

        Parameters
        ----------
        function : callable
            Takes an argument for each control; returns a matplotlib figure, a pair (plotly,
            matplotlib), a text, a number or a table.
        id : str
        alt : str or callable of the controls
            As in `show`.
        names : mapping of str to str, optional
            What a control is called for the reader, by argument; others have the argument's name.
        **controls : tuple, list, dict, bool or str
            By argument: ``k=(1, 10)`` or ``(1, 10, 2)`` a slider, ``kind=["a", "b"]`` or ``{label:
            value}`` a list, ``log=True`` a box, ``first="A dog runs."`` a text to change; as in
            `try_it`, empty and very long ones never reach the function. Each starts at the
            function's own default, else at its first value.

        Raises
        ------
        TypeError
            For a control that the function has no argument for, or a name that no control has.
        ValueError
            For what is no control, or a default outside it.
        """
        from .explore import explore

        explore(function, id=id, alt=alt, names=names, controls=controls)

    def predict(self, question: str, choices: Sequence[str], *,
                guess: str | None = None) -> Prediction:
        """Ask the reader for a guess; the next cell, tagged ``hide-output``, says how it went.

        Parameters
        ----------
        question : str
        choices : sequence of 2 to 6 str
        guess : str, optional
            For readers without buttons: ``guess="b"``. Without one everything goes on.

        Returns
        -------
        Prediction
            ``prediction.answer(choice)`` says which choice is right.

        Raises
        ------
        ValueError
            For too few or too many choices.

        Examples
        --------
        >>> coin = lesson.predict("Heads or tails?", ["heads", "tails"])    # doctest: +SKIP
        >>> coin.answer("tails")                                            # doctest: +SKIP
        """
        prediction = Prediction(question, choices, guess)
        prediction.show()
        return prediction

    def try_it(self, function: Callable, *boxes: str, default: str | Sequence[str],
               id: str | None = None, alt: str | Callable[..., str] | None = None) -> None:
        """Show what a function makes of a text; in a live kernel the reader types another one.

        The function keeps all names as they are when the cell runs. Empty and very long texts never
        reach it; where it returns None or raises, the reader gets a sentence.

        Parameters
        ----------
        function : callable
            Takes a text for each box; returns a figure, a table (``lesson.table(…, show=False)``),
            a text or a number; None where it knows no word of the text.
        *boxes : str
            The names of one or two text boxes.
        default : str, or sequence of str
            The text of each box at first, whose result is committed.
        id : str, optional
        alt : str or callable of the texts, optional
            As in `show`, where the function draws.

        Raises
        ------
        ValueError
            For a default that cannot be shown, or not as many as boxes.
        """
        from .try_it import try_it

        try_it(function, boxes, default=default, id=id, alt=alt)

    def watch(self, title: str, *, id: str, alt: str, score: str = "score on dev",
              levels: Mapping[str, float] | None = None,
              reach: float | None = None) -> Watch:
        """Draw loss and score of a training while it runs, in one place.

        Parameters
        ----------
        title : str
        id, alt : str
            As in `show`.
        score : str, default "score on dev"
            What the second curve is.
        levels : mapping of name to loss, optional
            Losses that need no training, as dashed lines.
        reach : float, optional
            A score that the axis includes, such as the best of another training.

        Returns
        -------
        Watch
            For a ``with`` block: ``watch(step, loss)`` or ``watch(step, loss, score)`` adds a
            point. Afterwards ``watch.steps``, ``watch.losses`` and ``watch.scores`` hold them.

        Raises
        ------
        ValueError
            For a bad id or alt.

        Examples
        --------
        >>> with lesson.watch("It learns", id="loss", alt=ALT) as watch:    # doctest: +SKIP
        ...     train(model, watch)
        """
        from .watch import Watch

        return Watch(title, id=id, alt=alt, score=score, levels=levels, reach=reach)

    def source(self, obj: Any, *, docstring: bool = True) -> None:
        """Show the library's code with its place.

        Parameters
        ----------
        obj : function, method, class or module
        docstring : bool, default True
            False leaves docstrings out.

        Raises
        ------
        TypeError
            For what has no Python source.
        """
        from IPython.display import display

        from .sources import source_markdown

        text = source_markdown(obj, docstring=docstring)
        display({"text/markdown": text, "text/plain": text}, raw=True)

    def table(self, rows: Iterable[Sequence | Mapping], columns: Sequence[str],
              caption: str = "", *, show: bool = True) -> Table | None:
        """Show a small table; every cell is escaped.

        It has at most 6 rows and 5 columns, and each column one precision. A column called
        "encoder" holds standard names, which are those of `plots.ENCODERS`.

        Parameters
        ----------
        rows : iterable of sequence, or of dict by column
            None prints as a dash.
        columns : sequence of str
        caption : str, default ""
        show : bool, default True
            False returns the table instead, for `try_it` and `explore`.

        Returns
        -------
        Table or None

        Raises
        ------
        TypeError, ValueError
            For a row that is a text, or of another length; for too many rows or columns, and for
            an encoder without a standard name.
        """
        from IPython.display import display

        from .tables import small_table

        table = small_table(rows, columns, caption)
        if not show:
            return table
        display(table)
        return None

    @property
    def exercises(self) -> dict[str, Exercise]:
        """The lesson's exercises by name; empty where it has none."""
        from .. import exercises

        return exercises.for_lesson(self.id) if self.id in exercises.stems() else {}

    def _exercise(self, name: str) -> Exercise:
        return self.exercises[check_choice("name", name, self.exercises)]

    def check(self, name: str, answer: Any) -> None:
        """Show what the judge says: correct, with a tick; not attempted yet; or the smallest case
        that fails.

        Parameters
        ----------
        name : str
        answer : object
            None, ``...`` and a function that raises NotImplementedError count as not attempted, so
            that *Run All* goes on. An error in the learner's code is told in one line.

        Raises
        ------
        ValueError
            For an unknown exercise.
        """
        from IPython import get_ipython
        from IPython.display import display

        from ..exercises import verdict

        exercise = self._exercise(name)
        said = verdict(exercise, answer)
        right = said == "correct"
        text = f"{name}: {said}" + (f". {exercise.why}" if right and exercise.why else "")
        if not right or get_ipython() is None:
            print(text)
            return
        display({"text/html": TICK.format(html.escape(text)), "text/plain": text}, raw=True)

    def hint(self, name: str) -> None:
        """Print the next hint: each call goes one step further.

        Parameters
        ----------
        name : str
            Of the exercise.
        """
        hints, given = self._exercise(name).hints, self._hints_given.get(name, 0)
        if given >= len(hints):
            print(f'{name}: no more hints. lesson.solution("{name}") shows a tested solution')
            return
        self._hints_given[name] = given + 1
        print(f"{name}, hint {given + 1} of {len(hints)}: {hints[given]}")

    def solution(self, name: str) -> None:
        """Show the tested solution.

        Parameters
        ----------
        name : str
            Of the exercise.
        """
        from IPython.display import display

        from ..exercises import solution_text

        text = solution_text(self._exercise(name))
        display({"text/markdown": f"```python\n{text}\n```", "text/plain": text}, raw=True)

    def audit(self) -> None:
        """Show that every check accepts its solution and refuses each planted wrong answer.

        Raises
        ------
        AssertionError
            When one does not.
        """
        from ..exercises import audit

        lines = audit(self.exercises)
        print("\n".join(map(str, lines)))
        if failed := [line.name for line in lines if not line.ok]:
            raise AssertionError(f"checks that are worth nothing: {', '.join(failed)}")

    def leaderboard_cell(self, encoders: Any, *, datasets: Sequence[Any] | None = None,
                         protocol: str = "all", figures: bool = True) -> None:
        """Score encoders, add their rows to the leaderboard, show them beside the best before them.

        What was measured is kept: ``lesson.results["TF-IDF"]["course-sts"].spearman``.

        Parameters
        ----------
        encoders : Encoder, list of them, or dict of name to Encoder
            Fitted.
        datasets : sequence of str or pair sets, optional
            None: ``course-sts`` and, where present, ``stsb``.
        protocol : str, default "all"
            As in `evaluation.evaluate`.
        figures : bool, default True
            False shows the table alone.
        """
        from IPython.display import display

        from .. import evaluation
        from .board import board_rows, board_table, few_rows, named_encoders, present_sets

        sets, named = present_sets(datasets), named_encoders(encoders)
        for name, encoder in named.items():
            self.results[name] = evaluation.evaluate(encoder, sets, protocol=protocol,
                                                     seed=self.seed)
            self.leaderboard.add(name, self.id, self.results[name], seed=self.seed,
                                 scale=self.scale)
        rows = few_rows(board_rows(self.id, self._order), self.id)
        display(board_table(rows))
        for dataset in self.results[name]:
            if figures and len(rows) > 1:        # one row alone is no comparison
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
    """Where the lesson computes; Torch is asked if it is loaded, or the paper's scale needs a GPU.
    """
    if "torch" not in sys.modules and scale != "paper":
        return "cpu"
    import torch

    if torch.cuda.is_available():
        return f"cuda: {torch.cuda.get_device_name(0)}"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def start(lesson_id: str, *, scale: str | None = None, seed: int = 0,
          notebooks: str | os.PathLike | None = None) -> Lesson:
    """Open a lesson: fix the threads, seed the generators, set the plot style, print one line.

    Parameters
    ----------
    lesson_id : str
        ``one_hot``, ``1`` or ``01_one_hot``.
    scale : {"smoke", "laptop", "paper"}, optional
        None: ``LESSONS_SCALE``, else "laptop".
    seed : int >= 0, default 0
    notebooks : str or path, optional
        The folder of the lesson texts; None: the course's.

    Returns
    -------
    Lesson

    Raises
    ------
    ValueError
        For an unknown lesson or scale (nearest name, all names) or a bad ``LESSONS_THREADS``.
    TypeError, ValueError
        For a bad seed.
    """
    from ..plots import use_style

    course = Course() if notebooks is None else Course(Path(notebooks).resolve().parent)
    card, scale, seed = course.card(lesson_id), chosen_scale(scale), check_seed(seed)
    lesson = Lesson(card, scale=scale, seed=seed, order=course.ids())
    threads = fix_threads()
    use_style()
    print(f"lesson {card.id} | lessons_lib {__version__} | numpy {np.__version__} | {scale} scale "
          f"| seed {seed} | {threads} thread{'s' if threads > 1 else ''} | {_device(scale)}")
    return lesson
