#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads every source file and holds it to the rules that a compiler does not check.

    layers_test.py ROOT          every finding as FILE:LINE: what is wrong, what to do instead
    layers_test.py --self-test   plants one breach of each rule and checks that it is found

The layers are core < ports < {loops, adapters} < main; ARCHITECTURE.md draws them.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# A module of core may include these modules of core, besides itself.
CORE_MODULES = {
    "base": set(),
    "http": {"base"},
    "metrics": {"base"},
    "conditions": {"base"},
    "model": {"base"},
    "sidecar": {"base", "http", "model"},
    "conf": {"base", "model"},
    "place": {"base", "model"},
    "launcher": {"base", "metrics", "model", "conf"},
    "supervise": {"base", "model", "conf"},
    "cluster": {"base", "model", "place"},
    "reconcile": {"base", "model", "conf", "place", "supervise", "cluster"},
    "wire": {"base", "http", "conditions", "model", "conf", "place", "launcher", "supervise", "cluster", "reconcile"},
}
LOOPS = {"agent", "coordinator", "cli"}
IS_MAIN = re.compile(r"(^|_)main\.cpp$")  # builds the parts of a program: the only files that see adapters too

# Names that core may not use: pattern, and what to do instead.
BANNED_IN_CORE = [
    (r"#include <(thread|mutex|shared_mutex|condition_variable|future|atomic|stop_token)>", "core has one thread and knows none"),
    (r"#include <(fstream|filesystem|iostream|cstdio|unistd\.h|fcntl\.h|sys/[^>]*|poll\.h|dirent\.h)>", "core opens no files; take the content as an argument"),
    (r"#include <(boost/[^>]*|spdlog/[^>]*|systemd/[^>]*|openssl/[^>]*|sqlite3\.h)>", "core does no IO and logs nothing; return what there is to say"),
    (r"#include <(netdb\.h|arpa/[^>]*|netinet/[^>]*)>", "core knows no network"),
    (r"::now\(|\bclock_gettime\b|\bgettimeofday\b|\btime\((NULL|nullptr|0)\)", "core reads no clock; take `now` as an argument"),
    (r"\bgetenv\b|\bsetenv\b|\benviron\b", "core reads no environment; take the values as an argument"),
    (r"\bstd::rand\b|\brandom_device\b|\bmt19937", "core draws no numbers of its own; take a Random& as an argument"),
    (r"\bstd::unordered_(map|set)\b", "the order of this container is not the same everywhere; use a sorted one"),
]
# The one file in core that prints: the last words of a failed check.
CORE_EXCEPTIONS = {"core/base/check.cpp": {"cstdio"}}

LINES_MAX, TEST_LINES_MAX, COLUMNS_MAX = 500, 1000, 100


def layer_of(path):
    """What a file belongs to: ("core", module), ("ports",), ("adapters", folder), ("loop", name) or ("free",)."""
    parts = path.split("/")
    if parts[0] == "include":
        return ("core", parts[2])
    if parts[0] == "core":
        return ("core", parts[1])
    if parts[0] == "ports":
        return ("ports",)
    if parts[0] == "adapters":
        return ("adapters", parts[1] if len(parts) > 2 else "")
    if parts[0] in LOOPS:
        return ("free",) if IS_MAIN.search(parts[-1]) else ("loop", parts[0])
    return ("free",)  # tests, benchmarks and stand-ins may see everything


def target_of(include):
    """The layer of an included header of ours, or None for a header of somebody else."""
    if include.startswith("fdbpack/"):
        return ("core", include.split("/")[1])
    first = include.split("/")[0]
    if first in {"ports", "adapters", "core", "tests"} | LOOPS and "/" in include:
        return layer_of(include) if first != "tests" else ("tests",)
    return None


def is_allowed(source, target):
    if source[0] == "free" or source == target:
        return True
    if source[0] == "core":
        return target[0] == "core" and target[1] in CORE_MODULES[source[1]]
    if target[0] == "core":
        return source[0] != "ports" or target[1] != "wire"
    return target[0] == "ports"


def strip_comments(text):
    """Comments and string literals blanked out, line numbers kept."""
    def blank(match):
        token = match.group(0)
        return token if token.startswith("#include") else re.sub(r"[^\n]", " ", token)
    pattern = r'#include[^\n]*|R"(\w*)\((?:.|\n)*?\)\1"|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\''
    return re.sub(pattern, blank, text)


