"""Python reads this at its start, in every process of the tests in a browser: only this machine is
reached, and each other try is written down.

The file that LESSONS_TEST_CALLS names gets a line for each try. An audit hook cannot be taken off
again, whatever the process does.
"""

import os
import sys

# the name is the first argument
LOOK_UPS = ("socket.getaddrinfo", "socket.gethostbyname")
# the address is the last
CONNECTIONS = ("socket.connect", "socket.sendto", "socket.sendmsg")
HERE = ("127.", "localhost", "::1", "0.0.0.0", "::ffff:127.")


def _host(event: str, arguments: tuple) -> str:
    target = arguments[0] if event in LOOK_UPS else arguments[-1]
    # a path, for a socket of this machine
    target = target[0] if isinstance(target, tuple) else "" if event in CONNECTIONS else target
    return target.decode("utf-8", "replace") if isinstance(target, bytes) else str(target or "")


def _local_only(event: str, arguments: tuple) -> None:
    if event not in LOOK_UPS and event not in CONNECTIONS:
        return
    host = _host(event, arguments)
    if host and not host.startswith(HERE):
        descriptor = os.open(os.environ["LESSONS_TEST_CALLS"],
                             os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, f"{event} {host}\n".encode())
        os.close(descriptor)
        raise OSError(f"a process of the test tried to reach {host}; tests are offline")


if os.environ.get("LESSONS_TEST_CALLS"):
    sys.addaudithook(_local_only)
