"""Reads what tells about the machine, or belongs to somebody on it."""
import os


def main(given):
    reached = []
    for path in ["/etc/passwd", "/etc/shadow", "/etc/hostname", "/etc/machine-id", given["canary"]]:
        try:
            with open(path, "rb") as file:
                file.read(1)
            reached.append(path)
        except OSError:
            pass
    for folder in ["/root", "/home", "/var", "/srv", "/opt", "/run", "/sys", "/boot", os.path.expanduser("~/.ssh")]:
        try:
            if os.listdir(folder) or folder == "/root":
                reached.append(folder)
        except OSError:
            pass
    return reached
