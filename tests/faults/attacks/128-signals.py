"""Ends a process of the machine, and looks for it."""
import os
import signal


def processes():
    try:
        return [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def main(given):
    reached = []
    for pid in [given["pid"], given["server"]]:
        try:
            os.kill(pid, 0)
            reached.append("may signal processes of the machine")
        except OSError:
            pass
    try:
        os.kill(given["pid"], signal.SIGKILL)
    except OSError:
        pass
    for pid in processes():
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if given["mark"].encode() in file.read():
                    reached.append("sees processes of the machine")
        except OSError:
            pass
    return reached
