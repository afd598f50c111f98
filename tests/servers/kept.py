"""Run a server for as long as whoever started it lives: `python kept.py USER_ID COMMAND ...`.

Standard input is a pipe that nobody writes to; its end says that the tests are over, however they
ended. The server is then told to stop, and killed if it doesn't.
"""

import os
import signal
import subprocess
import sys

PATIENCE_SECONDS = 5.0


def main(user, *command):
    """Start the command as a user, wait for the end of standard input, end the command."""
    who = {} if int(user) == os.getuid() else {"user": int(user), "group": int(user)}
    if who:
        who["extra_groups"] = []
    server = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, start_new_session=True, cwd="/", **who
    )
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the tests first
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while os.read(0, 1):
        pass
    server.send_signal(signal.SIGQUIT)
    try:
        server.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
