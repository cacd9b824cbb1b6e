"""Sends to a service of the machine by a pair of sockets of its own, which needs no other socket."""
import socket


def main(given):
    reached = []
    for address in [given["letters"], "\0" + given["abstract"] + "-letters"]:
        try:
            mine, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            with mine, other:
                mine.sendto(b"knock", address)
            reached.append(address.replace("\0", "@"))
        except OSError:
            pass
    return reached
