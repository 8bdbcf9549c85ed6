"""A hub for a class: JupyterHub, with the course as a read-only folder, a copy of the lessons for
each student, and limits that were measured.

`write_hub` makes a folder with everything JupyterHub needs: to try it out on this machine, with
containers by Docker, and, described beside it, on Kubernetes. `draw_passwords` is for who lost one
or comes late, `update_course` brings a newer course, `hub_missing` says what is not installed,
`start_command` how it starts, `room_for` what machine a class needs. Used by ``lessons hub``.
"""

from .accounts import new_accounts, right_password
from .configuring import configure
from .settings import SPAWNERS, Hub, read_hub
from .sizing import Measured, Room, measure, measured, room_for, rule_of, write_measured
from .writing import (draw_passwords, hub_missing, names_from, start_command, update_course,
                      without_password, write_hub)

__all__ = ["SPAWNERS", "Hub", "Measured", "Room", "configure", "draw_passwords", "hub_missing",
           "measure", "measured", "names_from", "new_accounts", "read_hub", "right_password",
           "room_for", "rule_of", "start_command", "update_course", "without_password", "write_hub",
           "write_measured"]
