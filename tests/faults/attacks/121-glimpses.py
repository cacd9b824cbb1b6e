"""Learns of the machine without reading a file: which there are, how large, and what it is called."""
import os


def main(given):
    reached = []
    try:
        if os.stat(given["canary"]).st_size > 0:
            reached.append("that a file is there, and its size")
    except OSError:
        pass
    if os.uname().nodename == given["machine"]:
        reached.append("the name of the machine")
    return reached
