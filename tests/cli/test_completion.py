"""The TAB key completes commands and options of ``lessons``, in a real bash and in what the other
shells are told.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

LESSONS = Path(sys.executable).with_name("lessons")


@pytest.mark.skipif(not LESSONS.is_file() or not os.access("/bin/bash", os.X_OK),
                    reason="needs bash, and the command `lessons` beside Python")
@pytest.mark.parametrize("command", ["lessons", f"{sys.executable} -m lessons_lib"])
def test_after_its_installation_bash_completes_a_command_and_an_option(tmp_path, command):
    pexpect = pytest.importorskip("pexpect")
    environment = {"HOME": str(tmp_path), "PS1": "> ", "TERM": "dumb",
                   "PATH": f"{LESSONS.parent}:/usr/bin:/bin"}

    def shell():
        (tmp_path / ".inputrc").write_text("set enable-bracketed-paste off\n")
        child = pexpect.spawn("/bin/bash", ["--noprofile", "-i"], env=environment, timeout=60,
                              encoding="utf-8", dimensions=(24, 200))
        child.sendline("PS1='ready> '")
        child.expect("\nready> ")
        return child

    first = shell()
    first.sendline(f"{command} --install-completion")
    first.expect("bash completion installed in")
    first.close()
    second = shell()
    for typed, completed in (("lessons enc\t", "lessons encode "),
                             ("--batch\t", "--batch-size "), ("\x15lessons train wo\t",
                                                              "lessons train word2vec ")):
        second.send(typed)
        second.expect_exact(completed)
    second.close()


@pytest.mark.parametrize("shell", ["zsh", "fish", "powershell"])
def test_other_shells_are_told_the_same(shell):
    def asked(line: str, last: str) -> str:
        environment = os.environ | {
            "_LESSONS_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": line,
            "_TYPER_COMPLETE_FISH_ACTION": "get-args", "_TYPER_COMPLETE_WORD_TO_COMPLETE": last}
        code = "import sys; sys.argv = ['lessons']; from lessons_lib.cli import main; main()"
        return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True,
                              text=True).stdout

    assert "encode" in asked("lessons enc", "enc") and "--batch-size" in asked(
        "lessons encode --batch", "--batch")
