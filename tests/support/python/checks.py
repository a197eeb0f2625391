# SPDX-License-Identifier: Apache-2.0
"""What a test in Python is made of: expectations, reasons to skip, and an exit code that ctest knows."""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from waits import expect

SKIP = 77


class Skip(Exception):
    """The reason why nothing can be tested here."""


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Skip(f"no {tool}")


def run(*command, **more):
    """Its output, both streams; anything but exit code 0 is a failure."""
    done = subprocess.run([str(each) for each in command], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=90, **more)
    expect(done.returncode == 0, f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def free_port():
    """Of 127.0.0.1, a moment ago."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run_part(parts):
    """The exit code of `SCRIPT PART BUILD_DIR SOURCE_DIR`; a part takes both and a folder of its own."""
    name, build, source = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        try:
            parts[name](build, source, Path(folder))
        except Skip as reason:
            print(f"skipped: {reason}")
            return SKIP
        except AssertionError as failure:
            print(f"FAILED: {failure}")
            return 1
    return 0
