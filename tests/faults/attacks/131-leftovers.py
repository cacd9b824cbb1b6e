"""Leaves files for the next run, or finds those of the last one."""
import os


def main(given):
    places = [os.getcwd(), "/tmp", "/dev/shm", "/var/tmp"]
    paths = [os.path.join(place, given["name"]) for place in places]
    found = sorted({os.path.dirname(path) for path in paths if os.path.exists(path)})
    for path in paths:
        try:
            with open(path, "w"):
                pass
        except OSError:
            pass
    return found
