"""A proxy on loopback that fails as networks do: it stalls, resets or trickles when it is told."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
import time
from typing import Literal

Mode = Literal["pass", "stall", "reset", "trickle"]


class FailingProxy:
    """Passes bytes on to a port of this machine, as the mode says; all connections at once."""

    def __init__(self, port: int) -> None:
        self._target = port
        self.mode: Mode = "pass"
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._closed = False
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._forgotten: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._closed = True
        with contextlib.suppress(OSError):  # else a thread that accepts keeps it open
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.reset()

    def reset(self) -> None:
        """Cut every connection, as a router that forgets them does."""
        for pair in list(self._pairs):
            for end in pair:
                with contextlib.suppress(OSError):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    end.close()
        self._pairs.clear()

    def forget(self) -> None:
        """Drop all that comes by the connections there are, and say nothing, as a firewall does
        with those that rested; new ones are passed."""
        self._forgotten.update(near for near, _ in self._pairs)

    def _accept(self) -> None:
        while not self._closed:
            try:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                return
            self._pairs.append((near, far))
            threading.Thread(target=self._pass, args=(near, far), daemon=True).start()

    def _pass(self, near: socket.socket, far: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError):
            while True:
                for end in select.select([near, far], [], [], 0.05)[0]:
                    other = far if end is near else near
                    while self.mode == "stall" or near in self._forgotten:
                        time.sleep(0.02)
                    data = end.recv(1 if self.mode == "trickle" else 65536)
                    if not data:
                        near.close()
                        far.close()
                        return
                    other.sendall(data)
                    if self.mode == "trickle":
                        time.sleep(0.002)
