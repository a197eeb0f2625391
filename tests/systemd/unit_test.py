#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Boots a real systemd with the unit file we ship, and takes the agent away from its processes.

    unit_test.py AGENT SOURCE_DIR      exit code 77: cannot be tested here; the output says why

With a real FoundationDB (FDB_BIN_DIR or PATH) one of the processes is an fdbserver with a database in it, so that
the sandbox is shown to suit it.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support/python"))
from checks import SKIP, Skip, free_port
from machine import UNIT, Machine, check_host
from waits import Changes, expect, wait_for

SLEEPERS = ["child.0", "child.1", "child.2"]
HIDDEN = ("/tmp/", "/var/tmp/", "/home/", "/root/", "/run/", "/usr/local/", "/var/lib/", "/var/log/")


def fdb_programs():
    """Paths of fdbserver and fdbcli, or the reason why there are none."""
    path = os.environ.get("FDB_BIN_DIR") or os.environ.get("PATH")
    found = [shutil.which(name, path=path) for name in ("fdbserver", "fdbcli")]
    if None in found:
        return None, "there is no fdbserver and fdbcli in FDB_BIN_DIR or PATH"
    found = [os.path.realpath(each) for each in found]
    if found[0].startswith(HIDDEN):
        return None, f"{found[0]} cannot be seen from inside the sandbox"
    return found, None


def conf_text(programs, port):
    text = "[fdbmonitor]\nuser = foundationdb\ngroup = foundationdb\n[general]\nrestart_delay = 1\n"
    text += "[child]\ncommand = /bin/sleep 1000\n" + "".join(f"[{each}]\n" for each in SLEEPERS)
    if programs:
        text += (f"[fdbserver.{port}]\ncommand = {programs[0]}\ncluster-file = /etc/foundationdb/fdb.cluster\n"
                 "public-address = 127.0.0.1:$ID\nlisten-address = public\n"
                 "datadir = /var/lib/foundationdb/data/$ID\nlogdir = /var/log/foundationdb\n")
    return text


def pids(processes):
    return {name: each["pid"] for name, each in processes.items()}


def expect_kept(machine, agent, before, when, handed=True):
    now = machine.processes(agent)
    expect(pids(now) == before, f"{when}: other processes: {before} -> {pids(now)}")
    for name, each in now.items():
        expect(each["adopted"] is True and each["restarts"] == 0, f"{when}: {name}: {each}")
    count = machine.environment(agent).get("LISTEN_FDS", "0")
    expect(count == (str(len(before)) if handed else "0"), f"{when}: {count} descriptors came from the store")
    machine.wait_for_stored()
    sleepers = machine.run("pgrep", "-x", "sleep").stdout.split()
    wanted = [str(before[name]) for name in SLEEPERS]
    expect(sorted(sleepers) == sorted(wanted), f"{when}: running: {sleepers}, not {wanted}")
    print(f"{when}: kept")


