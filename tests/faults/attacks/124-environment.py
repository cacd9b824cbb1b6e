"""Reads variables: its own, and those of other processes."""
import os

HARMLESS = {"PWD", "LC_CTYPE", "HOME", "TMPDIR", "TOOLDEX_RUN_ID"}


def processes():
    try:
        return [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def main(given):
    reached = sorted(set(os.environ) - HARMLESS)
    for pid in ["1", str(os.getppid()), *processes()]:
        if pid == str(os.getpid()):
            continue
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                names = {part.split(b"=")[0].decode() for part in file.read().split(b"\0") if part}
        except OSError:
            continue
        if names - HARMLESS:
            reached.append("variables of other processes")
            break
    return reached
