#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the root of the container image, and runs it as a container runtime would.

    container_test.py run|dockerfile|manifests BUILD_DIR SOURCE_DIR     exit code 77: cannot be tested here

The agent is process 1 of its namespace, the root is read-only, the user is any number without an account, and there
are no capabilities. With a real FoundationDB (FDB_BIN_DIR or PATH) one of the processes is an fdbserver.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support/python"))
from checks import Skip, free_port, need, run, run_part
from manifests import check_manifests
from support import pid_of, status, wait_for_process
from waits import Changes, Life, expect, wait_for

UID = 123456
SLEEPER = "child.1"

# Becomes process 1: $1 is the root, $2 and $3 are the volumes, the rest is the command.
ENTER = """
mount --bind "$1" "$1"
mount --bind "$2" "$1/var/dynamic-conf"
mount --bind "$3" "$1/var/fdb/data"
mount -t proc proc "$1/proc"
mount -t tmpfs -o mode=755 tmpfs "$1/dev"
for device in null zero urandom; do touch "$1/dev/$device"; mount --bind "/dev/$device" "$1/dev/$device"; done
mkdir "$1/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm"
mount -o remount,bind,ro "$1"
cd /
root=$1
shift 3
exec setpriv --no-new-privs chroot --userspec=%d:0 --groups= "$root" "$@"
""" % UID


def docker_lines(source):
    text = (source / "packaging/container/Dockerfile").read_text().replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def json_of(lines, word):
    (line,) = [line for line in lines if line.startswith(word + " ")]
    return json.loads(line[len(word):])


def fdb_folder(folder):
    """What goes into the image besides ourselves; whether there is an fdbserver among it."""
    place = folder / "fdb"
    place.mkdir()
    shutil.copy(shutil.which("sleep"), place / "sleep")
    server = shutil.which("fdbserver", path=os.environ.get("FDB_BIN_DIR") or os.environ.get("PATH"))
    if server:
        shutil.copy(server, place / "fdbserver")
    print("with " + server if server else "no fdbserver in FDB_BIN_DIR or PATH: a sleeper only")
    return place, bool(server)


def conf_text(port):
    text = f"[general]\nrestart_delay = 1\n[{SLEEPER}]\ncommand = /usr/bin/sleep 1000\n"
    if port:
        text += (f"[fdbserver.{port}]\ncommand = /usr/bin/fdbserver\ncluster_file = /var/fdb/data/fdb.cluster\n"
                 "public_address = 127.0.0.1:$ID\ndatadir = /var/fdb/data/$ID\nlogdir = /var/fdb/data\n"
                 "knob_disable_posix_kernel_aio = 1\n")
    return text


class Container:
    """The image, running with its own entry point and command; ended at the end of the `with`."""

    def __init__(self, root, conf, data, command):
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--mount", "--uts", "--ipc",
             "--kill-child=KILL", "/bin/sh", "-euc", ENTER, "enter", root, conf, data, *command],
            stdin=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in self.children():  # first: a change of user made them deaf to the death of their parent
            os.kill(int(pid), signal.SIGKILL)
        self.process.kill()
        self.process.wait()

    def children(self, *more):
        found = subprocess.run(["pgrep", "-P", str(self.process.pid), *more], capture_output=True, text=True)
        return found.stdout.split()

    def agent(self):
        """Its pid as seen from outside."""
        (pid,) = self.children("-x", "fdbpack-agent")
        return pid

    def kill(self, pid, name):
        run("nsenter", "-t", self.agent(), "-p", "kill", "-" + name, pid)


def check_confined(agent):
    facts = dict(line.split(":\t", 1) for line in Path(f"/proc/{agent}/status").read_text().splitlines() if ":\t" in line)
    expect(facts["Uid"].split() == [str(UID)] * 4, f"runs as {facts['Uid']}")
    expect(int(facts["CapEff"], 16) == 0 and facts["NoNewPrivs"] == "1", f"has rights: {facts}")
    expect(facts["NSpid"].split()[-1] == "1", f"is not process 1: {facts['NSpid']}")
    root = [line for line in Path(f"/proc/{agent}/mountinfo").read_text().splitlines() if line.split()[4] == "/"]
    expect(root and "ro" in root[0].split()[5].split(","), f"the root can be written to: {root}")


def test_run(build, source, folder):
    need("unshare", "nsenter", "setpriv", "chroot", "pgrep", "ldd")
    if os.geteuid() != 0:
        raise Skip("only root may make namespaces with another user in them")
    tried = subprocess.run(["unshare", "--pid", "--fork", "--mount", "mount", "-t", "proc", "proc", "/proc"],
                           capture_output=True, text=True)
    if tried.returncode != 0:
        raise Skip(f"no namespaces of our own: {tried.stderr.strip()}")
    fdb, has_server = fdb_folder(folder)
    run(source / "packaging/container/make-root", build, folder / "root", fdb)
    port = free_port() if has_server else None
    conf, data = folder / "conf", folder / "data"
    for each in (conf, data):
        each.mkdir()
        os.chown(each, UID, 0)
    (conf / "fdbmonitor.conf").write_text(conf_text(port))
    (data / "fdb.cluster").write_text(f"test:test@127.0.0.1:{port}\n")
    os.chown(data / "fdb.cluster", UID, 0)
    lines = docker_lines(source)
    state = conf / "fdbmonitor.lockfile.state"
    sections = [SLEEPER] + ([f"fdbserver.{port}"] if port else [])
    with Container(folder / "root", conf, data, json_of(lines, "ENTRYPOINT") + json_of(lines, "CMD")) as container:
        before = {each: wait_for_process(container.process, state, each) for each in sections}
        check_confined(container.agent())
        expect(status(state)["agent"]["pid"] == 1, "the agent is not process 1")
        if port:
            wait_for("fdbserver joins its cluster", lambda: "joined" in str(status(state)["processes"][sections[1]]),
                     Changes(state), Life(container.process))
        for each in sections:
            container.kill(before[each], "KILL")
            wait_for_process(container.process, state, each, but=before[each])
        os.kill(int(container.agent()), signal.SIGTERM)
        code = container.process.wait(60)
    expect(code == 0, f"the container ended with {code}")
    expect(not any(pid_of(state, each) for each in sections), "a process is left")


def test_dockerfile(build, source, folder):
    """What cannot be built here without a registry is at least true to the files."""
    lines = docker_lines(source)
    text = "\n".join(lines)
    expect([line for line in lines if line.startswith("FROM ")] == ["FROM debian:12 AS build", "FROM scratch"], text)
    for tool in re.findall(r"(?:tools|packaging)/[\w/-]+", text):
        expect((source / tool).exists(), f"there is no {tool}")
    presets = json.loads((source / "CMakePresets.json").read_text())["configurePresets"]
    expect("release" in [each["name"] for each in presets], "there is no preset release")
    (user,) = re.findall(r"(?m)^USER (\d+):\d+$", text)
    expect(int(user) > 0, "the image runs as root")
    expect(json_of(lines, "ENTRYPOINT") == ["/usr/bin/fdbpack-agent"], "the entry point is not the agent")


def test_manifests(build, source, folder):
    try:
        import yaml
    except ImportError as error:
        raise Skip("no python3-yaml") from error
    check_manifests(yaml, source / "packaging/container/kubernetes", build / "bin/fdbpack-agent", folder)


if __name__ == "__main__":
    sys.exit(run_part({"run": test_run, "dockerfile": test_dockerfile, "manifests": test_manifests}))
