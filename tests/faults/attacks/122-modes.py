"""Changes files that are not its own without opening them: their modes, owners, times and attributes."""
import os


def main(given):
    reached = []
    path = given["canary"]
    attempts = {
        "mode": lambda: os.chmod(path, 0o644),
        "owner": lambda: os.chown(path, -1, os.getgid()),
        "times": lambda: os.utime(path),
        "attributes": lambda: os.setxattr(path, "user.tooldex", b"x"),
    }
    for name, attempt in attempts.items():
        try:
            attempt()
            reached.append(name)
        except OSError:
            pass
    return reached
