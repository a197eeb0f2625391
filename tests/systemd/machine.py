# SPDX-License-Identifier: Apache-2.0
"""A real systemd, with its journal, in namespaces of its own: it runs the unit we ship.

Of the unit only the path of the program is replaced, as an install to /usr/local does it; a drop-in adds what a host
without other units needs.
"""
import json
import os
import shutil
import socket
import struct
import subprocess
import time
from pathlib import Path

from checks import Skip, need
from waits import DEADLINE, CgroupState, Changes, Life, Message, Output, expect, wait_for

UNIT = "fdbpack-agent.service"
PROGRAM = "/usr/bin/fdbpack-agent"

# The journal's own units ask for rights that a test machine may not have.
JOURNAL_UNITS = {
    "systemd-journald.socket": """[Unit]
DefaultDependencies=no
[Socket]
ListenDatagram=/run/systemd/journal/socket
ListenStream=/run/systemd/journal/stdout
PassCredentials=yes
ReceiveBuffer=8M
SocketMode=0666
Timestamping=us
""",
    "systemd-journald.service": """[Unit]
DefaultDependencies=no
Requires=systemd-journald.socket
After=systemd-journald.socket
[Service]
Type=notify
ExecStart=/lib/systemd/systemd-journald
Restart=always
RestartSec=0
StandardOutput=null
RuntimeDirectory=systemd/journal
RuntimeDirectoryPreserve=yes
"""}


