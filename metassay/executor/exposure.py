"""Who else could reach a Dask scheduler.

Dask asks nobody for a password: who reaches a scheduler or a worker can have it run any
code and read what passes. So either only this machine reaches them, or both sides show
certificates (TLS).
"""

import errno
import ipaddress
import socket
from urllib.parse import urlsplit

_ENCRYPTED = ("tls", "wss")
_PORT = 8786  # of a scheduler, unless its address has another


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
    for other in _other_addresses():
        if _is_taken(other, port):
            return f"the scheduler at {address} also listens at {other}, without TLS"
    return ""


def _is_loopback(host: str) -> bool:
    try:
        addresses = socket.getaddrinfo(host, None)
    except OSError:
        return False
    return all(ipaddress.ip_address(entry[4][0]).is_loopback for entry in addresses)


def _other_addresses() -> list[str]:
    """Return this machine's addresses in its networks."""
    import psutil  # type: ignore[import-untyped]

    addresses = []
    for interface in psutil.net_if_addrs().values():
        for entry in interface:
            if entry.family not in (socket.AF_INET, socket.AF_INET6):
                continue
            text = entry.address.partition("%")[0]
            address = ipaddress.ip_address(text)
            if not (address.is_loopback or address.is_link_local):
                addresses.append(text)
    return sorted(addresses)


def _is_taken(address: str, port: int) -> bool:
    """Return whether a program of this machine listens there. Nothing is sent."""
    is_v6 = ipaddress.ip_address(address).version == 6
    family = socket.AF_INET6 if is_v6 else socket.AF_INET
    with socket.socket(family) as tried:
        try:
            tried.bind((address, port))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False
