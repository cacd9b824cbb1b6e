"""Writes where it has no business."""
import os


def main(given):
    reached = []
    name = given["name"]
    places = ["/", "/usr", "/usr/bin", "/etc", "/dev", "/proc", "/proc/sys/kernel", "/lib", "/bin", "/home", given["folder"]]
    for folder in places:
        path = os.path.join(folder, name)
        try:
            with open(path, "w"):
                pass
            reached.append(folder)
            os.remove(path)
        except OSError:
            pass
    try:
        os.close(os.open(os.path.realpath("/usr/bin/env"), os.O_WRONLY))
        reached.append("a program of the system")
    except OSError:
        pass
    return reached
