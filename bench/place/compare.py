#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs place_bench beside Ganeti's hbal, hail and hspace (Debian: ganeti-htools) on the same files.

CPU time, not wall time: user and system seconds of the other program, thread CPU seconds of ours (reading the file
included on both sides). Prints a table in Markdown, and every row as JSON with --json.

  bench/place/compare.py build/release/bench/place_bench             a few minutes
  bench/place/compare.py build/release/bench/place_bench --full      hbal on 100 x 500 too: a quarter of an hour
"""
import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

HAIL = next((p for p in ("/usr/lib/ganeti/iallocators/hail", shutil.which("hail")) if p and os.path.exists(p)), None)


def cpu_of(command, limit):
    """Output and CPU seconds of a child; None when it is missing or used more than `limit` seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))
    except FileNotFoundError:
        return None, None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return (done.stdout if done.returncode == 0 else None), seconds


def ours(bench, *args):
    out = subprocess.run([bench, *args], capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def hbal_score(text):
    found = re.search(r"score improved from \S+ to (\S+)", text or "")
    return float(found.group(1)) if found else None


def balance_rows(bench, folder, sizes, limit):
    for hosts in sizes:
        path = os.path.join(folder, f"ext-{hosts}.data")
        ours(bench, "write", path, str(hosts), "1")
        for option in ([], ["--ignore-dynu"]):
            mine = ours(bench, "balance", path, *option)[0]
            text, seconds = cpu_of(["hbal", "-t", path, *option], limit)
            yield {"what": " ".join(["balance", *option]), "hosts": hosts, "ours": mine["value"], "theirs": seconds,
                   "peer": "hbal", "our_score": mine["final"], "their_score": hbal_score(text),
                   "note": "" if text else "no result within the limit"}


def has_node(text):
    """Whether hail's answer names a node: it ends with 0 also when it found none."""
    return bool(text) and json.loads(text)["success"] and bool(json.loads(text)["result"])


def allocation_rows(bench, folder, rows, sizes, limit):
    # hail reads the frame of a whole message although the cluster comes from the file (-t).
    frame = {"cluster_tags": [], "enabled_hypervisors": ["kvm"], "instances": {}, "nodegroups": {}, "nodes": {}}
    request = {"request": {"type": "allocate", "name": "new", "required_nodes": 1, "memory": 8192, "vcpus": 2,
                           "disks": [{"size": 131072, "mode": "rw"}], "disk_space_total": 131072,
                           "disk_template": "plain", "spindle_use": 1, "tags": [], "nics": [], "hypervisor": "kvm",
                           "os": "none"}}
    for hosts in sizes:
        path = os.path.join(folder, f"ext-{hosts}.data")
        ours(bench, "write", path, str(hosts), "1")
        asked = os.path.join(folder, "request.json")
        with open(asked, "w", encoding="utf-8") as file:
            json.dump({**frame, **request}, file)
        text, seconds = cpu_of([HAIL or "hail", "--no-capacity-checks", "-t", path, asked], limit)
        mine = [r for r in rows if r["what"] == "explained allocation" and r["hosts"] == hosts]
        if mine:
            yield {"what": "one allocation", "hosts": hosts, "ours": mine[0]["value"], "theirs": seconds,
                   "peer": "hail", "note": "hail starts and parses each time; ours decides and explains every host"
                   + ("" if has_node(text) else "; no result: it failed or passed the limit")}


def hspace_counts(text):
    standard = re.search(r"HTS_ALLOC_INSTANCES=(\d+)", text or "")
    tiers = re.search(r"HTS_TSPEC='?([^'\n]*)", text or "")
    tiered = sum(int(n) for n in re.findall(r"=(\d+)", tiers.group(1))) if tiers else None
    return (int(standard.group(1)) if standard else None), tiered


def capacity_rows(bench, folder, sizes, limit):
    """Standard and tiered mode of the same file, to the end on both sides."""
    for hosts in sizes:
        path = os.path.join(folder, f"ext-{hosts}.data")
        ours(bench, "write", path, str(hosts), "1")
        mine = ours(bench, "capacity", path)[0]
        text, seconds = cpu_of(["hspace", "-t", path, "--no-capacity-checks", "--machine-readable"], limit)
        standard, tiered = hspace_counts(text)
        yield {"what": "capacity, standard and tiered", "hosts": hosts, "ours": mine["value"], "theirs": seconds,
               "peer": "hspace", "note": f"ours {mine['standard']} and {mine['tiered']}, hspace {standard} and {tiered}"
               if text else "no result within the limit"}


def show(rows):
    print("| what | hosts | fdbpack CPU s | peer | peer CPU s | ratio | note |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        theirs = row["theirs"]
        note = row.get("note", "")
        has_answer = "no result" not in note
        ratio = f"{theirs / row['ours']:,.0f} x" if has_answer and theirs and row["ours"] else "-"
        if row.get("their_score") is not None:
            note = f"score {row['our_score']:.6f}, {row['peer']} {row['their_score']:.6f}"
        print(f"| {row['what']} | {row['hosts']} | {row['ours']:.6f} | {row['peer']} | "
              f"{'-' if theirs is None else f'{theirs:.2f}'} | {ratio} | {note} |")


def growth(rows):
    """From 500 to 5,000 hosts: how much dearer, and what n log n would be (a factor of 13.7)."""
    print("\n| what | 500 hosts | 5,000 hosts | factor |\n| --- | --- | --- | --- |")
    for what in sorted({r["what"] for r in rows if r["unit"] == "cpu_s"}):
        at = {r["hosts"]: r["value"] for r in rows if r["what"] == what}
        if 500 in at and 5000 in at:
            print(f"| {what} | {at[500]:.6f} | {at[5000]:.6f} | {at[5000] / at[500]:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", help="place_bench of a release build")
    parser.add_argument("--full", action="store_true", help="hbal on 100 x 500, hail on 1,000 and 5,000 hosts, hspace on 100")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not shutil.which("hbal"):
        print("hbal is not installed (Debian: ganeti-htools); only our own rows follow", file=sys.stderr)
    rows = ours(options.bench, "run", "500", "1000", "5000")
    compared = []
    with tempfile.TemporaryDirectory() as folder:
        if shutil.which("hbal"):
            compared += balance_rows(options.bench, folder, [20, 50] + ([100] if options.full else []), 1200)
            compared += allocation_rows(options.bench, folder, rows, [500] + ([1000, 5000] if options.full else []), 600)
            compared += capacity_rows(options.bench, folder, [20, 50] + ([100] if options.full else []), 300)
    if options.json:
        print(json.dumps({"rows": rows, "compared": compared}, indent=1))
        return
    for row in rows:
        print(f"{row['what']}, {row['hosts']} hosts: {row['value']:.6g} {row['unit']}")
    print()
    show(compared)
    growth(rows)


if __name__ == "__main__":
    main()
