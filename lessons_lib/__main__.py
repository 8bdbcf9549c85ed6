"""``python -m lessons_lib …`` and ``lessons …``: set up if need be, then run the command.

Until the environment stands, only the standard library is imported. Taught by nobody, used by
everybody.
"""

from __future__ import annotations

import sys

from . import bootstrap


def main() -> int:
    """Run one command and return its exit status."""
    try:
        bootstrap.check_python()
        if bootstrap.uses_this_python():
            bootstrap.check_versions()
        elif not bootstrap.in_own_venv():
            python = bootstrap.set_up()
            return bootstrap.hand_over([str(python), "-m", "lessons_lib", *sys.argv[1:]])
    except bootstrap.SetupFailed as error:
        print(f"lessons: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nlessons: stopped. Run the same command again to go on.", file=sys.stderr)
        return 130
    from .cli import main as command_line

    return command_line()


if __name__ == "__main__":
    raise SystemExit(main())
