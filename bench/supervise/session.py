# SPDX-License-Identifier: Apache-2.0
"""One running supervisor with its children: started, read out of /proc, and torn down whole.

A session has a folder and a FIFO. Every child that starts writes "<ns> <pid>" into the FIFO, so
the harness waits by reading and never polls. Everything that belongs to the session carries its
marker in the environment, and lives in a cgroup of its own where one can be made.
"""
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

CGROUP_ROOTS = ("/sys/fs/cgroup/unified", "/sys/fs/cgroup")
MARKER = "FDBPACK_BENCH_SESSION"


class Timeout(Exception):
    pass


def make_cgroup(name):
    """A cgroup v2 folder with cgroup.kill, or None where none can be made."""
    for root in CGROUP_ROOTS:
        if not os.path.exists(os.path.join(root, "cgroup.controllers")):
            continue
        path = os.path.join(root, name)
        try:
            os.mkdir(path)
        except OSError:
            continue
        if os.path.exists(os.path.join(path, "cgroup.kill")):
            return path
        os.rmdir(path)
    return None


def read(path, binary=False):
    try:
        with open(path, "rb" if binary else "r") as file:
            return file.read()
    except OSError:
        return b"" if binary else ""


class Session:
    _made = 0

    def __init__(self, peer, count, child):
        Session._made += 1
        self.peer = peer
        self.count = count
        self.child = child
        self.mark = f"{os.getpid()}.{Session._made}"
        self.folder = tempfile.mkdtemp(prefix="fdbpack-bench-")
        self.fifo = os.path.join(self.folder, "stamp")
        os.mkfifo(self.fifo)
        # Open for both, so that neither side ever blocks in open() or sees an end of file.
        self.stamps = os.open(self.fifo, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self.unread = b""
        self.cgroup = make_cgroup(f"fdbpack-bench-{self.mark}")
        self.process = None
        self.launched_ns = 0

    def start(self):
        command = self.peer.prepare(self.folder, self.count, self.child)
        environment = dict(os.environ, STAMP=self.fifo, **self.peer.environment())
        environment[MARKER] = self.mark
        clock_read, clock_write = os.pipe()
        procs = os.path.join(self.cgroup, "cgroup.procs") if self.cgroup else None

        def enter():
            # Moving into the cgroup takes milliseconds, so the clock is read behind it.
            if procs:
                with open(procs, "w") as file:
                    file.write("0")
            os.write(clock_write, str(time.monotonic_ns()).encode())

        with open(os.path.join(self.folder, "output"), "wb") as output:
            self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                                            stdout=output, stderr=output, preexec_fn=enter,
                                            start_new_session=True, cwd=self.folder)
        self.launched_ns = int(os.read(clock_read, 64))
        os.close(clock_read)
        os.close(clock_write)

    def next_stamps(self, count, seconds):
        """The next `count` starts as (ns, pid)."""
        deadline = time.monotonic() + seconds
        found = []
        while len(found) < count:
            lines = self.unread.split(b"\n")
            self.unread = lines.pop()
            taken, left = lines[:count - len(found)], lines[count - len(found):]
            found += [tuple(int(word) for word in line.split()) for line in taken]
            self.unread = b"".join(line + b"\n" for line in left) + self.unread
            if len(found) == count:
                break
            rest = deadline - time.monotonic()
            if rest <= 0 or not select.select([self.stamps], [], [], rest)[0]:
                raise Timeout(f"{self.peer.name}: {len(found)} of {count} children started within "
                              f"{seconds} s; its output:\n{self.output()[-2000:]}")
            self.unread += os.read(self.stamps, 1 << 16)
        return found

    def output(self):
        return read(os.path.join(self.folder, "output"))

    def members(self):
        """All processes of this session, children included."""
        if self.cgroup:
            return [int(pid) for pid in read(os.path.join(self.cgroup, "cgroup.procs")).split()]
        wanted = f"{MARKER}={self.mark}".encode()
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and
                wanted in read(f"/proc/{name}/environ", binary=True).split(b"\0")]

    def supervisors(self):
        """Its processes without the children."""
        found = []
        for pid in self.members():
            try:
                if os.readlink(f"/proc/{pid}/exe") != os.path.realpath(self.child):
                    found.append(pid)
            except OSError:
                continue
        return found

    def pss_kb(self):
        total = 0
        for pid in self.supervisors():
            for line in read(f"/proc/{pid}/smaps_rollup").splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
        return total

    def activity(self):
        """(CPU ns, voluntary context switches) of all supervisor threads so far."""
        cpu = switches = 0
        for pid in self.supervisors():
            for task in os.listdir(f"/proc/{pid}/task"):
                base = f"/proc/{pid}/task/{task}"
                schedstat = read(f"{base}/schedstat").split()
                cpu += int(schedstat[0]) if schedstat else 0
                for line in read(f"{base}/status").splitlines():
                    if line.startswith("voluntary_ctxt_switches"):
                        switches += int(line.split()[1])
        return cpu, switches

    def stop(self):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            members = self.members()
            if not members:
                break
            if self.cgroup:
                with open(os.path.join(self.cgroup, "cgroup.kill"), "w") as file:
                    file.write("1")
            else:
                for pid in members:
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
            if self.process:
                self.process.poll()
            time.sleep(0.005)
        if self.process:
            self.process.wait()
        if self.cgroup:
            os.rmdir(self.cgroup)
        os.close(self.stamps)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
