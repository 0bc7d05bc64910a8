"""Who else could reach a Dask scheduler.

Dask asks nobody for a password: who reaches a scheduler or a worker can have it run any
code and read what passes. So either only this machine reaches them, or both sides show
certificates (TLS).
"""

import ipaddress
import socket
from urllib.parse import urlsplit

_ENCRYPTED = ("tls", "wss")
_PORT = 8786  # of a scheduler, unless its address has another
_SECONDS = 0.5  # in which this machine answers itself


def exposure(address: str) -> str:
    """Return why others can reach the scheduler at this address; empty if they cannot.

    A scheduler on this machine may listen on its other addresses, too, which is what
    `dask scheduler` does without `--host`.
    """
    place = urlsplit(address)
    host, port = place.hostname or "", place.port or _PORT
    if place.scheme in _ENCRYPTED:
        return ""
    if not _is_loopback(host):
        return f"{address} is reached over a network without TLS"
    other = _other_address()
    if other and _answers(other, port):
        return f"the scheduler at {address} also listens at {other}, without TLS"
    return ""


def _is_loopback(host: str) -> bool:
    try:
        addresses = socket.getaddrinfo(host, None)
    except OSError:
        return False
    return all(ipaddress.ip_address(entry[4][0]).is_loopback for entry in addresses)


def _other_address() -> str:
    """Return this machine's address in its network; empty if it has none.

    Connecting a UDP socket only chooses an interface: nothing is sent.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as chosen:
        try:
            chosen.connect(("192.0.2.1", 9))  # of RFC 5737, which belongs to nobody
        except OSError:
            return ""
        address = str(chosen.getsockname()[0])
    return "" if ipaddress.ip_address(address).is_loopback else address


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=_SECONDS).close()
    except OSError:
        return False
    return True
