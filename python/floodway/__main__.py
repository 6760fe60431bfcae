"""The command ``floodway``, which is part of the package: also ``python -m floodway``."""

import signal
import sys

from floodway._floodway import program


def main() -> int:
    """Run the command with the arguments of this process; return its exit status."""
    if sys.argv[1:2] == ["tune"]:
        # A command that is written in Python, because Optuna is.
        from floodway._command import main as tune

        return tune(sys.argv[2:])
    if sys.argv[1:2] == ["overlay"]:
        # The other one: matplotlib draws its chart.
        from floodway._overlay_command import main as overlay

        return overlay(sys.argv[2:])
    # The command handles Ctrl-C itself. Python would raise KeyboardInterrupt besides.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return program([sys.executable, "-m", "floodway"], sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
