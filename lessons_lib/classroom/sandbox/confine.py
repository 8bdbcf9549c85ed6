"""Take from this process what a graded answer does not need: network, other files, other processes,
memory, time.

On Linux the kernel does it, and nothing that runs afterwards can undo it: seccomp refuses system
calls (sockets, signals to others, new processes, changes of owner and mode), Landlock refuses
files, limits cap memory and time. No privileges are needed; those of root are given up, because
they can raise limits and make buffers in the kernel large. Elsewhere only the limits that the
system has and a hook inside Python are left, which a hostile answer can get around; `protections`
says which is which.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import struct
import sys

__all__ = ["confine", "protections"]

def _limits(memory: int, cpu_seconds: int, file_bytes: int) -> bool:
    """Whether the system takes a limit of memory."""
    try:
        import resource
    except ImportError:
        return False
    wanted = {"RLIMIT_DATA": memory, "RLIMIT_CPU": cpu_seconds, "RLIMIT_FSIZE": file_bytes,
              "RLIMIT_CORE": 0, "RLIMIT_NOFILE": 256, "RLIMIT_MSGQUEUE": 0}
    for name, value in wanted.items():
        if hasattr(resource, name):
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(getattr(resource, name), (value, value))
    return sys.platform == "linux"               # macOS knows the name and does not keep the limit


CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
READ = 1 << 2 | 1 << 3                           # read a file, list a folder
# and change, remove, make: no devices, sockets, programs
WRITE = READ | 1 << 1 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 14
FILE_RIGHTS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
# by version; 5 adds ioctl on devices
ALL_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def landlock_version() -> int:
    """Version of Landlock in this kernel, 0 without it."""
    if sys.platform != "linux" or platform.machine() not in ARCHITECTURES:
        return 0
    return max(0, _libc().syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return                                   # what is not there needs no permission
    try:
        if not os.path.isdir(path):
            rights &= FILE_RIGHTS
        rule = struct.pack("=Qi", rights, handle)
        libc.syscall(ADD_RULE, ruleset, 1, rule, ctypes.c_uint32(0))
    finally:
        os.close(handle)


def _shut_files(readable: list[str], writable: list[str]) -> bool:
    version = landlock_version()
    if version == 0:
        return False
    libc, rights = _libc(), ALL_RIGHTS.get(version, (1 << 16) - 1)
    attributes = struct.pack("=Q", rights)
    ruleset = libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)),
                           ctypes.c_uint32(0))
    if ruleset < 0:
        return False
    for path in readable:
        _allow(libc, ruleset, path, READ)
    for path in writable:
        _allow(libc, ruleset, path, rights & WRITE)
    _allow(libc, ruleset, "/dev/null", READ | 1 << 1)
    done = libc.syscall(RESTRICT_SELF, ruleset, ctypes.c_uint32(0)) == 0
    os.close(ruleset)
    return done


ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# Refused with "not permitted": numbers on x86-64, on 64-bit Arm (None: does not exist there).
REFUSED = {
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "io_uring_setup": (425, 425), "fork": (57, None), "vfork": (58, None), "execve": (59, 221),
    "execveat": (322, 281), "ptrace": (101, 117), "kill": (62, 129), "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "pidfd_send_signal": (424, 424),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "setpriority": (141, 140), "ioprio_set": (251, 30),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "move_mount": (429, 429), "open_tree": (428, 428),
    "fsopen": (430, 430), "mount_setattr": (442, 442), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "add_key": (248, 217),
    "request_key": (249, 218), "keyctl": (250, 219), "kexec_load": (246, 104),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "reboot": (169, 142), "swapon": (167, 224), "settimeofday": (164, 170),
    "clock_settime": (227, 112), "adjtimex": (159, 171), "sethostname": (170, 161),
    "ioperm": (173, None), "iopl": (172, None), "fanotify_init": (300, 262),
    "open_by_handle_at": (304, 265), "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53),
    "fchmodat2": (452, 452), "chown": (92, None), "fchown": (93, 55), "lchown": (94, None),
    "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None), "futimesat": (261, None),
    "utimensat": (280, 88), "truncate": (76, 45), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "fremovexattr": (199, 16), "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186),
    "mq_open": (240, 180), "swapoff": (168, 225), "clock_adjtime": (305, 266),
    "setdomainname": (171, 162), "kexec_file_load": (320, 294), "quotactl": (179, 60),
    "acct": (163, 89), "syslog": (103, 116), "vhangup": (153, 58),
    # The share of the processor that others get, and the memory of others.
    "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119), "sched_setparam": (142, 118),
    "sched_setattr": (314, 274), "setpgid": (109, 154), "migrate_pages": (256, 238),
    "move_pages": (279, 239), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    # Memory that stays in memory, locks that others wait for, and a disk that is kept busy.
    "mlock": (149, 228), "mlockall": (151, 230), "mlock2": (325, 284), "flock": (73, 32),
    "sync": (162, 81), "syncfs": (306, 267),
    # Files that no watch sees: without a name from the start, or on their way through a socket.
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
}
# Calls that one argument makes dangerous: the argument's offset, and the values that are refused.
# A file may tell its owner by a signal that it can be read: F_SETOWN, F_SETSIG and F_SETOWN_EX
# would send it to any process of the user, and so would FIOSETOWN and SIOCSPGRP. F_SETLEASE lets
# others wait, F_NOTIFY sends signals, too, and F_SETPIPE_SZ takes memory of the kernel that no
# limit counts. FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR change a file that is open for reading.
# PR_SET_PDEATHSIG and PR_SET_DUMPABLE would undo that the process ends with the grader, and hide
# its open files from the watch.
REFUSED_WITH = {"fcntl": ((72, 25), 24, (8, 10, 15, 1024, 1026, 1031)),
                "ioctl": ((16, 29), 24, (0x8901, 0x8902, 0x40086602, 0x401C5820)),
                "prctl": ((157, 167), 16, (1, 4))}
CAPGET, CAPSET, CAPABILITIES = (125, 90), (126, 91), 0x20080522
READ_SEARCH = 1 << 2                             # reads a Python that belongs to somebody else
NEWER = 463  # calls from here on came after 2024, and nobody has looked at them
CLONE, CLONE3, TGKILL, PRLIMIT = (56, 220), (435, 435), (234, 131), (302, 261)
CLONE_THREAD = 0x00010000
LOAD, JUMP_EQUAL, JUMP_SET, JUMP_GE, RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
ALLOW, KILL, PERMISSION, NO_SUCH_CALL = 0x7FFF0000, 0x80000000, 0x00050000 | 1, 0x00050000 | 38
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16


def _line(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value & 0xFFFFFFFF)


def _filter(machine: str, pid: int) -> bytes:
    """The program that the kernel runs before each system call."""
    side = 0 if machine == "x86_64" else 1
    lines = [_line(LOAD, ARCHITECTURE), _line(JUMP_EQUAL, ARCHITECTURES[machine], 1, 0),
             _line(RETURN, KILL), _line(LOAD, NUMBER)]
    if machine == "x86_64":
        # the same calls under other numbers
        lines += [_line(JUMP_GE, 0x40000000, 0, 1), _line(RETURN, PERMISSION)]
    lines += [_line(JUMP_GE, NEWER, 0, 1), _line(RETURN, NO_SUCH_CALL)]
    for numbers in REFUSED.values():
        if numbers[side] is not None:
            lines += [_line(JUMP_EQUAL, numbers[side], 0, 1), _line(RETURN, PERMISSION)]
    for numbers, offset, values in REFUSED_WITH.values():
        compared = [_line(JUMP_EQUAL, value, len(values) - i, 0) for i, value in enumerate(values)]
        inner = [_line(LOAD, offset), *compared, _line(RETURN, ALLOW), _line(RETURN, PERMISSION)]
        lines += [_line(JUMP_EQUAL, numbers[side], 0, len(inner)), *inner]
    # the C library then takes clone
    lines += [_line(JUMP_EQUAL, CLONE3[side], 0, 1), _line(RETURN, NO_SUCH_CALL)]
    # A new thread is allowed, a new process is not; a signal to this process only; limits of this
    # process only.
    lines += [_line(JUMP_EQUAL, CLONE[side], 0, 4), _line(LOAD, FIRST_ARGUMENT),
              _line(JUMP_SET, CLONE_THREAD, 1, 0), _line(RETURN, PERMISSION), _line(RETURN, ALLOW)]
    for number, own in ((TGKILL[side], pid), (PRLIMIT[side], 0)):
        lines += [_line(JUMP_EQUAL, number, 0, 4), _line(LOAD, FIRST_ARGUMENT),
                  _line(JUMP_EQUAL, own, 1, 0), _line(RETURN, PERMISSION), _line(RETURN, ALLOW)]
    return b"".join([*lines, _line(RETURN, ALLOW)])


def _shut_calls() -> bool:
    machine = platform.machine()
    if sys.platform != "linux" or machine not in ARCHITECTURES or sys.maxsize < 2**32:
        return False
    libc, program = _libc(), _filter(machine, os.getpid())
    text = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("@HP", len(program) // 8, ctypes.addressof(text))
    return libc.prctl(22, 2, head, 0, 0) == 0


def _give_up_rights() -> bool:
    """Whether this process has no rights of root any more, but for reading where Landlock lets it.
    """
    if sys.platform != "linux" or platform.machine() not in ARCHITECTURES:
        return False
    libc, side = _libc(), 0 if platform.machine() == "x86_64" else 1
    head = struct.pack("=IiI", CAPABILITIES, 0, 0)
    rights = ctypes.create_string_buffer(24)     # twice: effective, permitted, inheritable
    if libc.syscall(CAPGET[side], head, rights) != 0:
        return False
    kept = struct.unpack("=6I", rights.raw)[1] & READ_SEARCH
    return libc.syscall(CAPSET[side], head, struct.pack("=6I", kept, kept, 0, 0, 0, 0)) == 0


FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn",
             "os.spawn", "os.kill", "os.startfile", "ctypes.", "os.remove", "os.rename", "os.rmdir",
             "os.chmod", "os.chown", "os.truncate", "os.link", "os.symlink", "shutil.", "winreg.")


def _refuse(event: str, arguments: tuple) -> None:
    if event.startswith(FORBIDDEN):
        raise PermissionError(f"{event} is not allowed while answers are graded")
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        raise PermissionError("no file can be written while answers are graded")


def protections() -> dict[str, bool]:
    """What this system can take from a process for good, by name."""
    known = sys.platform == "linux" and platform.machine() in ARCHITECTURES and sys.maxsize > 2**32
    calls = known and os.path.exists("/proc/sys/kernel/seccomp")
    return {"network": calls, "processes": calls, "files": landlock_version() >= 1,
            "memory": sys.platform == "linux"}


def confine(*, readable: list[str], writable: list[str], memory: int, cpu_seconds: int,
            file_bytes: int) -> dict[str, bool]:
    """Give up what a graded answer does not need, for good, before any foreign code is read:
    all files and folders but those that are ``readable`` or ``writable``, and more than so many
    bytes of data, seconds, and bytes of one file. Returns which `protections` hold.
    """
    held = dict.fromkeys(("network", "processes", "files", "memory"), False)
    held["memory"] = _limits(memory, cpu_seconds, file_bytes)
    if sys.platform == "linux":
        libc = _libc()
        libc.prctl(1, 9, 0, 0, 0)                # a grader that is killed takes this process along
        # no program can give privileges back; Landlock and seccomp ask for it
        libc.prctl(38, 1, 0, 0, 0)
        held["files"] = _shut_files(readable, writable)
        held["memory"] &= _give_up_rights()      # root could raise its limits again
        held["network"] = held["processes"] = _shut_calls()
    if not all(held.values()):
        sys.addaudithook(_refuse)
    return held
