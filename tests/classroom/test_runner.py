"""A submission's process: what it cannot do, how it ends, and that nothing of it is left."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from lessons_lib.classroom import runner
from lessons_lib.classroom.runner import Ended, Limits, Submission, readable_paths
from lessons_lib.core import PROJECT, BackendUnavailable

pytestmark = pytest.mark.usefixtures("confined")


@pytest.fixture
def process():
    with Submission(Limits(cell=2.0, call=2.0, total=30.0, memory=800_000_000)) as opened:
        yield opened


def test_a_function_is_called_over_there_and_its_value_comes_back_as_plain_data(process):
    code = ("import numpy as np\nclass Row(np.ndarray): pass\ndef f(x, *, n=2): return {'a': (x * "
            "n).view(Row), 1: {3.5, None}}")
    assert process.run_cell(code) is None
    found = process.answer("f")(np.arange(3), n=5)
    assert type(found["a"]) is np.ndarray and found["a"].tolist() == [0, 5, 10]
    assert found[1] == {3.5, None}
    assert repr(process.answer("f")) == "<function f>" and process.answer("nothing") is None


def test_a_function_among_the_arguments_stays_here_and_is_called_back(process):
    process.run_cell("def f(x, net): return net(x)[1] + net(2 * x)[0]")
    asked = []

    def net(x):
        asked.append(x.tolist())
        return x + 1, 10 * x

    assert process.answer("f")(np.array([1.0, 2.0]), net).tolist() == [13.0, 25.0]
    assert asked == [[1.0, 2.0], [2.0, 4.0]]


def test_an_error_of_a_function_of_ours_is_an_error_of_the_call(process):
    process.run_cell("def f(net): return net('text')")
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        process.answer("f")(lambda text: 1 / 0)


def test_a_stub_is_not_an_error(process):
    process.run_cell("def f(x): raise NotImplementedError")
    with pytest.raises(NotImplementedError):
        process.answer("f")(1)


FORBIDDEN = {
    "network": "import socket; socket.socket()",
    "name service": "import socket; socket.getaddrinfo('localhost', 80)[0]; socket.socket()",
    "another program": "import subprocess; subprocess.run([sys.executable, '-c', ''])",
    "a shell": "assert os.system('true') == 0",
    "a new process": "os.fork()",
    "a pool":
        "import multiprocessing; "
        "multiprocessing.get_context('spawn').Process(target=print).start()",
    "a signal to the grader": "os.kill(os.getppid(), 0)",
    "a signal to all": "os.kill(-1, 0)",
    "a signal to a group": "os.killpg(os.getpgid(os.getppid()), 0)",
    "the memory of the grader": "open(f'/proc/{os.getppid()}/mem').read()",
    "its variables": "open(f'/proc/{os.getppid()}/environ').read()",
    "tracing it":
        "import ctypes; c = ctypes.CDLL(None, use_errno=True); assert c.ptrace(16, os.getppid(), "
        "0, 0) == 0",
    "a file of the user": "open(HERE)",
    "a list of files": "os.listdir(FOLDER)",
    "the library's solutions": "open(LIBRARY + '/exercises/one_hot.py')",
    "the lessons": "open(LIBRARY + '/../notebooks/01_one_hot.md')",
    "a new file elsewhere": "open(FOLDER + '/new', 'w')",
    "removing": "os.remove(HERE)",
    "renaming": "os.rename(HERE, HERE + '2')",
    "rights": "os.chmod(HERE, 0)",
    "times": "os.utime(HERE, (0, 0))",
    "cutting": "os.truncate(HERE, 0)",
    "owner": "os.chown(HERE, 1, 1)",
    "a device": "os.mknod('tty', 0o20600, os.makedev(5, 0))",
    "a link out": "os.link(HERE, 'here'); open('here')",
    "other limits": "import resource; resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))",
    "more memory": "import resource; resource.setrlimit(resource.RLIMIT_DATA, (2**40, 2**40))",
    "a signal by way of a file":
        "import fcntl; fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, os.getppid())",
    "which signal a file sends":
        "import fcntl, signal; fcntl.fcntl(os.pipe()[0], 10, signal.SIGKILL)",
    "a signal by way of a socket":
        "import ctypes, fcntl\nends = (ctypes.c_int * 2)()\nctypes.CDLL(None).socketpair(1, 1, 0, "
        "ends)\nfcntl.ioctl(ends[0], 0x8901, os.getppid().to_bytes(4, 'little'))",
    "attributes of a file":
        "import fcntl; fcntl.ioctl(os.open(os.__file__, 0), 0x40086602, bytes(8))",
    "memory that no folder shows": "os.memfd_create('a')",
    "files in a socket":
        "import ctypes, errno; c = ctypes.CDLL(None, use_errno=True)\nassert c.sendmsg(-1, None, "
        "0) == 0 or ctypes.get_errno() != errno.EPERM",
    "processors of others": "os.sched_setaffinity(os.getppid(), {0})",
    "turns of others": "os.sched_setscheduler(os.getppid(), os.SCHED_IDLE, os.sched_param(0))",
    "hiding": "import ctypes; assert ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) == 0",
    "outliving": "import ctypes; assert ctypes.CDLL(None).prctl(1, 0, 0, 0, 0) == 0",
    "a call of tomorrow":
        "import ctypes, errno; c = ctypes.CDLL(None, use_errno=True)\nassert c.syscall(463, 0, 0, "
        "0, 0, 0) == 0 or ctypes.get_errno() != errno.ENOSYS",
    "priority": "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
    "a namespace": "import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == 0",
    "a ring of system calls":
        "import ctypes; assert ctypes.CDLL(None).syscall(425, 1, ctypes.create_string_buffer(200)) "
        ">= 0",
    "the library": "import lessons_lib; lessons_lib.text",
    "its rooms": "import lessons_lib.exercises",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_security_what_an_answer_does_not_need_is_refused(process, tmp_path, what):
    here = tmp_path / "private.txt"
    here.write_text("private")
    names = (f"import os, sys\nHERE, FOLDER, LIBRARY = {str(here)!r}, {str(tmp_path)!r}, "
             f"{str(PROJECT / 'lessons_lib')!r}\n")
    assert process.run_cell(names) is None
    error = process.run_cell(FORBIDDEN[what])
    assert error is not None, f"{what} was possible"
    assert here.read_text() == "private" and os.listdir(tmp_path) == ["private.txt"]
    assert process.run_cell("x = 1") is None                      # the process goes on


def test_what_an_answer_may_need_works(process):
    assert process.run_cell("import numpy, scipy.linalg, threading, tempfile, json\nt = "
                            "threading.Thread(target=print)\nt.start()\nt.join()\nimport asyncio; "
                            "asyncio.run(asyncio.sleep(0))\nwith tempfile.TemporaryFile('w') as f: "
                            "f.write('a')\nopen('own.txt', 'w').write('a')") is None


def test_a_python_with_thousands_of_packages_can_be_opened_to_a_submission(monkeypatch):
    many = ([f"/nowhere/lib/python3.11/site-packages/package_number_{number}"
             for number in range(4000)])
    opened = readable_paths([])
    # 250 kB, and a command line takes 128
    monkeypatch.setattr(runner, "readable_paths", lambda hidden: opened + many)
    with Submission() as process:
        assert process.run_cell("import sys; found = [sys.argv, len(str(sys.orig_argv)) < "
                                "1000]") is None and process.answer("found") == [[""], True]


def test_the_variables_of_the_teacher_stay_with_the_teacher(monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "abc")
    with Submission() as process:
        process.run_cell("import os\nfound = dict(os.environ)")
        assert "SECRET_TOKEN" not in process.answer("found")
        assert process.answer("found")["HOME"] != os.environ.get("HOME")


HOLDS = ("import os, mmap\nkeep = []\nfor i in range(40):\n    f = os.open('a', os.O_RDWR | "
         "os.O_CREAT); os.unlink('a'); os.write(f, bytes(1_000_000))\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "evil, reason",
    [("import os\nfor i in range(10**6): open(f'f{i}', 'w')", "files"),
     ("for i in range(100): open(f'f{i}', 'wb').write(bytes(1_000_000))", "wrote more than"),
     ("import os\nwhile True:\n    os.mkdir('d'); os.chdir('d')", "folders|files"),
     (HOLDS + "    keep.append(f)\nwhile True: x = 1", "wrote more than"),
     (HOLDS + "    keep.append(mmap.mmap(f, 4096)); os.close(f)\nwhile True: x = 1",
      "wrote more than"), ("import threading, time\nthreading.stack_size(32768)\nwhile True: "
                           "threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
                           "more than 200 threads"),
     ("import os\nos._exit(0)", "ended its own process"),
     ("import signal\nsignal.setitimer(signal.ITIMER_PROF, 0)\nwhile True: x = 1", "too long"),
     ("import os\nfor fd in range(3, 60):\n    try: os.write(fd, bytes([255]) * 64)\n    except "
      "OSError: pass", "broke the line"),
     ("import signal, mmap\nsignal.setitimer(signal.ITIMER_PROF, 0)\nkeep = []\nwhile True:\n    m "
      "= mmap.mmap(-1, 50_000_000)\n    m.write(bytes(50_000_000))\n    keep.append(m)",
      "memory|too long|the system ended it")])
def test_it_ends_where_it_takes_too_much(evil, reason):
    with Submission(Limits(cell=1.0, call=1.0, total=20.0, memory=500_000_000,
                           disk=20_000_000)) as process:
        with pytest.raises(Ended, match=reason):
            process.run_cell(evil)
        assert process.ended
        with pytest.raises(Ended):
            process.run_cell("x = 1")
        folder = Path(process._folder.name)
    assert not folder.exists() and not psutil.pid_exists(process.process.pid)


def test_a_submission_of_ours_leaves_no_process_no_folder_and_no_open_file():
    me = psutil.Process()
    with Submission() as process:
        pass
    before = me.num_fds() if hasattr(me, "num_fds") else 0
    for _ in range(3):
        with Submission() as process:
            process.run_cell("x = 1")
    assert (me.num_fds() if before else 0) == before and not psutil.pid_exists(process.process.pid)


def test_a_grader_that_is_killed_takes_its_submissions_along():
    code = ("import os, signal, threading\nfrom lessons_lib.classroom.runner import "
            "Submission\nprocess = Submission().__enter__()\n"
            "print(process.process.pid, flush=True)\nthreading.Timer(0.5, os.kill, (os.getpid(), "
            "signal.SIGKILL)).start()\nprocess.run_cell('import time; time.sleep(50)')")
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True)
    gone = psutil.Process(int(done.stdout)) if psutil.pid_exists(int(done.stdout)) else None
    if gone is not None:
        psutil.wait_procs([gone], timeout=5)
    assert gone is None or not gone.is_running() or gone.status() == psutil.STATUS_ZOMBIE


def test_starting_takes_tenths_of_a_second():
    start = time.perf_counter()
    with Submission() as process:
        process.run_cell("x = 1")
    assert time.perf_counter() - start < 10.0                      # 0.1 s on a quiet machine


def test_a_system_that_cannot_confine_is_told_what_could_happen(monkeypatch):
    monkeypatch.setattr(runner, "protections",
                        lambda: dict.fromkeys(("network", "processes", "files", "memory"), False))
    with pytest.raises(BackendUnavailable, match=r"network; .*files; .*memory.* \(WSL 2, .*--weak"):
        Submission()
    assert set(runner.missing_protections()) == {"network", "processes", "files", "memory"}


def test_a_protection_that_fails_to_come_up_ends_the_run(monkeypatch, tmp_path):
    pretender = tmp_path / "sandbox"
    pretender.mkdir()
    for name in ("wire.py", "confine.py", "__main__.py"):
        text = (runner.SANDBOX / name).read_text("utf-8")
        (pretender / name).write_text(text.replace("return libc.prctl(22, 2, head, 0, 0) == "
                                                   "0", "return False"), "utf-8")
    monkeypatch.setattr(runner, "SANDBOX", pretender)
    with pytest.raises(BackendUnavailable, match="network, processes stayed open"), Submission():
        pass
    with Submission(weak=True) as process:                         # the hook inside Python is left
        assert "PermissionError" in process.run_cell("import socket; socket.socket()")
        assert "PermissionError" in process.run_cell("import subprocess; subprocess.run(['true'])")
        assert process.run_cell("import numpy as np\nx = np.ones(3).sum()") is None
        assert process.answer("x") == 3


def test_readable_paths_leave_hidden_ones_out(tmp_path, monkeypatch):
    packages = tmp_path / "site-packages"
    for name in ("numpy", "lessons_lib", "other"):
        (packages / name).mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(packages)])
    found = ([path
              for path in readable_paths([packages / "other"]) if path.startswith(str(tmp_path))])
    assert found == [str(packages / "lessons_lib"), str(packages / "numpy")]
    assert all(not str(PROJECT / "lessons_lib").startswith(path.rstrip("/") + "/")
               for path in readable_paths([]))