def cgroup_root():
    for root in (Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup")):
        if (root / "cgroup.procs").is_file():
            return root
    raise Skip("no cgroup v2 is mounted")


def check_host():
    if os.geteuid() != 0:
        raise Skip("only root may boot a systemd")
    for path in ("/lib/systemd/systemd", "/etc/machine-id"):
        if not Path(path).exists():
            raise Skip(f"no {path}")
    need("unshare", "nsenter", "setpriv", "pgrep", "systemctl", "systemd-sysusers", "systemd-tmpfiles")
    tried = subprocess.run(["unshare", "--cgroup", "--pid", "--fork", "--mount", "--uts", "--ipc", "--mount-proc",
                            "mount", "-t", "cgroup2", "none", "/sys/fs/cgroup"], capture_output=True, text=True)
    if tried.returncode != 0:
        raise Skip(f"no namespaces of our own: {tried.stderr.strip()}")


def derive_unit(shipped, program):
    text = shipped.read_text()
    expect(text.count(PROGRAM) == 1, f"{shipped} must name {PROGRAM} once")
    return text.replace(PROGRAM, program)


class Machine:
    """Ends, with all that it started, at the end of the `with`."""

    def __init__(self, agent, source, folder, conf, sections):
        self.folder, self.sections, self.state = folder, sections, folder / "lib/fdbpack"
        self.drop_in = folder / "units" / (UNIT + ".d") / "test.conf"
        for part in ("etc/foundationdb", "lib", "log", "local/bin", "units"):
            (folder / part).mkdir(parents=True)
        self.drop_in.parent.mkdir()
        self.write_drop_in()
        (folder / "units" / UNIT).write_text(
            derive_unit(source / "systemd" / UNIT, "/usr/local/bin/fdbpack-agent"))
        (folder / "units" / "t.target").write_text("[Unit]\nDefaultDependencies=no\nWants=systemd-journald.service\n")
        for name, text in JOURNAL_UNITS.items():
            (folder / "units" / name).write_text(text)
        (folder / "etc/systemd").mkdir()
        (folder / "etc/systemd/journald.conf").write_text("[Journal]\nStorage=volatile\nReadKMsg=no\nRateLimitBurst=0\n")
        shutil.copy2(agent, folder / "local/bin/fdbpack-agent")
        for name in ("passwd", "group", "shadow", "gshadow"):
            if Path("/etc", name).exists():
                shutil.copy2(Path("/etc", name), folder / "etc" / name)
        made = subprocess.run(["systemd-sysusers", f"--root={folder}", source / "packaging/sysusers.d/fdbpack.conf"],
                              capture_output=True, text=True)
        expect(made.returncode == 0, f"systemd-sysusers: {made.stderr}")
        (folder / "tmpfiles.conf").write_text((source / "packaging/tmpfiles.d/fdbpack.conf").read_text())
        self.conf = folder / "etc/foundationdb/foundationdb.conf"
        self.conf.write_text(conf)
        self.cgroup = cgroup_root() / f"fdbpack-test.{os.getpid()}"

    def write_drop_in(self, more=""):
        # Sanitizers look for leaks with ptrace, which the sandbox forbids.
        self.drop_in.write_text("[Unit]\nDefaultDependencies=no\n[Service]\nLimitCORE=0\n"
                                f"Environment=ASAN_OPTIONS=detect_leaks=0\n{more}")

    def __enter__(self):
        try:
            self.cgroup.mkdir()
        except OSError as error:
            raise Skip(f"cgroup v2 cannot be written to: {error}") from error
        try:
            if not (self.cgroup / "cgroup.kill").exists():
                raise Skip("this kernel has no cgroup.kill")
            self.init = self.boot()
            self.unit_log = subprocess.Popen(
                ["nsenter", "-t", self.init, "-a", "journalctl", "--follow", "--no-tail", "--output=cat", f"UNIT={UNIT}"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            made = self.run("systemd-tmpfiles", "--create", "/mnt/tmpfiles.conf")
            expect(made.returncode == 0, f"systemd-tmpfiles: {made.stderr}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if (self.cgroup / "cgroup.kill").exists():
            (self.cgroup / "cgroup.kill").write_text("1")
        for process in ("booted", "unit_log"):
            if hasattr(self, process):
                getattr(self, process).wait(10)
        CgroupState(self.cgroup).wait_for("populated 0", until=time.monotonic() + 10)
        for folder, _, _ in os.walk(self.cgroup, topdown=False):
            os.rmdir(folder)

    def boot(self):
        """The pid of systemd, which tells that it is up as a service would."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            listener.setblocking(False)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            listener.bind(str(self.folder / "notify"))
            with (self.folder / "boot.log").open("wb") as log:
                self.booted = subprocess.Popen([Path(__file__).parent / "boot", self.cgroup, self.folder],
                                               stdin=subprocess.DEVNULL, stdout=log, stderr=log)

            def sender_of_ready():
                try:
                    text, credentials, _, _ = listener.recvmsg(4096, socket.CMSG_SPACE(struct.calcsize("3i")))
                except BlockingIOError:
                    return None
                return str(struct.unpack("3i", credentials[0][2])[0]) if b"READY=1" in text.split(b"\n") else None
            return wait_for("systemd is up", sender_of_ready, Message(listener), Life(self.booted))

    def wait_for(self, what, probe):
        """Looks again whenever systemd tells something about the unit: it does at each change, with its debug level."""
        return wait_for(what, probe, Output(self.unit_log))

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
        return self.wait_for(f"an agent after {before}", probe)

    def processes(self, agent):
        """The processes as this agent tells them, once all of them run."""
        def probe():
            try:
                status = json.loads((self.state / "status.json").read_text())
            except FileNotFoundError:
                return None
            found = status["processes"]
            runs = str(status["agent"]["pid"]) == agent and len(found) == len(self.sections)
            return found if runs and all(each.get("pid") for each in found.values()) else None
        return wait_for(f"agent {agent} tells of {len(self.sections)} processes", probe, Changes(self.state))

    def kill_without_state(self, agent):
        """Removes the state file behind the agent's back, which is frozen and cannot write it again before it dies."""
        cgroup = self.cgroup / self.show("ControlGroup").lstrip("/")
        wait_for("the state is written", (self.state / "state.json").exists, Changes(self.state))
        (cgroup / "cgroup.freeze").write_text("1")
        CgroupState(cgroup).wait_for("frozen 1")
        (self.state / "state.json").unlink()
        self.run("kill", "-KILL", agent)
        (cgroup / "cgroup.freeze").write_text("0")

    def wait_for_stored(self):
        self.wait_for("a pidfd of each process is stored",
                      lambda: self.show("NFileDescriptorStore") == str(len(self.sections)))

    def environment(self, pid):
        """What the process was started with."""
        text = self.run("cat", f"/proc/{pid}/environ").stdout
        return dict(each.split("=", 1) for each in text.split("\0") if "=" in each)

    def journal(self, *matches):
        """Entries as dictionaries, oldest first."""
        found = self.run("journalctl", "--no-pager", "--all", "--output=json", *matches).stdout
        return [json.loads(line) for line in found.splitlines()]

    def wait_for_notifications(self, agent, since, wanted):
        """Until the agent has sent these, in this order; `since` is a number of journal entries."""
        def probe():
            sent = [entry["MESSAGE"] for entry in self.journal("_PID=1")[since:]]
            sent = [text for text in sent if f"Got notification message from PID {agent} (" in text]
            for each in wanted:
                while sent and each not in sent[0]:
                    sent.pop(0)
                if not sent:
                    return None
            return True
        self.wait_for(f"notifications {wanted}", probe)

    def last_words(self):
        if not hasattr(self, "init"):
            return (self.folder / "boot.log").read_text(errors="replace")
        noise = ("Sent message", "Got message", "varlink", "Bus ")
        lines = [f"{entry.get('_COMM')}[{entry.get('_PID')}]: {entry['MESSAGE']}" for entry in self.journal()
                 if not str(entry["MESSAGE"]).startswith(noise)]
        return "\n".join(lines[-60:])
