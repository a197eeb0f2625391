#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs what we ship into a folder, and uses it from there.

    packaging_test.py install|deb|man|examples BUILD_DIR SOURCE_DIR     exit code 77: cannot be tested here
"""
import json
import os
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support/python"))
from checks import Skip, need, run, run_part
from support import check_supervision, install
from waits import expect

FILES = """
usr/bin/fdbpack usr/bin/fdbpack-agent usr/lib/systemd/system/fdbpack-agent.service usr/lib/sysusers.d/fdbpack.conf
usr/lib/tmpfiles.d/fdbpack.conf usr/share/man/man8/fdbpack-agent.8 usr/share/fdbpack/templates/fdbmonitor-conf.inja
usr/share/doc/fdbpack/copyright usr/share/doc/fdbpack/deployment.md usr/share/doc/fdbpack/examples/foundationdb.conf
usr/share/doc/fdbpack/examples/fdbpack-agent.json usr/share/doc/fdbpack/container/Dockerfile
usr/lib/fdbpack/dropins/fdbmonitor usr/lib/fdbpack/dropins/sidecar.py usr/lib/fdbpack/dropins/fdb-kubernetes-monitor
""".split()


def check_tree(root):
    for each in FILES:
        expect((root / each).exists(), f"{each} is not installed")  # for a link: what it points to
    unit = (root / "usr/lib/systemd/system/fdbpack-agent.service").read_text()
    expect("ExecStart=/usr/bin/fdbpack-agent " in unit, "the unit names another program")


def check_programs(root, folder):
    examples = root / "usr/share/doc/fdbpack/examples"
    run(root / "usr/bin/fdbpack", "render", "--spec", examples / "sample-cluster.json", "--class", "storage")
    conf = folder / "conf"
    conf.write_text("[general]\nrestart_delay = 1\n[child.1]\ncommand = /bin/sleep 1000\n")
    check_supervision([root / "usr/lib/fdbpack/dropins/fdbmonitor", "--conffile", conf, "--lockfile", folder / "lock",
                       "--cgroup", "off"], folder / "lock.state", "child.1")


def test_install(build, source, folder):
    install(build, folder / "root")
    check_tree(folder / "root")
    check_programs(folder / "root", folder)
    run("cmake", "--install", build, "--prefix", folder / "local")
    unit = (folder / "local/lib/systemd/system/fdbpack-agent.service").read_text()
    expect(f"ExecStart={folder}/local/bin/fdbpack-agent " in unit, "the unit does not follow the prefix")


def test_deb(build, source, folder):
    need("cpack", "dpkg", "dpkg-deb", "dpkg-shlibdeps", "systemd-sysusers", "systemd-tmpfiles")
    if os.geteuid() != 0:
        raise Skip("only root may install a package")
    run("cpack", "-G", "DEB", "-B", folder / "out", cwd=build)
    (package,) = (folder / "out").glob("*.deb")
    root = folder / "root"
    for each in ("info", "updates", "triggers"):
        (root / "var/lib/dpkg" / each).mkdir(parents=True)
    for each in ("status", "available"):
        (root / "var/lib/dpkg" / each).touch()
    (root / "etc").mkdir()
    for each in ("passwd", "group"):
        lines = Path("/etc", each).read_text().splitlines(keepends=True)
        (root / "etc" / each).write_text("".join(line for line in lines if not line.startswith("foundationdb:")))
    dpkg = ["dpkg", f"--root={root}", "--force-script-chrootless", "--force-depends"]
    run(*dpkg, "--install", package)
    check_tree(root)
    expect("/etc/default/fdbpack-agent" in run(*dpkg, "--status", "fdbpack"), "the options are no conffile")
    expect("foundationdb:" in (root / "etc/passwd").read_text(), "no user was made")
    expect((root / "var/lib/foundationdb").is_dir(), "no data folder was made")
    check_programs(root, folder)
    run(*dpkg, "--purge", "fdbpack")
    expect((root / "var/lib/foundationdb").is_dir(), "the data folder went with the package")
    expect(not (root / "usr/bin/fdbpack-agent").exists(), "the program stayed")


def test_man(build, source, folder):
    need("groff")
    page = source / "packaging/man/fdbpack-agent.8"
    said = run("groff", "-man", "-ww", "-z", "-Tutf8", page)
    expect(not said, f"groff is not content:\n{said}")
    described = {}
    for section in re.split(r"(?m)^\.SH ", page.read_text().replace("\\-", "-")):
        described[section.split("\n")[0]] = set(re.findall(r"(?m)^\.TP\n\.(?:BI?|BR) .*?(--[a-z-]+)", section))

    def offered(mode):
        said = run(build / "bin/fdbpack-agent", mode, "--help")
        return set(re.findall(r"--[a-z][a-z-]+", re.sub(r"(?m)^ {10,}.*|(?<=\S)  +.*", "", said)))

    common = offered("monitor") | offered("run") | {"--version"}
    for section, wanted, elsewhere in (
            ("OPTIONS", common, set()),
            ("OPTIONS OF SIDECAR", offered("sidecar"), set()),
            ("OPTIONS OF LAUNCHER", offered("launcher"), described["OPTIONS"])):
        unknown, missing = described[section] - wanted, wanted - described[section] - elsewhere
        expect(not unknown and not missing,
               f"{section} of the man page and --help differ: {sorted(unknown)} {sorted(missing)}")


def uncommented(conf):
    """The same with every key that is only shown."""
    return re.sub(r"(?m)^# (?=[a-z])", "", conf)


def test_examples(build, source, folder):
    examples = source / "packaging/examples"
    conf = (examples / "foundationdb.conf").read_text()
    for name, text in {"as it is": conf, "with all keys": uncommented(conf)}.items():
        (folder / "conf").write_text(text)
        said = run(build / "bin/fdbpack", "conf", "check", "--fdbmonitor", "7.4", folder / "conf")
        expect("0 warnings" in said, f"the conf {name}: {said}")
    kept = re.search(r"fdbmonitor keeps these keys:(.*?)Every other key", (source / "docs/conf.md").read_text(), re.S)
    for key in re.findall(r"`([a-z-]+)`", kept.group(1)):
        expect(key.replace("-", "_") in uncommented(conf), f"foundationdb.conf does not show {key}")
    groups = json.loads((examples / "fdbpack-agent.json").read_text())["processGroups"]
    table = re.findall(r"(?m)^\| ((?:`\w+`(?:, )?)+) \|", (source / "docs/agent.md").read_text())
    for field in re.findall(r"`([a-z]\w+)`", " ".join(table).split("`density`", 1)[1] + " `density`"):
        expect(field in groups[0], f"fdbpack-agent.json does not show {field}")
    # As the unit would start it, with the file of options that we ship.
    options = dict(line.split("=", 1) for line in (source / "packaging/default/fdbpack-agent").read_text().splitlines()
                   if re.match(r"\w+=", line))
    expect(options == {"FDBPACK_AGENT_MODE": "monitor", "FDBPACK_AGENT_OPTIONS": ""}, f"options: {options}")


if __name__ == "__main__":
    sys.exit(run_part({"install": test_install, "deb": test_deb, "man": test_man, "examples": test_examples}))
