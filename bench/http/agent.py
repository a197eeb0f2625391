# SPDX-License-Identifier: Apache-2.0
"""The real agent with N processes, and nginx with the same bytes, for bench/http/run."""
import http.client
import json
import os
import socket
import subprocess
import time
from pathlib import Path


class Agent:
    """fdbpack-agent monitor with `count` processes that sleep, on a port of its own."""

    def __init__(self, program, folder, count, tls=(), listens=True):
        self.folder = Path(folder)
        self.folder.mkdir()
        conf = self.folder / "foundationdb.conf"
        sections = "".join(f"[fdbserver.{4500 + 2 * i}]\n" for i in range(count))
        conf.write_text(f"[general]\nrestart_delay = 60\n[fdbserver]\ncommand = {self.child()}\n"
                        f"public_address = 127.0.0.1:$ID\nlisten_address = public\ndatadir = {folder}/data/$ID\n{sections}")
        for i in range(count):
            (self.folder / "data" / str(4500 + 2 * i)).mkdir(parents=True)
        self.process = subprocess.Popen(
            [program, "monitor", "--conffile", conf, "--lockfile", self.folder / "lock", "--statedir", self.folder / "state",
             *(("--listen", "127.0.0.1:0") if listens else ("--listen", "off", "--socket", "off")),
             "--http-limit", "connections_per_peer=256", *tls],
            stdout=subprocess.DEVNULL, stderr=open(self.folder / "log", "w"))
        self.pid = self.process.pid
        self.listens = listens
        self.port = self.wait(count)

    def child(self):
        """A program that does nothing and takes any argument."""
        path = self.folder / "child"
        path.write_text("#!/bin/sh\nexec sleep 100000\n")
        path.chmod(0o755)
        return path

    def status(self):
        try:
            page = json.loads((self.folder / "state" / "status.json").read_text())
        except (OSError, ValueError):
            return {}
        return page if page["agent"]["pid"] == self.pid else {}

    def wait(self, count):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            page = self.status()
            ports = [int(place["place"].rsplit(":", 1)[1]) for place in page.get("http", [])
                     if place["open"] and place["place"].startswith("http://")]
            running = sum(one["state"] == "running" for one in page.get("processes", {}).values())
            if (ports or not self.listens) and running == count and page["storage"]["measured_at"]:
                return ports[0] if ports else 0
            time.sleep(0.05)
        raise RuntimeError("the agent did not come up: " + (self.folder / "log").read_text()[-2000:])

    def body(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", "/v1/status")
        return connection.getresponse().read()

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=60)


def memory_kib(pid):
    """PSS of a process."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def nginx_string(body):
    """A body as a string of nginx's configuration, where `$` begins a variable."""
    text = body.decode().replace("\\", "\\\\").replace('"', '\\"').replace("$", "${dollar}")
    return f'"{text}"'


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
