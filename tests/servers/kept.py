"""Run a server for as long as whoever started it lives: `python kept.py USER_ID COMMAND ...`.

Standard input is a pipe that nobody writes to; its end says that the tests are over, however they
ended. The server is then told to stop, and killed if it doesn't. A server that ends by itself ends
this, too.
"""

import os
import signal
import subprocess
import sys
import threading
import time

PATIENCE_SECONDS = 5.0


def main(user, *command):
    """Start the command as a user, wait until it ends; give its exit status."""
    who = {} if int(user) == os.getuid() else {"user": int(user), "group": int(user)}
    if who:
        who["extra_groups"] = []
    server = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, start_new_session=True, cwd="/", **who
    )
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the tests first
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=end_with_input, args=(server,), daemon=True).start()
    return server.wait()


def end_with_input(server):
    """End the server when standard input ends."""
    while os.read(0, 1):
        pass
    server.send_signal(signal.SIGQUIT)
    time.sleep(PATIENCE_SECONDS)
    os.killpg(server.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
