"""The command line as `python -m sqlwright`, by which launchers of several processes start it.

Internal: may change without notice.
"""

from sqlwright.cli.main import run

if __name__ == "__main__":
    run()
