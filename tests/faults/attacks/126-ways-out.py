"""Follows links, other processes and open files out of where it is."""
import os
import stat


def processes():
    try:
        return [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def descriptors():
    try:
        return [int(fd) for fd in os.listdir("/proc/self/fd")]
    except OSError:
        return range(1024)


def main(given):
    reached = []
    target = given["canary"]

    def look(name, path):
        try:
            with open(path, "rb") as file:
                if file.read():
                    reached.append(name)
        except OSError:
            pass

    os.symlink(target, "link")
    look("symbolic link", "link")
    try:
        os.link("/etc/passwd", "hard")
        look("hard link", "hard")
    except OSError:
        pass
    for pid in ["self", "1", str(os.getppid())]:
        look("root of a process", f"/proc/{pid}/root{target}")
        look("folder of a process", f"/proc/{pid}/cwd/../../../../..{target}")
    for pid in processes():
        if int(pid) > 100:
            reached.append("processes of the machine")
            break
    for fd in descriptors():
        try:
            mode = os.fstat(fd).st_mode
            where = os.readlink(f"/proc/self/fd/{fd}")
        except FileNotFoundError:
            continue
        except PermissionError:
            # What it is called cannot be seen; a folder or file is one all the same.
            where = "/unknown" if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else "unknown"
        except OSError:
            continue
        # Three streams, the stream of the result, and the folder that is being listed.
        if fd > 3 and not where.startswith("/proc/"):
            reached.append(f"open file {where}")
        if where.startswith("/") and not where.startswith(("/proc/", "/dev/null")):
            reached.append(f"open file {where}")
    return sorted(set(reached))
