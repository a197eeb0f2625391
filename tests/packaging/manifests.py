# SPDX-License-Identifier: Apache-2.0
"""Whether Kubernetes manifests are what they should be: fields that exist, names that fit, rights that are not there."""
import json
import re

from checks import run
from waits import expect

# Field, and what may be below it: a table of fields, [a table] for each of a list, or None for any value.
VALUE_FROM = {"fieldRef": {"fieldPath": None}}
PROBE = {"tcpSocket": {"port": None}, "httpGet": {"path": None, "port": None, "scheme": None},
         "periodSeconds": None, "failureThreshold": None}
CONTAINER = {
    "name": None, "image": None, "command": None, "args": None, "resources": {"requests": None, "limits": None},
    "env": [{"name": None, "value": None, "valueFrom": VALUE_FROM}], "ports": [{"containerPort": None}],
    "readinessProbe": PROBE, "livenessProbe": PROBE,
    "securityContext": {"allowPrivilegeEscalation": None, "readOnlyRootFilesystem": None, "capabilities": {"drop": None}},
    "volumeMounts": [{"name": None, "mountPath": None, "readOnly": None}]}
KINDS = {
    "ConfigMap": {"data": None},
    "PersistentVolumeClaim": {"spec": {"accessModes": None, "resources": {"requests": {"storage": None}}}},
    "ServiceAccount": {},
    "Role": {"rules": [{"apiGroups": None, "resources": None, "verbs": None}]},
    "RoleBinding": {"roleRef": {"apiGroup": None, "kind": None, "name": None}, "subjects": [{"kind": None, "name": None}]},
    "Pod": {"spec": {
        "serviceAccountName": None, "terminationGracePeriodSeconds": None,
        "securityContext": {"runAsNonRoot": None, "runAsUser": None, "runAsGroup": None, "fsGroup": None,
                            "seccompProfile": {"type": None}},
        "initContainers": [CONTAINER], "containers": [CONTAINER],
        "volumes": [{"name": None, "configMap": {"name": None}, "emptyDir": {"medium": None},
                     "persistentVolumeClaim": {"claimName": None}}]}}}
RBAC = "rbac.authorization.k8s.io"
VERSIONS = {"Role": RBAC + "/v1", "RoleBinding": RBAC + "/v1"}
COMMON = {"apiVersion": None, "kind": None, "metadata": {"name": None}}


def check_fields(value, table, path):
    if table is None:
        return
    if isinstance(table, list):
        expect(isinstance(value, list) and value, f"{path} must be a list")
        for i, each in enumerate(value):
            check_fields(each, table[0], f"{path}[{i}]")
        return
    expect(isinstance(value, dict), f"{path} must be an object")
    for name, below in value.items():
        expect(name in table, f"{path}.{name}: there is no such field")
        check_fields(below, table[name], f"{path}.{name}")


def containers_of(pod):
    return pod["spec"].get("initContainers", []) + pod["spec"]["containers"]


def check_pod(pod, documents):
    spec = pod["spec"]
    expect(spec["securityContext"]["runAsNonRoot"] is True and spec["securityContext"]["runAsUser"] > 0, "runs as root")
    expect(spec["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault", "no seccomp profile")
    volumes = {each["name"]: each for each in spec["volumes"]}
    names = {(each["kind"], each["metadata"]["name"]) for each in documents}
    for volume in volumes.values():
        if "configMap" in volume:
            expect(("ConfigMap", volume["configMap"]["name"]) in names, f"no ConfigMap for {volume}")
        if "persistentVolumeClaim" in volume:
            expect(("PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"]) in names, f"no claim: {volume}")
    account = spec.get("serviceAccountName")
    if account:
        expect(("ServiceAccount", account) in names, f"no service account {account}")
        bindings = [each for each in documents if each["kind"] == "RoleBinding"
                    and {"kind": "ServiceAccount", "name": account} in each["subjects"]]
        expect(bindings, f"{account} has no rights")
        for binding in bindings:
            expect(binding["roleRef"]["apiGroup"] == RBAC and ("Role", binding["roleRef"]["name"]) in names, f"{binding}")
    used = set()
    for container in containers_of(pod):
        rights = container["securityContext"]
        expect(rights == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                          "capabilities": {"drop": ["ALL"]}}, f"{container['name']} has rights: {rights}")
        for mount in container["volumeMounts"]:
            expect(mount["name"] in volumes, f"{container['name']}: there is no volume {mount['name']}")
            used.add(mount["name"])
        for argument in container["args"]:
            expect(isinstance(argument, str), f"{container['name']}: {argument} must be a string")
    expect(used == set(volumes), f"volumes that nobody mounts: {set(volumes) - used}")


def check_options(container, agent):
    """Options of the modes whose --help we have; the drop-ins' are in their own tests."""
    mode = "monitor" if container.get("command", [""])[0].endswith("fdbmonitor") else container["args"][0]
    if mode not in ("monitor", "run"):
        expect(mode in ("sidecar", "launcher"), f"{container['name']}: there is no mode {mode}")
        return
    known = re.findall(r"--[a-z-]+", run(agent, mode, "--help"))
    for option in re.findall(r"--[a-z-]+", " ".join(container["args"])):
        expect(option in known, f"{container['name']}: there is no option {option}")


def check_configuration(data, agent, folder):
    if "config.json" in data:
        json.loads(data["config.json"])
    if "fdbmonitor.conf" in data:
        (folder / "conf").write_text(data["fdbmonitor.conf"].replace("$BINARY_DIR", "/usr/bin"))
        said = run(agent.parent / "fdbpack", "conf", "check", folder / "conf")
        expect("0 warnings" in said, f"the conf: {said}")


def check_manifests(yaml, place, agent, folder):
    files = sorted(place.glob("*.yaml"))
    expect([each.stem for each in files] == ["launcher", "main-container", "sidecar"], f"manifests: {files}")
    for file in files:
        documents = list(yaml.safe_load_all(file.read_text()))
        for document in documents:
            check_fields(document, {**COMMON, **KINDS[document["kind"]]}, f"{file.name}: {document['kind']}")
            expect(document["apiVersion"] == VERSIONS.get(document["kind"], "v1"), f"{file.name}: {document['apiVersion']}")
            if document["kind"] == "ConfigMap":
                check_configuration(document["data"], agent, folder)
            if document["kind"] == "Pod":
                check_pod(document, documents)
                for container in containers_of(document):
                    check_options(container, agent)
        print(f"{file.name}: {len(documents)} documents are good")
