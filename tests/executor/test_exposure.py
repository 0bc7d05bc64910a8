"""Nobody else reaches a cluster: it is on this machine alone, or shows certificates."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from metassay.core.errors import BadInput
from metassay.core.params import ExecutorOptions
from metassay.datasets.registry import Dataset, load_registry
from metassay.datasets.workers import exposed_to, set_address
from metassay.executor import exposure as module
from metassay.executor.exposure import exposure
from tests.executor.dask_machines import ROOT, Machines

PAGE = (ROOT / "docs/running.md").read_text("utf-8")
PUBLIC = load_registry(ROOT / "data/registry.yaml")["sample"]


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A port at 127.0.0.1 alone; this machine's other address is ::1."""
    monkeypatch.setattr(module, "_other_addresses", lambda: ["::1"])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield int(listening.getsockname()[1])


def private() -> Dataset:
    return PUBLIC.model_copy(update={"access": "private"})


def test_who_reaches_a_scheduler(port: int) -> None:
    assert exposure(f"tcp://127.0.0.1:{port}") == ""
    assert exposure("tls://cluster.example:8786") == ""
    assert "over a network without TLS" in exposure("tcp://192.0.2.7:8786")
    assert "over a network without TLS" in exposure("ucx://no-such-host.invalid:8786")
    everywhere = socket.create_server(
        ("::", 0), family=socket.AF_INET6, dualstack_ipv6=True
    )
    with everywhere:
        address = f"tcp://127.0.0.1:{everywhere.getsockname()[1]}"
        assert exposure(address).endswith("also listens at ::1, without TLS")


def test_public_text_is_warned_of_and_other_text_refused(port: int) -> None:
    options = ExecutorOptions(kind="dask", address="tcp://192.0.2.7:8786")
    warning = exposed_to(options, [PUBLIC])
    assert "run code there" in warning
    assert "--host 127.0.0.1, or with TLS" in warning
    with pytest.raises(BadInput, match="No private text goes there"):
        exposed_to(options, [PUBLIC, private()])
    for address in (f"tcp://127.0.0.1:{port}", "tls://192.0.2.7:8786", "local"):
        assert exposed_to(set_address(options, address), [private()]) == ""


def commands(first: str) -> str:
    """The commands of the page in the block that has these words."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    (block,) = (block for block in blocks if first in block)
    return str(block)


def listening(process: subprocess.Popen[bytes]) -> set[str]:
    """The addresses at which a process and its children listen."""
    family = [psutil.Process(process.pid)]
    family += family[0].children(recursive=True)
    connections = [c for member in family for c in member.net_connections("tcp")]
    return {c.laddr.ip for c in connections if c.status == psutil.CONN_LISTEN}


@pytest.mark.slow
def test_the_commands_of_the_page_listen_on_loopback_alone(tmp_path: Path) -> None:
    lines = commands("dask scheduler").splitlines()
    at = [line.partition("&")[0].split()[1:] for line in lines if line[:4] == "dask"]
    scheduler, worker = at
    with Machines(tmp_path) as machines:
        started = [machines.start([*scheduler, "--port", str(machines.port)])]
        machines.wait_for_scheduler()
        worker[worker.index("tcp://127.0.0.1:8786")] = machines.address
        started.append(machines.start([*worker, "--local-directory", str(tmp_path)]))
        machines.wait(4)
        assert {ip for process in started for ip in listening(process)} == {"127.0.0.1"}
        started[1].terminate()  # and its four workers, which a kill would leave
        started[1].wait()


MAPPED = """
import sys
from metassay.core.params import ExecutorOptions
from metassay.executor.dask_cluster import Cluster
from tests.executor import work

address, storage, patience = sys.argv[1:]
options = ExecutorOptions(
    kind="dask", address=address, storage=storage, patience_s=float(patience)
)
with Cluster(options, "one") as cluster:
    print(cluster.map(work.squares, [1, 2, 3], 0.0, storage + ".log"))
"""


@pytest.mark.slow
def test_the_certificates_of_the_page_let_their_owners_in_and_nobody_else(
    tmp_path: Path,
) -> None:
    script = f"set -e\n{commands('mkdir -m 700 tls')}\nenv -0"
    printed = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, check=True, text=True
    ).stdout
    assert (tmp_path / "tls").stat().st_mode & 0o077 == 0
    environment = dict(
        line.split("=", 1) for line in printed.split("\0") if line.startswith("DASK_")
    )
    with Machines(tmp_path / "machines") as machines:
        machines.environment = environment
        machines.address = f"tls://127.0.0.1:{machines.port}"
        words = ["--protocol", "tls", "--host", "127.0.0.1", "--no-dashboard"]
        machines.start(["scheduler", *words, "--port", str(machines.port)])
        machines.wait_for_scheduler()
        machines.worker()

        def mapped(
            scheme: str, patience: str, **more: str
        ) -> subprocess.CompletedProcess[str]:
            address = f"{scheme}://127.0.0.1:{machines.port}"
            return subprocess.run(
                [sys.executable, "-c", MAPPED, address, str(tmp_path / "s"), patience],
                env={**os.environ, "PYTHONPATH": str(ROOT), **more},
                capture_output=True,
                check=False,
                text=True,
            )

        assert mapped("tls", "60", **environment).stdout == "[[1], [4], [9]]\n"
        for scheme in ("tls", "tcp"):
            refused = mapped(scheme, "1")
            assert f"no scheduler answers at {scheme}://127.0.0.1" in refused.stderr