def expect_sandboxed(machine, process):
    status = dict(line.split(":\t", 1) for line in
                  machine.run("cat", f"/proc/{process}/status").stdout.splitlines() if ":\t" in line)
    expect(status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", f"not in the sandbox: {status}")
    expect(int(status["CapBnd"], 16) == 0 and int(status["CapEff"], 16) == 0, f"has capabilities: {status}")
    expect("0" not in status["Uid"].split(), f"runs as root: {status}")


def traces(machine):
    return "".join(each.read_text(errors="replace") for each in (machine.folder / "log/foundationdb").glob("*.xml"))


def complaints(machine):
    return [line for line in traces(machine).splitlines() if 'Severity="30"' in line or 'Severity="40"' in line]


def check_fdbserver(machine, fdbcli):
    """A database can be made and used, and fdbserver finds nothing missing in the sandbox."""
    def ask(command):
        return machine.run(fdbcli, "-C", "/etc/foundationdb/fdb.cluster", "--timeout", "30", "--exec", command)
    made = ask("configure new single ssd")
    expect(made.returncode == 0, f"no database: {made.stdout}{made.stderr}")
    ask("writemode on; set key value")
    expect("value" in ask("get key").stdout, "what was written cannot be read")

    wait_for("fdbserver measures its machine", lambda: 'Type="MachineMetrics"' in traces(machine),
             Changes(machine.folder / "log/foundationdb"))
    bad = complaints(machine)
    expect(not bad, f"fdbserver is not content: {bad[:5]}")
    print("fdbserver in the sandbox: a database was made and used")


def check_journal(machine):
    """Lines come with fields, so that those of one process can be asked for."""
    entries = machine.journal(f"_SYSTEMD_UNIT={UNIT}", "FDBPACK_PROCESS=" + SLEEPERS[1])
    expect(entries, "the journal has no lines about a process")
    expect(entries[0]["MESSAGE"].startswith(SLEEPERS[1] + ": Launching"), f"in the journal: {entries[0]}")
    expect(entries[0]["PRIORITY"] == "6" and entries[0]["SYSLOG_IDENTIFIER"] == "fdbpack-agent", f"fields: {entries[0]}")
    print("the journal has its fields")


def test_reload(machine, agent):
    since = len(machine.journal("_PID=1"))
    machine.systemctl("reload", UNIT)
    machine.wait_for_notifications(agent, since, ["RELOADING=1, MONOTONIC_USEC=", "READY=1"])
    machine.wait_for("the unit is active again", lambda: machine.agent() == agent)
    print("systemctl reload: RELOADING, READY")


def test_watchdog(machine, agent, first):
    def fed_at():
        return int(machine.show("WatchdogTimestampMonotonic"))
    restarts, start = machine.show("NRestarts"), fed_at()
    machine.wait_for("the watchdog is fed for 5 s", lambda: fed_at() >= start + 5_000_000)
    expect(machine.show("NRestarts") == restarts and machine.agent() == agent, "the watchdog was not fed in time")

    machine.run("kill", "-STOP", agent)
    after = machine.wait_for_agent_after(agent)
    expect(int(machine.show("NRestarts")) == int(restarts) + 1, "restarted more than once by the watchdog")
    expect_kept(machine, after, first, "watchdog")


def test(machine, programs):
    machine.systemctl("start", UNIT)
    agent = machine.wait_for_agent_after("0")
    first = pids(machine.processes(agent))
    machine.wait_for("a status text", lambda: machine.show("StatusText") or None)
    machine.wait_for_stored()
    expect_sandboxed(machine, agent)
    expect_sandboxed(machine, first[SLEEPERS[0]])
    check_journal(machine)
    if programs:
        check_fdbserver(machine, programs[1])

    # More often than systemd's usual limit of five starts in ten seconds.
    for i in range(7):
        if i % 3 == 2:
            machine.kill_without_state(agent)
        else:
            machine.run("kill", "-KILL", agent)
        agent = machine.wait_for_agent_after(agent)
        expect_kept(machine, agent, first, f"kill {i}")
    test_reload(machine, agent)

    machine.write_drop_in("WatchdogSec=2\n")
    machine.systemctl("daemon-reload")
    machine.systemctl("restart", UNIT)
    agent = machine.wait_for_agent_after(agent)
    expect_kept(machine, agent, first, "systemctl restart")

    since = len(machine.journal("_PID=1"))
    machine.systemctl("stop", UNIT)  # the stored descriptors go, the processes stay
    machine.wait_for_notifications(agent, since, ["STOPPING=1"])
    machine.systemctl("start", UNIT)
    agent = machine.wait_for_agent_after(agent)
    expect_kept(machine, agent, first, "systemctl stop, start", handed=False)
    test_watchdog(machine, agent, first)

    # How the manual says that the processes are stopped, too.
    machine.systemctl("stop", UNIT)
    machine.systemctl("kill", "--kill-who=all", "--signal=SIGTERM", UNIT)
    machine.wait_for("the processes end", lambda: not machine.run("pgrep", "-x", "sleep").stdout)


def main():
    agent, source = sys.argv[1:]
    programs, missing = fdb_programs()
    print(missing + ": sleepers only" if missing else f"with {programs[0]}")
    port = free_port()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            check_host()
            sections = SLEEPERS + ([f"fdbserver.{port}"] if programs else [])
            machine = Machine(agent, Path(source), folder, conf_text(programs, port), sections)
            (folder / "etc/foundationdb/fdb.cluster").write_text(f"test:test@127.0.0.1:{port}\n")
            os.chmod(folder / "etc/foundationdb/fdb.cluster", 0o666)
            with machine:
                try:
                    test(machine, programs)
                except (AssertionError, subprocess.TimeoutExpired) as failure:
                    print(f"FAILED: {failure}\n---- the end of the journal\n{machine.last_words()}")
                    print("---- fdbserver's complaints\n" + "\n".join(complaints(machine)[:20]))
                    return 1
        except Skip as reason:
            print(f"skipped: {reason}")
            return SKIP
    return 0


if __name__ == "__main__":
    sys.exit(main())