def check_includes(path, code, find):
    source = layer_of(path)
    for number, line in enumerate(code.split("\n"), 1):
        match = re.match(r'\s*#include "([^"]+)"', line)
        target = target_of(match.group(1)) if match else None
        if target and not is_allowed(source, target):
            find(number, f"{'/'.join(source)} may not include {match.group(1)}; the layers are core < ports < "
                         "{loops, adapters} < main")
        if re.search(r"#include <nlohmann/", line) and source[0] != "free":
            if source != ("core", "wire") and path != "core/conf/template.cpp":
                find(number, "JSON is read and written in core/wire; use its types here")
        if re.search(r"#include <inja/", line) and path != "core/conf/template.cpp":
            find(number, "templates are rendered in core/conf/template.cpp only")


def check_core(path, code, find):
    if layer_of(path)[0] != "core":
        return
    excepted = CORE_EXCEPTIONS.get(path, set())
    for number, line in enumerate(code.split("\n"), 1):
        for pattern, instead in BANNED_IN_CORE:
            match = re.search(pattern, line)
            if match and match.group(1 if match.lastindex else 0) not in excepted:
                find(number, f"'{match.group(0).strip()}' is not for core: {instead}")


def check_awaits(code, find):
    """g++ 12 miscompiles an awaited call with a capturing lambda, a brace or ?: among its arguments."""
    for match in re.finditer(r"\bco_await\b([^;]*);", code):
        expression = match.group(1)
        if re.search(r"\[[^\]\s][^\]]*\]\s*[({]|\{|\?", expression):
            find(code.count("\n", 0, match.start()) + 1,
                 "name the arguments of an awaited call first: no capture, brace or ?: in it (docs/coroutines.md)")


def check_form(path, text, code, find):
    lines = text.split("\n")
    if not lines[0].startswith("// SPDX-License-Identifier: Apache-2.0"):
        find(1, "begin with the line // SPDX-License-Identifier: Apache-2.0")
    if path.endswith(".hpp"):
        first = next((line for line in lines if line and not line.startswith("//")), "")
        if first != "#pragma once":
            find(1, "a header begins with its comment and then #pragma once")
    limit = TEST_LINES_MAX if path.startswith("tests/") else LINES_MAX
    if len(lines) > limit:
        find(limit, f"{len(lines)} lines are more than {limit}; there are two things in one file")
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS_MAX:
            find(number, f"{len(line)} columns are more than {COLUMNS_MAX}; run tools/format")
        if "\t" in line or line != line.rstrip():
            find(number, "a tab or a blank at the end of the line; run tools/format")
    for number, line in enumerate(code.split("\n"), 1):
        if re.match(r"using namespace \w", line):
            find(number, "no `using namespace` outside a function")
        if re.search(r"\bdetached\b", line) and layer_of(path)[0] in {"loop", "adapters"}:
            find(number, "a coroutine needs an owner that waits for it; spawn it through a TaskGroup")


