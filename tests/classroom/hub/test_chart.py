"""The values for Kubernetes are ones that the chart takes; where helm and the chart are at hand,
they are rendered."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
from pathlib import Path
from string import Template

import pytest
import yaml
from jsonschema import Draft7Validator

from lessons_lib.classroom.hub import writing
from lessons_lib.classroom.hub.settings import Hub

SCHEMA = json.loads(Path(__file__).with_name("chart_schema.json").read_text("utf-8"))
HUBS = [Hub(students=("ada", "no")),
        Hub(students=("ada",), models=str(Path(__file__).parent), cores=2.5, hours=1)]


def values_of(hub):
    text = Template((writing.FILES / "values.yaml").read_text("utf-8"))
    return text.substitute(writing._chart(hub))


def faults(values):
    return [f"{list(e.path)}: {e.message}" for e in Draft7Validator(SCHEMA).iter_errors(values)]


@pytest.mark.parametrize("hub", HUBS)
def test_the_chart_knows_every_name_and_takes_every_value(hub):
    assert not faults(yaml.safe_load(values_of(hub)))


@pytest.mark.parametrize(("place", "value"), [
    (("singleuser", "defaulturl"), "/lab"), (("singleuser", "memory", "limits"), "1G"),
    (("proxy", "https", "hosts"), "a.org"), (("proxy", "https", "type"), "ours"),
    (("cull", "timeout"), "soon"), (("singleuser", "networkPolicy", "egress_allow_rules"), {}),
    (("hubs",), {}), (("singleuser", "storage", "capacity"), ["1Gi"])])
def test_a_wrong_name_and_a_wrong_value_are_seen(place, value):
    values = yaml.safe_load(values_of(HUBS[0]))
    inner = values
    for name in place[:-1]:
        inner = inner[name]
    before = copy.deepcopy(inner.get(place[-1]))
    inner[place[-1]] = value
    assert before != value and faults(values)


@pytest.mark.skipif(not (shutil.which("helm") and os.environ.get("LESSONS_CHART")),
                    reason="helm is not installed, or LESSONS_CHART names no chart of JupyterHub")
@pytest.mark.parametrize("hub", HUBS)
def test_helm_renders_the_chart(hub, tmp_path):
    (tmp_path / "values.yaml").write_text(values_of(hub), "utf-8")
    done = subprocess.run(["helm", "template", "hub", os.environ["LESSONS_CHART"], "--values",
                           str(tmp_path / "values.yaml")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    kinds = {made["kind"] for made in yaml.safe_load_all(done.stdout) if made}
    assert {"Deployment", "Service", "NetworkPolicy", "Secret"} <= kinds
