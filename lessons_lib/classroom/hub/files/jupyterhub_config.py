"""Read by JupyterHub. The settings lie in hub.json beside this file.

Lines after the call change whatever you want to have otherwise.
"""

from pathlib import Path

from lessons_lib.classroom.hub import configure

c = get_config()  # noqa: F821 (JupyterHub brings this function)
configure(c, Path(__file__).parent)
