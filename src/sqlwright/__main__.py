"""`python -m sqlwright`: the command line where its script isn't on the PATH."""

from sqlwright.cli.main import run

if __name__ == "__main__":
    run()
