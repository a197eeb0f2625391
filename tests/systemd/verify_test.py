#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What systemd itself says about the unit we ship: nothing against it, and how exposed it is.

    verify_test.py AGENT SOURCE_DIR      exit code 77: cannot be tested here; the output says why
"""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support/python"))
from checks import SKIP
from machine import UNIT, derive_unit

EXPOSURE_MAX = 2.0  # of 10


def main():
    if not shutil.which("systemd-analyze"):
        print("skipped: no systemd-analyze")
        return SKIP
    agent, source = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        unit = Path(folder) / UNIT
        unit.write_text(derive_unit(Path(source) / "systemd" / UNIT, agent))
        # It ends with 0 whatever is wrong, so everything it says counts.
        verified = subprocess.run(["systemd-analyze", "--man=no", "verify", unit], capture_output=True, text=True)
        rated = subprocess.run(["systemd-analyze", "security", "--no-pager", "--offline=true",
                                f"--threshold={round(EXPOSURE_MAX * 10)}", unit], capture_output=True, text=True)
    said = verified.stdout + verified.stderr
    print(said + "".join(rated.stdout.strip().splitlines()[-1:]) + rated.stderr)
    return 0 if verified.returncode == 0 and not said and rated.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
