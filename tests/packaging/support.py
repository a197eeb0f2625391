# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share: an installed agent and its processes."""
import json
import os
import signal
import subprocess
from pathlib import Path

from checks import run
from waits import Changes, Life, expect, wait_for


def install(build, folder):
    """The programs and all else as they lie on a host, below `folder`."""
    run("cmake", "--install", build, "--prefix", "/usr", env={**os.environ, "DESTDIR": str(folder)})


def status(state):
    try:
        return json.loads((Path(state) / "status.json").read_text())
    except FileNotFoundError:
        return {}


def pid_of(state, section):
    return status(state).get("processes", {}).get(section, {}).get("pid")


def wait_for_process(agent, state, section, but=None):
    """The pid of the section's process, once it is another than `but`; `agent` must not end meanwhile."""
    def probe():
        pid = pid_of(state, section)
        return pid if pid != but else None
    return wait_for(f"{section} runs, not as {but}", probe, Changes(state), Life(agent))


def check_supervision(command, state, section, **more):
    """Starts the agent, takes its process away, and ends it: a new process, and a clean end."""
    with subprocess.Popen([str(each) for each in command], stdin=subprocess.DEVNULL, **more) as agent:
        try:
            first = wait_for_process(agent, state, section)
            os.kill(first, signal.SIGKILL)
            wait_for_process(agent, state, section, but=first)
            agent.send_signal(signal.SIGTERM)
            code = agent.wait(60)
        finally:
            agent.kill()
    expect(code == 0, f"the agent ended with {code}")
    expect(pid_of(state, section) is None, "a process is left")
