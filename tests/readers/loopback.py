"""Keeps Python in this process from reaching anything but the loopback, also where the system has no network namespaces."""

import socket


def restrict_sockets():
    """From now on, a connection to another host is an error."""
    socket.socket.connect = _only_loopback(socket.socket.connect)
    socket.socket.connect_ex = _only_loopback(socket.socket.connect_ex)


def _only_loopback(connect):
    def guarded(self, address):
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"a reader tried to reach {address[0]}")
        return connect(self, address)

    return guarded
