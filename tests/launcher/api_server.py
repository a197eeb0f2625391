#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the Kubernetes API server for one pod and one node: api_server.py FOLDER

In FOLDER:
  server.pem           certificate and key
  objects/pod, node    the objects; PATCH changes the pod, a test may replace either
  behaviour            ok, or how to fail:
                         hang    takes the request and never answers
                         500     answers 500
                         cut     promises a body and closes in the middle of it
  token                the only bearer token that is taken; 401 otherwise
  requests             one JSON line per request: method, target, type, body
  port                 written when it listens
"""
import json
import os
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support/python"))
from waits import Changes, wait_for

FOLDER = sys.argv[1]
LOCK = threading.Lock()


def path(name):
    return os.path.join(FOLDER, name)


def read(name):
    with open(path(name), encoding="utf-8") as file:
        return file.read()


def replace(name, text):
    with open(path(name) + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(path(name) + ".new", path(name))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def is_refused(self, body):
        with LOCK, open(path("requests"), "a", encoding="utf-8") as file:
            entry = {"method": self.command, "target": self.path, "type": self.headers.get("Content-Type"), "body": body}
            file.write(json.dumps(entry) + "\n")
        behaviour = read("behaviour").strip()
        if behaviour == "hang":
            wait_for("another behaviour", lambda: read("behaviour").strip() != "hang", Changes(FOLDER))
            self.close_connection = True
            return True
        if behaviour == "500":
            self.answer(500, '{"kind":"Status","message":"etcd is on fire"}')
            return True
        if behaviour == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"metadata":{"na')
            self.close_connection = True
            return True
        if self.headers.get("Authorization") != "Bearer " + read("token").strip():
            self.answer(401, '{"kind":"Status","message":"Unauthorized"}')
            return True
        return False

    def chunk(self, text):
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def watch(self, name):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        sent = None

        def send_news():
            nonlocal sent
            if read("behaviour").strip() != "ok":
                return True
            now = read("objects/" + name)
            if now != sent:
                self.chunk(json.dumps({"type": "MODIFIED", "object": json.loads(now)}) + "\n")
                sent = now
            return False
        wait_for("another behaviour", send_news, Changes(FOLDER, path("objects")))
        self.close_connection = True

    def do_GET(self):
        if self.is_refused(""):
            return
        name = "node" if "/nodes" in self.path else "pod"
        if "watch=true" in self.path:
            self.watch(name)
        else:
            self.answer(200, read("objects/" + name))

    def do_PATCH(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        if self.is_refused(body):
            return
        with LOCK:
            pod = json.loads(read("objects/pod"))
            pod["metadata"].setdefault("annotations", {}).update(json.loads(body)["metadata"]["annotations"])
            replace("objects/pod", json.dumps(pod))
        self.answer(200, read("objects/pod"))


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a client that has gone


def main():
    server = Server(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path("server.pem"))
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    replace("port", str(server.server_address[1]))
    server.serve_forever()


main()
