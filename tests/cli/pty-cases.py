# SPDX-License-Identifier: GPL-2.0-only
"""--pty at a terminal: pty.t runs each of these."""
import fcntl
import os
import signal
import struct
import termios
import time

from outer import Outer, WAIT, in_shell, kept, main, run, session

READY = "echo ready; while :; do sleep 0.1; done"


def size():
    o = Outer(session("--pty", "--", "sh", "-c",
                      "stty size; trap 'stty size; exit 7' WINCH; " + READY))
    o.see(b"40 100\r\n")
    o.see(b"ready")
    o.resize(30, 90)
    os.kill(o.pid, signal.SIGWINCH)
    o.see(b"30 90\r\n")
    assert o.end() == 7


def modes(how, words, status):
    o = Outer(session("--pty", *words))
    hold = kept(o)
    o.see(b"ready")
    o.raw(True)
    how(o)
    got = os.waitstatus_to_exitcode(os.waitpid(o.pid, 0)[1])
    o.as_before()
    os.close(hold)
    assert got == status, got


def restored():
    def key(o):
        o.type(b"x")

    def kill(sig):
        return lambda o: os.kill(o.pid, sig)
    loop = ["--", "sh", "-c", READY]
    modes(key, ["--", "sh", "-c", "stty raw; echo ready; head -c1 >/dev/null"],
          0)
    modes(key, ["--", "sh", "-c",
                "stty raw; echo ready; head -c1 >/dev/null; kill -9 $$"], 137)
    modes(lambda o: None, ["--timeout", "2s"] + loop, 124)
    modes(kill(signal.SIGTERM), loop, 143)
    modes(kill(signal.SIGKILL), loop, -9)
    modes(kill(signal.SIGSEGV), loop, -11)
    modes(kill(signal.SIGABRT), loop, -6)


def interrupt():
    o = Outer(session("--pty", "--", "sh", "-c",
                      "trap 'n=$((n+1)); echo got $n' INT; trap 'exit 9' QUIT;"
                      + READY))
    o.see(b"ready")
    o.raw(True)
    o.type(b"\x03")
    o.see(b"got 1")
    time.sleep(0.5)
    o.type(b"\x1c")
    assert o.end() == 9
    assert b"got 2" not in o.shown


def jobs():
    o = Outer(session("--pty", "--", "bash", "--norc", "--noprofile", "-i"))
    o.type(b"PS1='inner''> '\r")
    o.see(b"inner> ")
    o.type(b"sh -c 'echo be''gun; sleep 1000'\r")
    o.see(b"begun")
    o.type(b"\x1a")
    o.see(b"Stopped")
    o.see(b"inner> ")
    o.type(b"kill %1; fg\r")
    o.see(b"inner> ")
    o.type(b"echo no''thing\r")
    o.see(b"nothing")
    o.type(b"exit 6\r")
    assert o.end() == 6
    assert b"no job control" not in o.shown


def vim():
    o = Outer(session("--pty", "--", "vim.tiny", "-u", "NONE", "-n", "note"))
    o.see(b"~")
    o.type(b"i")
    o.type(b"written here")
    o.see(b"here")
    o.type(b"\x1b")
    time.sleep(1)
    o.type(b":wq\r")
    assert o.end() == 0
    with open("note") as f:
        assert f.read() == "written here\n"


def less():
    with open("long", "w") as f:
        f.writelines("line %d\n" % i for i in range(1000))
    o = Outer(session("--pty", "--", "less", "long"))
    o.see(b"line 30")
    o.type(b"G")
    o.see(b"line 999")
    o.type(b"q")
    assert o.end() == 0


def suspended():
    """The session's terminal gets ^Z; we are stopped by TSTP sent to us."""
    o = in_shell()
    run(o, "--pty", "--", "sh", "-c", "trap \"exit 5\" USR1; " +
        READY.replace("ready", "re\"\"ady"))
    o.see(b"ready\r\n")
    pid = struct.unpack("i", fcntl.ioctl(o.fd, termios.TIOCGPGRP, b"1234"))[0]
    o.raw(True)
    os.kill(pid, signal.SIGTSTP)
    o.see(b"Stopped")
    o.see(b"outer> ")
    o.type(b"fg\r")
    until = time.time() + WAIT
    while struct.unpack("i", fcntl.ioctl(o.fd, termios.TIOCGPGRP,
                                         b"1234"))[0] != pid:
        assert time.time() < until
        time.sleep(0.01)
    o.raw(True)
    os.kill(pid, signal.SIGUSR1)
    o.see(b"outer> ")
    o.type(b"echo st$?\r")
    o.see(b"st5")


def background():
    """Neither the terminal's modes nor its keys are taken from a shell."""
    o = in_shell()
    o.type(b"stty -a >before\r")
    o.see(b"outer> ")
    o.type(" ".join("'%s'" % w for w in session(
        "--pty", "--", "sh", "-c", "sleep 1; echo do\"\"ne")).encode() + b" &\r")
    o.see(b"outer> ")
    o.type(b"echo ty''ped\r")
    o.see(b"typed")
    o.see(b"done")
    o.type(b"wait; echo st$?; stty -a | cmp - before && echo same''modes\r")
    o.see(b"st0")


def idle():
    o = Outer(session("--idle-timeout", "100s", "--", "sh", "-c",
                      "tty; test -t 0 && test -t 1 && test -t 2 && "
                      "stty size"))
    outer = b"/dev/pts/%d\r\n" % struct.unpack(
        "i", fcntl.ioctl(o.fd, 0x80045430, b"1234"))[0]
    assert o.end() == 0
    assert b"40 100" in o.shown and outer not in o.shown, o.shown
    o = Outer(session("--", "tty"))
    outer = b"/dev/pts/%d\r\n" % struct.unpack(
        "i", fcntl.ioctl(o.fd, 0x80045430, b"1234"))[0]
    assert o.end() == 0 and outer in o.shown, o.shown
    o = Outer(session("--idle-timeout", "2s", "--", "sh", "-c", READY))
    assert o.end() == 124, o.shown


def injection():
    o = Outer(session("--pty", "--", "python3", "-c", """
import fcntl
for request in 0x5412, 0x541c:
    try:
        fcntl.ioctl(0, request, b"x")
    except OSError as e:
        print(e.errno)
"""))
    hold = kept(o)
    code = os.waitstatus_to_exitcode(os.waitpid(o.pid, 0)[1])
    waiting = struct.unpack("i", fcntl.ioctl(hold, termios.FIONREAD,
                                             b"1234"))[0]
    assert (code, waiting) == (0, 0), (code, waiting)


main(globals())
