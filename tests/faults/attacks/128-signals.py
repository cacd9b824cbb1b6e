"""Ends a process of the machine, and looks for it."""
import os
import signal


def main(given):
    reached = []
    try:
        os.kill(given["pid"], signal.SIGKILL)
    except OSError:
        pass
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if given["mark"].encode() in file.read():
                    reached.append("sees processes of the machine")
        except OSError:
            pass
    return reached
