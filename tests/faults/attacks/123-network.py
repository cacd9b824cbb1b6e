"""Talks to services of the machine, and to the world; connecting a datagram socket sends nothing."""
import socket


def main(given):
    reached = []

    def dial(name, family, kind, address):
        try:
            with socket.socket(family, kind) as line:
                line.settimeout(2)
                line.connect(address)
            reached.append(name)
        except OSError:
            pass

    dial("127.0.0.1", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", given["port"]))
    dial("::1", socket.AF_INET6, socket.SOCK_STREAM, ("::1", given["port6"]))
    dial("abstract socket", socket.AF_UNIX, socket.SOCK_STREAM, "\0" + given["abstract"])
    dial("socket file", socket.AF_UNIX, socket.SOCK_STREAM, given["socket"])
    dial("1.1.1.1", socket.AF_INET, socket.SOCK_DGRAM, ("1.1.1.1", 53))
    dial("10.0.0.1", socket.AF_INET, socket.SOCK_DGRAM, ("10.0.0.1", 53))
    dial("169.254.169.254", socket.AF_INET, socket.SOCK_DGRAM, ("169.254.169.254", 80))
    dial("2606:4700::1111", socket.AF_INET6, socket.SOCK_DGRAM, ("2606:4700::1111", 53))
    try:
        socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()
        reached.append("vsock")
    except (OSError, AttributeError):
        pass
    return reached
