"""Gains privileges by a program that gives them."""
import ctypes
import os
import sys


def ask_kernel():
    """Whether privileges can be gained, and which are had, without the files that say so."""
    libc = ctypes.CDLL(None)
    held = ctypes.create_string_buffer(24)
    libc.capget((0x20080522).to_bytes(4, sys.byteorder) + bytes(4), held)
    return {"NoNewPrivs": str(libc.prctl(39, 0, 0, 0, 0)), "CapEff": held.raw[:4].hex()}


def read_lines(path):
    try:
        with open(path) as file:
            return file.readlines()
    except OSError:
        return []


def main(given):
    reached = []
    lines = read_lines("/proc/self/status")
    status = dict(line.rstrip("\n").split(":\t", 1) for line in lines if ":\t" in line) or ask_kernel()
    if status.get("NoNewPrivs") != "1":
        reached.append("privileges can be gained")
    if int(status["CapEff"], 16):
        reached.append("has capabilities")
    for mount in read_lines("/proc/self/mounts"):
        _, where, _, options, *_ = mount.split()
        if where == "/usr" and "nosuid" not in options.split(","):
            reached.append("programs may give privileges")
    try:
        os.setuid(0)
        reached.append("is root")
    except OSError:
        pass
    return reached
