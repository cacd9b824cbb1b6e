"""Leaves memory behind that no process holds, or finds what another left."""
import ctypes


def main(given):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    reached = []
    key = given["key"]
    if libc.shmget(key, 4096, 0) >= 0:
        reached.append("memory of another run")
    libc.shmget(key, 4096, 0o1666)
    return reached
