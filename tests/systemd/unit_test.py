#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Boots a real systemd with the unit file we ship, and takes the agent away from its processes.

    unit_test.py AGENT UNIT_FILE      exit code 77: cannot be tested here; the output says why

Only the paths in ExecStart are replaced; a drop-in adds what a host without other units needs.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIP = 77
PROCESSES = 3
DEADLINE = time.monotonic() + 100  # of all waits together: ctest's limit must not hit before cleanup
POLL_S = 0.05
UNIT = "fdbpack-agent.service"


class Skip(Exception):
    """The reason why nothing can be tested here."""


def wait_for(what, probe):
    """What probe() returns, once it is neither None nor False."""
    while True:
        result = probe()
        if result is not None and result is not False:
            return result
        if time.monotonic() > DEADLINE:
            raise AssertionError(f"waited in vain: {what}")
        time.sleep(POLL_S)


def expect(holds, what):
    if not holds:
        raise AssertionError(what)


def cgroup_root():
    for root in (Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup")):
        if (root / "cgroup.procs").is_file():
            return root
    raise Skip("no cgroup v2 is mounted")


def check_host(paths):
    for path in map(os.path.realpath, paths):
        if path.startswith(("/run/", "/var/lib/", "/var/run/")):
            raise Skip(f"{path}: the systemd of this test has its own /run and /var/lib")
    if os.geteuid() != 0:
        raise Skip("only root may boot a systemd")
    for path in ("/lib/systemd/systemd", "/etc/machine-id"):
        if not Path(path).exists():
            raise Skip(f"no {path}")
    for tool in ("unshare", "nsenter", "setpriv", "pgrep", "systemctl"):
        if not shutil.which(tool):
            raise Skip(f"no {tool}")
    tried = subprocess.run(["unshare", "--cgroup", "--pid", "--fork", "--mount", "--uts", "--ipc", "--mount-proc",
                            "mount", "-t", "cgroup2", "none", "/sys/fs/cgroup"], capture_output=True, text=True)
    if tried.returncode != 0:
        raise Skip(f"no namespaces of our own: {tried.stderr.strip()}")


def derive_unit(agent, shipped, folder):
    text = Path(shipped).read_text()
    for path, ours in {"/usr/bin/fdbpack-agent": agent,
                       "/etc/foundationdb/foundationdb.conf": str(folder / "conf")}.items():
        expect(text.count(path) == 1, f"{shipped} must name {path} once")
        text = text.replace(path, ours)
    return text


class Machine:
    """A systemd that runs our unit; ends, with all that it started, at the end of the `with`."""

    def __init__(self, agent, shipped, folder):
        self.folder = folder
        self.log = folder / "log"
        self.drop_in = folder / "units" / (UNIT + ".d") / "test.conf"
        self.drop_in.parent.mkdir(parents=True)
        self.write_drop_in()
        (folder / "lib").mkdir()
        (folder / "units" / UNIT).write_text(derive_unit(agent, shipped, folder))
        (folder / "units" / "t.target").write_text(f"[Unit]\nDefaultDependencies=no\nWants={UNIT}\n")
        sections = "".join(f"[child.{i}]\n" for i in range(PROCESSES))
        (folder / "conf").write_text(f"[general]\nrestart_delay = 1\n[child]\ncommand = /bin/sleep 1000\n{sections}")
        self.cgroup = cgroup_root() / f"fdbpack-test.{os.getpid()}"

    def write_drop_in(self, more=""):
        self.drop_in.write_text("[Unit]\nDefaultDependencies=no\n[Service]\nLimitCORE=0\n"
                                f"StandardOutput=append:{self.log}\nStandardError=append:{self.log}\n{more}")

    def __enter__(self):
        try:
            self.cgroup.mkdir()
        except OSError as error:
            raise Skip(f"cgroup v2 cannot be written to: {error}") from error
        try:
            if not (self.cgroup / "cgroup.kill").exists():
                raise Skip("this kernel has no cgroup.kill")
            boot = Path(__file__).parent / "boot"
            with self.log.open("wb") as log:
                self.booted = subprocess.Popen([boot, self.cgroup, self.folder], stdin=subprocess.DEVNULL,
                                               stdout=log, stderr=log)
            self.init = wait_for("systemd starts", self.find_init)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if (self.cgroup / "cgroup.kill").exists():
            (self.cgroup / "cgroup.kill").write_text("1")
        if hasattr(self, "booted"):
            self.booted.wait(10)
        until = time.monotonic() + 10
        while "populated 1" in (self.cgroup / "cgroup.events").read_text() and time.monotonic() < until:
            time.sleep(POLL_S)
        for folder, _, _ in os.walk(self.cgroup, topdown=False):
            os.rmdir(folder)

    def find_init(self):
        expect(self.booted.poll() is None, "systemd ended at once")
        found = subprocess.run(["pgrep", "-P", str(self.booted.pid), "-x", "systemd"], capture_output=True, text=True)
        return found.stdout.strip() or None

    def run(self, *command):
        return subprocess.run(["nsenter", "-t", self.init, "-a", *command], capture_output=True, text=True,
                              timeout=max(1, DEADLINE - time.monotonic()))

    def show(self, name):
        return self.run("systemctl", "show", UNIT, "--value", "-p", name).stdout.strip()

    def systemctl(self, *arguments):
        done = self.run("systemctl", *arguments)
        expect(done.returncode == 0, f"systemctl {' '.join(arguments)}: {done.stderr}")

    def agent(self):
        """The pid of the agent, or None while it is not up."""
        return self.show("MainPID") if self.show("ActiveState") == "active" else None

    def wait_for_agent_after(self, before):
        def probe():
            pid = self.agent()
            return pid if pid and pid not in ("0", before) else None
        return wait_for(f"an agent after {before}", probe)

    def processes(self, agent):
        """The processes as this agent tells them, once all of them run."""
        def probe():
            try:
                status = json.loads((self.folder / "lib/fdbpack/status.json").read_text())
            except FileNotFoundError:
                return None
            found = status["processes"]
            runs = str(status["agent"]["pid"]) == agent and len(found) == PROCESSES
            return found if runs and all(each.get("pid") for each in found.values()) else None
        return wait_for(f"agent {agent} tells of {PROCESSES} processes", probe)

    def forget_state(self, agent):
        """Removes the state file behind the agent's back, which then cannot write it again: it is stopped."""
        state = self.folder / "lib/fdbpack/state.json"
        wait_for("the state is written", state.exists)
        self.run("kill", "-STOP", agent)
        wait_for("the agent stops", lambda: self.run("ps", "-o", "stat=", "-p", agent).stdout.startswith("T"))
        state.unlink()

    def wait_for_stored(self):
        wait_for("a pidfd of each process is stored", lambda: self.show("NFileDescriptorStore") == str(PROCESSES))


def pids(processes):
    return {name: each["pid"] for name, each in processes.items()}


def expect_kept(machine, agent, before, when):
    now = machine.processes(agent)
    expect(pids(now) == before, f"{when}: other processes: {before} -> {pids(now)}")
    for name, each in now.items():
        expect(each["adopted"] is True and each["restarts"] == 0, f"{when}: {name}: {each}")
    machine.wait_for_stored()
    sleepers = machine.run("pgrep", "-x", "sleep").stdout.split()
    expect(sorted(sleepers) == sorted(map(str, before.values())), f"{when}: running: {sleepers}, not {before}")
    print(f"{when}: kept")


def test(machine):
    agent = machine.wait_for_agent_after("0")
    first = pids(machine.processes(agent))
    wait_for("a status text", lambda: machine.show("StatusText"))
    machine.wait_for_stored()

    # More often than systemd's usual limit of five starts in ten seconds.
    for i in range(7):
        if i % 3 == 2:
            machine.forget_state(agent)
        machine.run("kill", "-KILL", agent)
        agent = machine.wait_for_agent_after(agent)
        expect_kept(machine, agent, first, f"kill {i}")

    machine.write_drop_in("WatchdogSec=2\n")
    machine.systemctl("daemon-reload")
    machine.systemctl("restart", UNIT)
    agent = machine.wait_for_agent_after(agent)
    expect_kept(machine, agent, first, "systemctl restart")

    machine.systemctl("stop", UNIT)  # the stored descriptors go, the processes stay
    machine.systemctl("start", UNIT)
    agent = machine.wait_for_agent_after(agent)
    expect_kept(machine, agent, first, "systemctl stop, start")

    def fed_at():
        return int(machine.show("WatchdogTimestampMonotonic"))
    restarts, start = machine.show("NRestarts"), fed_at()
    wait_for("the watchdog is fed for 5 s", lambda: fed_at() >= start + 5_000_000)
    expect(machine.show("NRestarts") == restarts and machine.agent() == agent, "the watchdog was not fed in time")

    machine.run("kill", "-STOP", agent)
    after = machine.wait_for_agent_after(agent)
    expect(int(machine.show("NRestarts")) == int(restarts) + 1, "restarted more than once by the watchdog")
    expect_kept(machine, after, first, "watchdog")


def main():
    agent, shipped = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            check_host([agent, name])
            with Machine(agent, shipped, folder) as machine:
                test(machine)
        except Skip as reason:
            print(f"skipped: {reason}")
            return SKIP
        except (AssertionError, subprocess.TimeoutExpired) as failure:
            log = (folder / "log").read_text(errors="replace") if (folder / "log").exists() else ""
            print(f"FAILED: {failure}\n---- log (its end)\n{log[-8000:]}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
