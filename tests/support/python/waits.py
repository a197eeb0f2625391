# SPDX-License-Identifier: Apache-2.0
"""Waits for what happens, never for time to pass: each wait names the events after which it looks again."""
import ctypes
import errno
import os
import select
import time
from pathlib import Path

DEADLINE = time.monotonic() + 100  # of all waits together: ctest's limit must not hit before cleanup
IN_MODIFY, IN_CLOSE_WRITE, IN_MOVED_TO, IN_CREATE, IN_DELETE, IN_DELETE_SELF = 0x2, 0x8, 0x80, 0x100, 0x200, 0x400
ANY_CHANGE = IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_DELETE_SELF
LIBC = ctypes.CDLL(None, use_errno=True)


def expect(holds, what):
    if not holds:
        raise AssertionError(what)


def wait_for(what, probe, *events, until=DEADLINE):
    """What probe() returns, once it is neither None nor False. It is asked again after each of the events."""
    poller = select.poll()
    for each in events:
        poller.register(each.fileno(), each.mask)
    while True:
        for each in events:
            each.rearm()  # before the look: what happens after it is seen by the poll
        result = probe()
        if result is not None and result is not False:
            return result
        left_s = until - time.monotonic()
        expect(left_s > 0 and poller.poll(left_s * 1000), f"waited in vain: {what}")


class Changes:
    """Of the names and the contents in folders, which need not be there yet."""
    mask = select.POLLIN

    def __init__(self, *folders):
        self.folders = [Path(each) for each in folders]
        self.file = os.fdopen(checked(LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)), "rb", buffering=0)

    def fileno(self):
        return self.file.fileno()

    def rearm(self):
        while self.file.read(65536):
            pass
        for each in self.folders:
            self.watch(each)

    def watch(self, folder):
        """The folder; as long as there is none, the one in which it will be made."""
        while not self.add(folder):
            self.watch(folder.parent)
            if not folder.exists():
                return

    def add(self, folder):
        try:
            checked(LIBC.inotify_add_watch(self.fileno(), os.fsencode(folder), ANY_CHANGE))
        except FileNotFoundError:
            return False
        return True


class Life:
    """Of a subprocess.Popen: a wait is in vain as soon as it ends."""
    mask = select.POLLIN

    def __init__(self, process):
        self.process = process
        self.rearm()  # a pid is ours to use as long as it was not waited for
        self.file = os.fdopen(os.pidfd_open(process.pid), "rb", buffering=0)

    def fileno(self):
        return self.file.fileno()

    def rearm(self):
        expect(self.process.poll() is None, f"{self.process.args[0]} ended with {self.process.returncode}")


class Message:
    """Comes in at a socket, from which the probe reads it."""
    mask = select.POLLIN

    def __init__(self, socket):
        self.socket = socket

    def fileno(self):
        return self.socket.fileno()

    def rearm(self):
        pass


class Output:
    """What a subprocess.Popen writes into its pipe; only that it does so is of interest."""
    mask = select.POLLIN

    def __init__(self, process):
        self.file = process.stdout
        os.set_blocking(self.fileno(), False)

    def fileno(self):
        return self.file.fileno()

    def rearm(self):
        try:
            while True:
                expect(os.read(self.fileno(), 65536), "there will be no more output")
        except BlockingIOError:
            pass


class CgroupState:
    """Of cgroup.events: the kernel says when it changes."""
    mask = select.POLLPRI

    def __init__(self, cgroup):
        self.file = (cgroup / "cgroup.events").open(encoding="ascii")
        self.text = ""

    def fileno(self):
        return self.file.fileno()

    def rearm(self):
        self.file.seek(0)
        self.text = self.file.read()

    def wait_for(self, line, until=DEADLINE):
        wait_for(f"{line} in {self.file.name}", lambda: line in self.text.splitlines(), self, until=until)


def checked(result):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, errno.errorcode.get(code, "?"))
    return result
