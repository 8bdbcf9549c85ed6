"""The kinds *experiment* and *debug*, each by a toy that a writer of lessons can copy."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.exercises import Exercise, audit, judge_value, unseen_judge, verdict
from lessons_lib.exercises._declare import by_name, debug_task, experiment_task

# Experiment: "Train with learning rate 3 instead of 0.3. What happens to the loss (x - 1)²?"


def train(learning_rate: float, steps: int = 20) -> float:
    x = 0.0
    for _ in range(steps):
        x -= learning_rate * 2 * (x - 1)
    return (x - 1) ** 2


RATE = experiment_task(
    "large_rate", "Train with learning rate 3 instead of 0.3. What happens to the loss?",
    {"it falls faster": (0, 0.001), "it stays near 1": (0.5, 2), "it explodes": (1e3, np.inf)},
    measured=train(3.0),
    why="Each step multiplies the distance to the minimum by 1 - 2·3 = -5.",
    hints=("What does one step do to x - 1?", "It is multiplied by 1 - 2·rate. When is that above "
                                              "1 in absolute value?"))


# Debug: "This loss stays near ln 4 for four candidates, whatever the vectors are. Mend a line."


def info_nce_with_a_fault(cosines, temperature):
    logits = np.asarray(cosines) * temperature                   # the fault
    return float(np.mean(np.log(np.exp(logits).sum(axis=1)) - np.diag(logits)))


def _solve_info_nce(cosines, temperature):
    logits = np.asarray(cosines) / temperature
    return float(np.mean(np.log(np.exp(logits).sum(axis=1)) - np.diag(logits)))


def two_cosines(rng):
    return [(rng.uniform(-1, 1, size=(4, 4)).tolist(), 0.2) for _ in range(2)]


FAULT = debug_task(
    "flat_loss", "Which line keeps the loss near ln 4?", info_nce_with_a_fault, _solve_info_nce,
    [([[1, 0], [0, 1]], 0.1), ([[0.9, 0.2], [0.1, 0.8]], 0.5)], fresh=two_cosines,
    symptom="The loss stays near ln N. How large are the logits then?",
    wrong={"no temperature at all": lambda cosines, temperature: _solve_info_nce(cosines, 1)},
    hints=("When is a softmax over four candidates flat?",
           "A small temperature should make logits large."))


@pytest.mark.parametrize("line", audit(by_name(RATE, FAULT)), ids=lambda line: line.name)
def test_the_examples_accept_their_solution_and_refuse_all_else(line):
    assert line.ok and len(line.refused) >= 2, str(line)


def test_each_kind_is_known_by_its_name():
    assert (RATE.kind, FAULT.kind) == ("experiment", "debug")
    plain = Exercise("pair", judge_value(2), 2, {"one": 1, "three": 3}, ("It is even.",))
    assert plain.kind == "fill in" and plain.why == ""
    with pytest.raises(ValueError, match="kind='quiz'"):
        Exercise("pair", judge_value(2), 2, {"one": 1, "three": 3}, ("Even.",), kind="quiz")


@pytest.mark.parametrize(("answer", "words"), [
    (None, "not attempted yet"), ((None, None), "not attempted yet"), ((None, 3), "not attempted"),
    (("it explodes", None), "Now run it"), (("it explodes", 1e20), "correct"),
    (("it stays near 1", 1e20), "you expected 'it stays near 1'; you measured 1e+20, which means "
                                "'it explodes'. Explain the difference"),
    (("it explodes", 0.7), "0.7, which means 'it stays near 1'; this setting gives another number"),
    (("it explodes", 30), "you measured 30; this setting gives another number"),
    (("up", 3), "'up' is none of"), ("it explodes", "expected a pair"),
    (("it explodes", [1, 2]), "expected one number that you measured, yours has shape (2,)"),
    (("it explodes", "much"), "stopped the check")])
def test_an_experiment_compares_what_was_expected_with_what_was_measured(answer, words):
    assert words in verdict(RATE, answer)


def test_a_fault_that_is_still_there_is_told_by_its_symptom_and_another_by_its_case():
    assert verdict(FAULT, info_nce_with_a_fault).startswith("the fault is still there. The loss")
    assert "for " in verdict(FAULT, FAULT.wrong["no temperature at all"])
    assert verdict(FAULT, None) == "not attempted yet"
    assert unseen_judge(FAULT, 3)(_solve_info_nce) is None
    assert unseen_judge(FAULT, 3)(info_nce_with_a_fault) is not None


def test_an_experiment_without_an_outcome_for_its_own_number_is_refused():
    with pytest.raises(ValueError, match="measured=5 lies in none"):
        experiment_task("x", "?", {"up": (0, 1), "down": (2, 3)}, 5, why="w", hints=("h",))
