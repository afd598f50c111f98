"""A worker process from inside: takes orders from a pipe until the other end is closed."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from multiprocessing.connection import Connection
from queue import SimpleQueue

from sqlwright.lab.evaluation.executing.orders import Answering, Order, Told


def main(handle: int) -> None:
    """Serve the pipe of that number. Ends with the process that started this one, even where that
    was killed."""
    connection = Connection(handle)
    orders: SimpleQueue[Order] = SimpleQueue()
    threading.Thread(target=_receive, args=(connection, orders), daemon=True).start()
    answering = Answering(lambda line: connection.send(Told(line)))
    try:
        while True:
            connection.send(answering.reply(orders.get()))
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        raise
    finally:
        os._exit(1)  # whatever threads there are: the other end is to notice now


def _receive(connection: Connection, orders: SimpleQueue[Order]) -> None:
    try:
        while True:
            orders.put(connection.recv())
    except (EOFError, OSError):
        os._exit(1)  # nobody waits for the question under way
