"""Changes how other processes run, without a signal: their limits, their turn, their processors."""
import os
import resource


def main(given):
    reached = []
    for pid in [given["pid"]]:
        attempts = {
            "limits of a process": lambda: resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0)),
            "turn of a process": lambda: os.setpriority(os.PRIO_PROCESS, pid, 5),
            "processors of a process": lambda: os.sched_setaffinity(pid, {0}),
        }
        for name, attempt in attempts.items():
            try:
                attempt()
                reached.append(name)
            except OSError:
                pass
    return sorted(set(reached))
