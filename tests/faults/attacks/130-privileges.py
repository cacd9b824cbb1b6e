"""Gains privileges by a program that gives them."""
import os


def main(given):
    reached = []
    with open("/proc/self/status") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    if status.get("NoNewPrivs") != "1":
        reached.append("privileges can be gained")
    if int(status["CapEff"], 16):
        reached.append("has capabilities")
    for mount in open("/proc/self/mounts"):
        _, where, _, options, *_ = mount.split()
        if where == "/usr" and "nosuid" not in options.split(","):
            reached.append("programs may give privileges")
    try:
        os.setuid(0)
        reached.append("is root")
    except OSError:
        pass
    return reached
