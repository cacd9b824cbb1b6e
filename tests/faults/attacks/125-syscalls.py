"""Makes system calls that look into other processes, make namespaces, or reach deep into the kernel."""
import ctypes
import errno
import os
import platform

NUMBERS = {
    "x86_64": dict(
        ptrace=101, process_vm_readv=310, process_vm_writev=311, add_key=248, request_key=249, keyctl=250, unshare=272,
        setns=308, mount=165, umount2=166, pivot_root=155, chroot=161, bpf=321, userfaultfd=323, perf_event_open=298,
        kexec_load=246, open_by_handle_at=304, init_module=175, clone=56,
    ),
    "aarch64": dict(
        ptrace=117, process_vm_readv=270, process_vm_writev=271, add_key=217, request_key=218, keyctl=219, unshare=97,
        setns=268, mount=40, umount2=39, pivot_root=41, chroot=51, bpf=280, userfaultfd=282, perf_event_open=241,
        kexec_load=104, open_by_handle_at=265, init_module=105, clone=220,
    ),
}
SHARED = dict(io_uring_setup=425, io_uring_enter=426, io_uring_register=427, open_tree=428, move_mount=429, fsopen=430,
              fsmount=432, pidfd_getfd=438, mount_setattr=442)


def main(given):
    libc = ctypes.CDLL(None, use_errno=True)
    numbers = {**NUMBERS[platform.machine()], **SHARED}
    clone = numbers.pop("clone")
    reached = []
    for name, number in numbers.items():
        ctypes.set_errno(0)
        # Arguments that make no sense: whoever gets another answer than "not permitted" would have been let in.
        result = libc.syscall(number, *[0x7FFFFFF] * 6)
        if result >= 0 or ctypes.get_errno() != errno.EPERM:
            reached.append(name)
    for name, flag in {"clone(NEWUSER)": 0x10000000, "clone(NEWNS)": 0x00020000, "clone(NEWNET)": 0x40000000}.items():
        child = libc.syscall(clone, flag | 17, 0, 0, 0, 0)
        if child == 0:
            os._exit(0)
        if child > 0:
            os.waitpid(child, 0)
            reached.append(name)
    return reached
