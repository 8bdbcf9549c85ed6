"""Guess before you look: a question with its choices, and afterwards how the guess went.

In a live kernel the choices are buttons; elsewhere they are a list, and a guess is written into the
call. A guess is kept in the prediction itself, so no other cell can change it, and without one
everything goes on. Used by ``lesson.predict``.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

from ..core import check_choice, shown
from .explore import choice_widget, widgets_work
from .live import controls_alone

__all__ = ["Prediction"]

LETTERS = "abcdef"


class Prediction:
    """A question that a reader answers before the result is shown.

    Parameters
    ----------
    question : str
    choices : sequence of 2 to 6 str
    guess : str, optional
        A letter, or the words of a choice; anything else counts as no guess.

    Attributes
    ----------
    guess : int or None
        Place of the choice that was guessed.
    """

    def __init__(self, question: str, choices: Sequence[str], guess: str | None = None):
        if isinstance(choices, str) or not 2 <= len(choices) <= len(LETTERS):
            raise ValueError(f"choices={shown(choices)}; expected a list of 2 to {len(LETTERS)} "
                             "texts")
        self.question, self.choices = question, [str(choice) for choice in choices]
        known = {key: place for place, choice in enumerate(self.choices)
                 for key in (LETTERS[place], choice.lower())}
        self.guess: int | None = known.get(str(guess).strip().lower())

    def _named(self, place: int) -> str:
        return f"{LETTERS[place]}. {self.choices[place]}"

    def show(self) -> None:
        """Display the question, with buttons in a live kernel and as a list elsewhere."""
        from IPython.display import display

        live, names = widgets_work(), [self._named(place) for place in range(len(self.choices))]
        text = "\n- ".join([f"**Predict.** {self.question}", *(() if live else names)])
        display({"text/markdown": text, "text/plain": text}, raw=True)
        if live:
            buttons = choice_widget("", list(zip(names, range(len(names)), strict=True)),
                                    self.guess)
            buttons.observe(lambda change: setattr(self, "guess", change["new"]), names="value")
            controls_alone([buttons], "to choose")

    def answer(self, choice: str | int) -> None:
        """Say which choice is right, and how the guess went.

        Parameters
        ----------
        choice : str or int
            The words of the choice, or its place from 0.

        Raises
        ------
        ValueError
            For a choice that was not offered.
        """
        from IPython.display import display

        if isinstance(choice, str):
            right = self.choices.index(check_choice("choice", choice, self.choices))
        elif not 0 <= (right := operator.index(choice)) < len(self.choices):
            raise ValueError(f"choice={right}; expected 0 to {len(self.choices) - 1}")
        text = f"**The answer: {self._named(right)}.**"
        if self.guess == right:
            text += " You predicted this."
        elif self.guess is not None:
            text += f" You predicted {self._named(self.guess)}."
        display({"text/markdown": text, "text/plain": text}, raw=True)

    def _ipython_display_(self) -> None:
        """Show nothing where a cell ends with a prediction: it was displayed already."""
