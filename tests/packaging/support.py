# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share."""
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

DEADLINE = time.monotonic() + 100  # of all waits together: ctest's limit must not hit before cleanup
POLL_S = 0.02


class Skip(Exception):
    """The reason why nothing can be tested here."""


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Skip(f"no {tool}")


def expect(holds, what):
    if not holds:
        raise AssertionError(what)


def run(*command, **more):
    """Its output, both streams; anything but exit code 0 is a failure."""
    done = subprocess.run([str(each) for each in command], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=90, **more)
    expect(done.returncode == 0, f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def wait_for(what, probe):
    """What probe() returns, once it is neither None nor False."""
    while True:
        result = probe()
        if result is not None and result is not False:
            return result
        expect(time.monotonic() < DEADLINE, f"waited in vain: {what}")
        time.sleep(POLL_S)


def install(build, folder):
    """The programs and all else as they lie on a host, below `folder`."""
    run("cmake", "--install", build, "--prefix", "/usr", env={**os.environ, "DESTDIR": str(folder)})


def status(state):
    try:
        return json.loads((Path(state) / "status.json").read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return {}


def pid_of(state, section):
    return status(state).get("processes", {}).get(section, {}).get("pid")


def check_supervision(command, state, section, **more):
    """Starts the agent, takes its process away, and ends it: a new process, and a clean end."""
    with subprocess.Popen([str(each) for each in command], stdin=subprocess.DEVNULL, **more) as agent:
        try:
            first = wait_for("a process runs", lambda: pid_of(state, section))
            os.kill(first, signal.SIGKILL)
            wait_for("another process runs", lambda: pid_of(state, section) not in (None, first))
            agent.send_signal(signal.SIGTERM)
            code = agent.wait(60)
        finally:
            agent.kill()
    expect(code == 0, f"the agent ended with {code}")
    expect(pid_of(state, section) is None, "a process is left")
