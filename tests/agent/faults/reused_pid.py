#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""As process 1 of a pid namespace: gives the pid of a dead child to a stranger before the next agent comes.

    reused_pid.py FOLDER CHILD AGENT...     FOLDER has stamps and state/; AGENT... supervises the child "a"
"""
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support/python"))
from waits import Changes, Life, expect, wait_for

FOLDER, CHILD, AGENT = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]


def starts(name):
    """The pids of its starts, oldest first."""
    try:
        lines = (FOLDER / "stamps").read_text().splitlines()
    except FileNotFoundError:
        return []
    return [int(pid) for _, pid, who, _ in map(str.split, lines) if who == name]


def wait_for_starts(process, name, count):
    wait_for(f"start {count} of {name}", lambda: len(starts(name)) == count, Changes(FOLDER), Life(process))
    return starts(name)[-1]


def recorded():
    try:
        return [each["pid"] for each in json.loads((FOLDER / "state/state.json").read_text())["processes"]]
    except FileNotFoundError:
        return []


def main():
    agent = subprocess.Popen(AGENT)
    child = wait_for_starts(agent, "a", 1)
    wait_for("the child is recorded", lambda: child in recorded(), Changes(FOLDER / "state"), Life(agent))
    agent.kill()
    agent.wait()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)  # an orphan is the child of process 1

    Path("/proc/sys/kernel/ns_last_pid").write_text(str(child - 1))
    stranger = subprocess.Popen([CHILD, f"--stamp={FOLDER / 'stamps'}", "--id=stranger"])
    expect(stranger.pid == child, f"the pid {child} was not given again, but {stranger.pid}")
    wait_for_starts(stranger, "stranger", 1)
    agent = subprocess.Popen(AGENT)
    expect(wait_for_starts(agent, "a", 2) != child, "the child has the pid of the stranger")
    agent.terminate()
    agent.wait()
    expect(stranger.poll() is None, "the stranger was killed")
    facts = Path(f"/proc/{child}/status").read_text()
    expect("\nState:\tS" in facts, f"the stranger was hurt: {facts}")


main()
