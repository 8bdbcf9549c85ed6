"""What lessons are made of, in a kernel and in JupyterLab: guesses, own text, live curves."""

from __future__ import annotations

import time

import pytest

from lessons_lib.lesson.explore import BUILD_VARIABLE
from lessons_lib.publish import clean, run_lesson

from .kit import ALT, EXPLORE, PREDICT, SLIDE, TRY, WATCH, controls, kit
from .pages import LessonPage

pytestmark = pytest.mark.slow


def test_a_build_commits_a_static_output_of_each_and_one_frame_of_the_training(tmp_path):
    run = run_lesson(kit(), "kit", cwd=tmp_path, extra={BUILD_VARIABLE: "1",
                                                        "LESSONS_FIGURES": str(tmp_path)})
    assert run.ok, str(run.failure)
    code = [cell for cell in clean(run.notebook).cells if cell.cell_type == "code"]
    texts = [[output.get("data", {}).get("text/plain") for output in cell.outputs]
             for cell in code]
    assert texts[1][0].startswith("**Predict.** Up or down?\n- a. up")
    assert texts[2] == ["**The answer: b. down.**"]
    assert texts[4][0] == "2 words" and "python -m lessons_lib lab" in texts[4][1]
    assert texts[6] == [ALT] and "image/svg+xml" in code[6].outputs[0].data
    assert code[8].metadata["jupyter"] == {"source_hidden": True, "outputs_hidden": True}
    assert (tmp_path / "kit_loss.svg").is_file()


def cell_text(page: LessonPage, mark: str) -> str:
    """What the outputs of a cell show as text."""
    return page.page.evaluate(
        "mark => notebook.find(mark).node.querySelector('.jp-OutputArea')?.innerText ?? ''", mark)


def wait_for_text(page: LessonPage, mark: str, words: str) -> None:
    page.page.wait_for_function(
        "([mark, words]) => notebook.find(mark).node.querySelector('.jp-OutputArea')"
        "?.innerText.includes(words)", arg=[mark, words])


def control(page: LessonPage, mark: str, selector: str):
    find = "([mark, selector]) => notebook.find(mark).node.querySelector(selector)"
    page.page.wait_for_function(find, arg=[mark, selector])    # drawn some time after its cell ran
    return page.page.evaluate_handle(find, [mark, selector]).as_element()


def test_in_jupyterlab_guesses_are_kept_text_is_answered_at_once_and_folds_are_closed(
        lab, context, pictures):
    page = LessonPage(context.new_page(), lab.address_of(kit(), "kit"))
    page.page.set_viewport_size({"width": 1366, "height": 768})
    hidden = page.page.evaluate(
        "() => ['guess.answer', 'expected 59'].map((mark) => { const cell = notebook.find(mark); "
        "return [cell.inputHidden, cell.outputHidden]; })")
    assert hidden == [[False, True], [True, True]]
    details = page.page.evaluate("() => { const one = notebook.panel().node.querySelector("
                                 "'details'); return [one.open, Boolean(one.querySelector("
                                 "'strong'))]; }")
    assert details == [False, True], "folded, and its Markdown is read"
    page.start_all()                             # to run a cell is to open it
    page.finish()
    assert page.picture(WATCH) and cell_text(page, WATCH).count("training begins") == 0

    page.page.evaluate("mark => notebook.panel().content.scrollToCell(notebook.find(mark))",
                       PREDICT)
    wide = page.page.evaluate(
        "mark => { const box = notebook.find(mark).node.querySelector('.jp-OutputArea'); "
        "return box.scrollWidth - box.clientWidth; }", PREDICT)
    assert wide <= 1, "a cell scrolls sideways"
    control(page, PREDICT, ".widget-toggle-button").click()
    page.keep_screenshot(pictures, "kit_predict")
    page.page.evaluate("() => { notebook.ran = null; const {content} = notebook.panel(); "
                       "content.activeCellIndex = content.widgets.indexOf("
                       "notebook.find('guess.answer')); "
                       "jupyterapp.commands.execute('notebook:run-cell')"
                       ".then(() => { notebook.ran = 'done'; }); }")
    page.page.wait_for_function("notebook.ran === 'done'")
    outputs = next(cell["outputs"] for cell in page.cells() if "guess.answer" in cell["source"])
    assert "You predicted a. up." in outputs[0]["data"]["text/plain"]

    box = control(page, TRY, "input[type=text]")
    box.scroll_into_view_if_needed()
    box.fill("")
    wait_for_text(page, TRY, "Type something into")
    begin = time.perf_counter()
    box.fill("four words of mine")
    wait_for_text(page, TRY, "4 words")
    seconds = time.perf_counter() - begin
    assert seconds < 3, f"{seconds:.2f} s; 0.3 on a quiet machine"
    page.keep_screenshot(pictures, "kit_try_it")

    page.close()
    assert page.crashes == [] and context.requests.outside() == []


def readout(page: LessonPage, mark: str) -> str:
    return control(page, mark, ".widget-readout").inner_text()


def test_nine_presses_of_an_arrow_are_nine_steps_of_plotly_too(lab, context):
    page = LessonPage(context.new_page(), lab.address_of(controls(), "steps"))
    page.start_all()
    page.finish()
    for mark, end in ((SLIDE, "step 9"), (EXPLORE, "9")):
        page.scroll_to(mark)
        page.tab_to(mark)
        page.press("ArrowRight", 9)
        page.page.wait_for_function("([mark, end]) => notebook.find(mark).node.querySelector("
                                    "'.widget-readout').innerText === end", arg=[mark, end])
        assert page.page.evaluate("document.activeElement.className").startswith("noUi-handle")
    page.close()


def test_after_a_reload_and_after_a_restart_a_control_says_run_this_cell(lab, context, pictures):
    page = LessonPage(context.new_page(), lab.address_of(controls(), "anew"))
    page.start_all()
    page.finish()
    for mark in (EXPLORE, SLIDE, PREDICT):
        control(page, mark, ".widget-box")
        assert "Run this cell" not in cell_text(page, mark), "a control that lives needs no note"

    page.load_anew()
    for mark in (EXPLORE, SLIDE):
        page.scroll_to(mark)
        page.tab_to(mark)
        page.press("ArrowRight", 1)
        wait_for_text(page, mark, "This page was loaded anew. Run this cell")
    page.keep_screenshot(pictures, "kit_loaded_anew")

    page.restart_kernel()
    for mark in (EXPLORE, PREDICT):
        wait_for_text(page, mark, "Run this cell to")
    page.load_anew()
    for mark in (EXPLORE, SLIDE, PREDICT):
        page.page.evaluate("mark => notebook.panel().content.scrollToCell(notebook.find(mark))",
                           mark)
        wait_for_text(page, mark, "Run this cell to")
        assert "model not found" not in cell_text(page, mark)
    page.keep_screenshot(pictures, "kit_restarted")
    page.close()
    assert page.crashes == []
