# SPDX-License-Identifier: GPL-2.0-only
"""A terminal as a user sits at one, for tests: a program in it, what it shows
and what is typed. Each case prints "works" or dies with what was shown."""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

START = sys.argv[2].split()     # the words that start a session
WAIT = 120


class Outer:
    def __init__(self, words, rows=40, cols=100):
        self.shown = b""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ["PS1"] = "outer> "
            os.environ["TERM"] = "xterm"
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ,
                            struct.pack("HHHH", rows, cols, 0, 0))
                os.execvp(words[0], words)
            finally:
                os._exit(99)
        self.before = termios.tcgetattr(self.fd)

    def resize(self, rows, cols):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, cols, 0, 0))

    def type(self, keys):
        os.write(self.fd, keys)

    def read(self, until):
        if not select.select([self.fd], [], [], max(0, until - time.time()))[0]:
            raise SystemExit("waited in vain; shown: %r" % self.shown)
        try:
            part = os.read(self.fd, 65536)
        except OSError:
            part = b""
        self.shown += part
        return part

    def see(self, words):
        """Wait until @words are shown; what comes after them is kept."""
        until = time.time() + WAIT
        while words not in self.shown:
            if not self.read(until):
                raise SystemExit("%r is not in %r" % (words, self.shown))
        self.shown = self.shown.split(words, 1)[1]

    def end(self):
        """The program's exit status, or minus the signal."""
        until = time.time() + WAIT
        while self.read(until):
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def raw(self, want):
        until = time.time() + WAIT
        while bool(termios.tcgetattr(self.fd)[3] & termios.ICANON) == want:
            assert time.time() < until, "raw is not %r" % want
            time.sleep(0.01)

    def as_before(self):
        until = time.time() + WAIT
        while termios.tcgetattr(self.fd) != self.before:
            assert time.time() < until, termios.tcgetattr(self.fd)
            time.sleep(0.01)


def session(*words):
    return START + list(words)


def in_shell():
    """A shell with job control in it, in which sessions are started."""
    o = Outer(["bash", "--norc", "--noprofile", "-i"])
    o.see(b"outer> ")
    return o


def run(o, *words):
    line = " ".join("'%s'" % w for w in session(*words))
    o.type(line.encode() + b"\r")


def kept(o):
    """A holder of the terminal, so that it can be looked at to the end."""
    return os.open(os.ptsname(o.fd) if hasattr(os, "ptsname") else
                   "/dev/pts/%d" % struct.unpack("i", fcntl.ioctl(
                       o.fd, 0x80045430, b"1234"))[0],
                   os.O_RDWR | os.O_NOCTTY)


def main(cases):
    cases[sys.argv[1]]()
    print("works")