def sources(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    if listed.returncode == 0:
        names = listed.stdout.split("\n")
    else:
        names = [str(path.relative_to(root)) for path in Path(root).rglob("*")]
        names = [name for name in names if not name.startswith("build/")]
    return sorted(name for name in names if name.endswith((".cpp", ".hpp")) and (Path(root) / name).is_file())


def check_listed(root, names, findings):
    """Every source is named in a CMakeLists.txt at or above its folder, so that no dead file stays behind."""
    for name in names:
        path = Path(name)
        if path.suffix != ".cpp":
            continue
        folders = [path.parent, *path.parent.parents]
        listed = any((Path(root) / folder / "CMakeLists.txt").is_file() and
                     re.search(r"(?<![\w.-])" + re.escape(str(path.relative_to(folder))) + r"(?![\w.-])",
                               (Path(root) / folder / "CMakeLists.txt").read_text())
                     for folder in folders)
        if not listed:
            findings.append(f"{name}:1: no CMakeLists.txt names this file")


def check(root):
    findings = []
    names = sources(root)
    for name in names:
        text = (Path(root) / name).read_text(encoding="utf-8")
        code = strip_comments(text)

        def find(line, what, name=name):
            findings.append(f"{name}:{line}: {what}")

        check_includes(name, code, find)
        check_core(name, code, find)
        check_awaits(code, find)
        check_form(name, text, code, find)
    check_listed(root, names, findings)
    return findings, len(names)


HEADER = "// SPDX-License-Identifier: Apache-2.0\n"
PLANTED = {
    "core/model/a.cpp": (HEADER + '#include "fdbpack/wire/x.hpp"\n', "may not include fdbpack/wire/x.hpp"),
    "core/model/b.cpp": (HEADER + "auto t = std::chrono::steady_clock::now();\n", "reads no clock"),
    "core/model/c.cpp": (HEADER + "#include <thread>\n", "one thread"),
    "core/model/d.cpp": (HEADER + "#include <fstream>\n", "opens no files"),
    "core/model/e.cpp": (HEADER + 'auto v = std::getenv("X");\n', "reads no environment"),
    "core/model/f.cpp": (HEADER + '#include "ports/clock.hpp"\n', "may not include ports/clock.hpp"),
    "core/model/g.cpp": (HEADER + "#include <nlohmann/json.hpp>\n", "read and written in core/wire"),
    "include/fdbpack/base/h.hpp": (HEADER + '#pragma once\n#include "fdbpack/model/x.hpp"\n', "may not include"),
    "ports/i.hpp": (HEADER + '#pragma once\n#include "adapters/posix/x.hpp"\n', "may not include adapters"),
    "agent/j.cpp": (HEADER + '#include "adapters/posix/x.hpp"\n', "may not include adapters"),
    "adapters/posix/k.cpp": (HEADER + '#include "agent/x.hpp"\n', "may not include agent/x.hpp"),
    "adapters/posix/l.cpp": (HEADER + '#include "adapters/http/x.hpp"\n', "may not include adapters/http"),
    "agent/m.cpp": (HEADER + "void f() { co_await g([p] { h(p); }); }\n", "awaited call"),
    "agent/n.cpp": (HEADER + "void f() { co_await g(\n  Options{.a = 1}); }\n", "awaited call"),
    "agent/o.cpp": (HEADER + "void f() { co_await (a ? b() : c()); }\n", "awaited call"),
    "agent/p.cpp": (HEADER + "void f() { co_spawn(e, g(), detached); }\n", "needs an owner"),
    "include/fdbpack/base/q.hpp": (HEADER + "int x;\n", "#pragma once"),
    "core/base/r.cpp": ("int x;\n", "begin with the line"),
    "core/base/s.cpp": (HEADER + "// " + "x" * 100 + "\n", "columns"),
    "core/base/t.cpp": (HEADER + "int x; \n", "blank at the end"),
    "core/base/u.cpp": (HEADER + "\n" * 600, "two things in one file"),
    "core/base/v.cpp": (HEADER, "no CMakeLists.txt names this file"),
}
HARMLESS = {
    "agent/main.cpp": HEADER + '#include "adapters/posix/x.hpp"\n#include "agent/x.hpp"\n',
    "agent/good.cpp": HEADER + "void f() { co_await g(std::move(name), h(1), items[i]); }\n",
    "core/base/good.cpp": HEADER + '// a comment may speak of getenv and of ::now()\nconst char* s = "#include <thread>";\n',
    "core/wire/good.cpp": HEADER + "#include <nlohmann/json.hpp>\n",
}


def self_test():
    with tempfile.TemporaryDirectory() as root:
        for name, text in {**{n: t for n, (t, _) in PLANTED.items()}, **HARMLESS}.items():
            path = Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        named = [n for n in {**PLANTED, **HARMLESS} if n.endswith(".cpp") and n != "core/base/v.cpp"]
        (Path(root) / "CMakeLists.txt").write_text("\n".join(named))
        findings, _ = check(root)
    missed = [f"{name}: '{what}' was not found" for name, (_, what) in PLANTED.items()
              if not any(f.startswith(name + ":") and what in f for f in findings)]
    false_alarms = [f for f in findings if f.split(":")[0] in HARMLESS]
    return missed + [f"false alarm: {f}" for f in false_alarms]


def main():
    if sys.argv[1:] == ["--self-test"]:
        failures, what = self_test(), f"{len(PLANTED)} planted breaches"
    else:
        failures, count = check(sys.argv[1])
        what = f"{count} files"
    print("\n".join(failures) if failures else f"{what}: good")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
