"""A stand-in for the API server of Kubernetes: each pod that Spark asks for is a process here.

Spark's own scheduler for Kubernetes asks for pods, polls them and deletes them, as on a cluster.
The container of a pod is started as its image would (``entrypoint.sh executor``).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

BACKEND = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"
POD_SETTINGS = {
    "spark.kubernetes.container.image": "none",
    "spark.kubernetes.executor.enableApiWatcher": "false",
    "spark.kubernetes.executor.apiPollingInterval": "1s",
    "spark.executor.instances": "2",
    "spark.executor.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


class Pods:
    """The pods of one application, by name."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.seen: dict[str, dict[str, Any]] = {}
        self._folder, self._environment = folder, environment
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()

    def create(self, pod: dict[str, Any]) -> dict[str, Any]:
        """Start a pod's container."""
        name = pod["metadata"]["name"]
        pod["metadata"] |= {"uid": name, "namespace": "default", "resourceVersion": "1"}
        pod["status"] = {"phase": "Running", "podIP": "127.0.0.1"}
        (container,) = pod["spec"]["containers"]
        assert container["args"] == ["executor"], container["args"]
        given = {one["name"]: one.get("value", "127.0.0.1") for one in container["env"]}
        options = {
            "driver-url": given["SPARK_DRIVER_URL"],
            "executor-id": given["SPARK_EXECUTOR_ID"],
            "cores": given["SPARK_EXECUTOR_CORES"],
            "app-id": given["SPARK_APPLICATION_ID"],
            "hostname": "127.0.0.1",
            "resourceProfileId": given["SPARK_RESOURCE_PROFILE_ID"],
            "podName": name,
        }
        java = [value for key, value in given.items() if key.startswith("SPARK_JAVA_OPT_")]
        jars = f"{self._environment['SPARK_HOME']}/jars/*"
        memory = f"-Xmx{given['SPARK_EXECUTOR_MEMORY']}"
        command = [f"{self._environment['JAVA_HOME']}/bin/java", *java, memory, "-cp", jars]
        command += [BACKEND, *(word for key in options for word in (f"--{key}", options[key]))]
        with self._lock, open(self._folder / f"{name}.log", "wb") as log:
            self._processes[name] = subprocess.Popen(
                command, env={**self._environment, **given}, cwd=self._folder,
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
            self.seen[name] = pod
        return pod

    def listed(self) -> list[dict[str, Any]]:
        """Return the pods with their phases."""
        with self._lock:
            for name, process in self._processes.items():
                if process.poll() is not None:
                    phase = "Failed" if process.returncode else "Succeeded"
                    self.seen[name]["status"]["phase"] = phase
            return list(self.seen.values())

    def close(self) -> None:
        """Kill what still runs."""
        for process in self._processes.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def api_server(folder: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, Pods]]:
    """Yield a master's URL, and what was asked of it."""
    pods = Pods(folder, environment)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer({"kind": "PodList", "apiVersion": "v1", "items": pods.listed()})

        def do_POST(self) -> None:
            asked = self._body()
            is_pod = asked.get("kind") == "Pod"
            self._answer(pods.create(asked) if is_pod else asked, 201)

        def do_PATCH(self) -> None:
            self._body()
            name = self.path.partition("/pods/")[2].partition("?")[0]
            self._answer(pods.seen.get(name, {"kind": "Status", "status": "Success"}))

        def do_DELETE(self) -> None:
            self._body()
            self._answer({"kind": "Status", "apiVersion": "v1", "status": "Success"})

        def _body(self) -> dict[str, Any]:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            found: dict[str, Any] = json.loads(data) if data else {}
            return found if isinstance(found, dict) else {}

        def _answer(self, value: dict[str, Any], status: int = 200) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"k8s://http://127.0.0.1:{server.server_address[1]}", pods
    finally:
        server.shutdown()
        server.server_close()
        pods.close()
