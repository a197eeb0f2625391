# SPDX-License-Identifier: Apache-2.0
"""How each supervisor is told to keep N copies of the same child running.

Each peer uses its fastest documented settings for restarts: run files are the child itself (no
shell), s6 is told when the child is ready, supervisord considers a start successful at once.
"""
import os
import shutil
import subprocess


class Peer:
    """One supervisor. `missing()` is a sentence if it cannot be measured on this machine."""
    name = "?"

    def missing(self):
        return None

    def environment(self):
        return {}

    def prepare(self, folder, count, child):
        """Writes what the supervisor reads, and returns its command line."""
        raise NotImplementedError


class Floor(Peer):
    name = "floor"

    def __init__(self, program):
        self.program = program

    def missing(self):
        if not os.access(self.program, os.X_OK):
            return f"{self.program} is not there: build the target supervise-floor"
        return None

    def prepare(self, folder, count, child):
        return [self.program, str(count), child]


def write_monitor_conf(path, count, child):
    with open(path, "w") as conf:
        conf.write("[general]\nrestart_delay = 60\n")
        conf.write(f"[child]\ncommand = {child}\n")
        for i in range(count):
            conf.write(f"[child.{i + 1}]\n")


class Agent(Peer):
    name = "fdbpack-agent"

    def __init__(self, program):
        self.program = program
        self.help = ""

    def missing(self):
        if not self.program or not os.access(self.program, os.X_OK):
            return f"{self.program or 'no path given'}: there is no such program (--agent PATH)"
        shown = subprocess.run([self.program, "monitor", "--help"], capture_output=True, text=True,
                               stdin=subprocess.DEVNULL, timeout=20)
        self.help = shown.stdout + shown.stderr
        if "--conffile" not in self.help:
            return f"{self.program} has no subcommand monitor with --conffile"
        return None

    def prepare(self, folder, count, child):
        conf = os.path.join(folder, "foundationdb.conf")
        write_monitor_conf(conf, count, child)
        command = [self.program, "monitor", "--conffile", conf,
                   "--lockfile", os.path.join(folder, "lock")]
        for option in ("--statedir", "--state-dir"):
            if option in self.help:
                command += [option, os.path.join(folder, "state")]
                break
        return command


class Fdbmonitor(Peer):
    name = "fdbmonitor"

    def __init__(self, program):
        self.program = program

    def missing(self):
        if not self.program:
            return "set FDBMONITOR to the path of a binary to measure it"
        if not os.access(self.program, os.X_OK):
            return f"FDBMONITOR={self.program}: there is no such program"
        return None

    def prepare(self, folder, count, child):
        conf = os.path.join(folder, "foundationdb.conf")
        write_monitor_conf(conf, count, child)
        return [self.program, "--conffile", conf, "--lockfile", os.path.join(folder, "lock")]


class Packaged(Peer):
    def missing(self):
        if shutil.which(self.program) is None:
            return f"{self.program} is not installed: tools/install-dependencies bench"
        return None

    def prepare_folders(self, folder, count, child):
        for i in range(count):
            service = os.path.join(folder, f"s{i}")
            os.mkdir(service)
            os.symlink(child, os.path.join(service, "run"))
            self.prepare_service(service)

    def prepare_service(self, service):
        pass


class Runit(Packaged):
    name = "runit"
    program = "runsvdir"

    def prepare(self, folder, count, child):
        scan = os.path.join(folder, "services")
        os.mkdir(scan)
        self.prepare_folders(scan, count, child)
        return ["runsvdir", "-P", scan]


class S6(Packaged):
    name = "s6"
    program = "s6-svscan"

    def environment(self):
        return {"NOTIFY_FD": "3"}

    def prepare_service(self, service):
        with open(os.path.join(service, "notification-fd"), "w") as file:
            file.write("3\n")

    def prepare(self, folder, count, child):
        scan = os.path.join(folder, "services")
        os.mkdir(scan)
        self.prepare_folders(scan, count, child)
        return ["s6-svscan", "-c", "1100", scan]


class Supervisord(Packaged):
    name = "supervisord"
    program = "supervisord"

    def prepare(self, folder, count, child):
        conf = os.path.join(folder, "supervisord.conf")
        with open(conf, "w") as file:
            file.write(f"[supervisord]\nnodaemon=true\nlogfile=/dev/null\nlogfile_maxbytes=0\n"
                       f"pidfile={folder}/pid\nminfds=4096\nchildlogdir={folder}\nuser=root\n"
                       f"[program:child]\ncommand={child}\nnumprocs={count}\n"
                       f"process_name=%(process_num)d\nautorestart=true\nstartsecs=0\n"
                       f"stdout_logfile=NONE\nstderr_logfile=NONE\n")
        return ["supervisord", "-c", conf]


def all_peers(floor, agent, fdbmonitor):
    return [Floor(floor), Agent(agent), Fdbmonitor(fdbmonitor), Runit(), S6(), Supervisord()]
