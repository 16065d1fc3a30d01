# SPDX-License-Identifier: GPL-2.0-only
"""Signals and stops, of a session that shares the terminal: signals.t runs
each of these."""
import os
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
import fcntl

from outer import START, Outer, WAIT, in_shell, main, run, session

# A shell that waits for signals. None comes while it makes a process: a stop
# between vfork and exec would leave it waiting for a child that is stopped.
BUSY = "sleep 1000 & "
TICK = "while :; do wait; done"
QUIET = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
             stderr=subprocess.DEVNULL)


def once():
    """Each is passed on, once, to the command alone."""
    names = "INT TERM HUP QUIT USR1 USR2 WINCH CONT ALRM TSTP".split()
    script = "".join("trap 'echo %s' %s; " % (n, n) for n in names)
    p = subprocess.Popen(session("--", "sh", "-c", BUSY + script +
                                 "echo ready; " + TICK), **QUIET)
    assert p.stdout.readline() == b"ready\n"
    for n in names:
        p.send_signal(getattr(signal, "SIG" + n))
        got = p.stdout.readline()
        assert got == n.encode() + b"\n", (n, got)
    p.send_signal(signal.SIGUSR1)
    assert p.stdout.readline() == b"USR1\n"
    p.kill()


def key():
    """^C goes to all in the foreground; we do not send it once more."""
    o = Outer(session("--", "sh", "-c", BUSY +
                      "trap 'n=$((n+1)); echo got $n' INT; trap 'exit 9' QUIT;"
                      "echo ready; " + TICK))
    o.see(b"ready")
    o.type(b"\x03")
    o.see(b"got 1")
    time.sleep(1)
    o.type(b"\x1c")
    assert o.end() == 9
    assert b"got 2" not in o.shown, o.shown


def stop_key():
    o = in_shell()
    run(o, "--", "sh", "-c",
        BUSY + "trap \"exit 5\" USR1; echo re\"\"ady; " + TICK)
    o.see(b"ready\r\n")
    pid = struct.unpack("i", fcntl.ioctl(o.fd, termios.TIOCGPGRP, b"1234"))[0]
    o.type(b"\x1a")
    o.see(b"Stopped")
    o.see(b"outer> ")
    o.type(b"fg\r")
    o.see(b"ady; while")
    os.kill(pid, signal.SIGUSR1)
    o.see(b"outer> ")
    o.type(b"echo st$?\r")
    o.see(b"st5")


def stops_itself():
    """As an editor does at ^Z."""
    o = in_shell()
    run(o, "--", "sh", "-c", "kill -TSTP 0; echo go\"\"es on")
    o.see(b"Stopped")
    o.see(b"outer> ")
    o.type(b"fg\r")
    o.see(b"goes on")
    o.see(b"outer> ")
    o.type(b"echo st$?\r")
    o.see(b"st0")


def reads_in_background():
    o = in_shell()
    o.type(" ".join("'%s'" % w for w in session("--", "head", "-n1")).encode() +
           b" &\r")
    o.see(b"outer> ")
    o.type(b"until jobs | grep -q Stopped; do sleep 0.1; done; echo st''op\r")
    o.see(b"stop\r\n")
    o.type(b"fg\r")
    # What is typed while the shell edits its line would be no line for it.
    o.see(b"'-n1'\r\n")
    o.raw(False)
    o.type(b"a line\r")
    o.see(b"a line")
    o.see(b"a line")


def elsewhere():
    """Without a shell that waits for it, a stop is the command's alone."""
    p = subprocess.Popen(session("--timeout", "2s", "--", "sh", "-c",
                                 "kill -STOP $$; echo never"), **QUIET,
                         start_new_session=True)
    out, _ = p.communicate(timeout=WAIT)
    assert p.returncode == 124 and out == b"", (p.returncode, out)


def time_over_while_stopped():
    o = in_shell()
    run(o, "--timeout", "8s", "--", "sh", "-c",
        BUSY + "echo re\"\"ady; " + TICK)
    o.see(b"ready\r\n")
    o.type(b"\x1a")
    o.see(b"Stopped")
    o.see(b"outer> ")
    o.see(b"wall time is over")
    o.type(b"wait %1; echo st$?\r")
    o.see(b"st124")


def asks_for_keys():
    """SIGIO, for a key, is for all in the foreground. Where it may be asked
    for, it is not our end."""
    o = Outer(session("--", "python3", "-c", "import fcntl, os, signal\n"
                      "signal.signal(signal.SIGIO, signal.SIG_IGN)\n"
                      "how = fcntl.F_SETFL, os.O_RDWR | os.O_ASYNC\n"
                      "try: fcntl.fcntl(0, *how)\n"
                      "except PermissionError: pass\n"
                      "print('ready', flush=True)\nprint('got', input())"))
    o.see(b"ready")
    o.type(b"a key\r")
    o.see(b"got a key")
    assert o.end() == 0


def not_stopped():
    """What is written to a stopped terminal waits, our own words too, and no
    key helps. Where one may stop it (--no-sandbox), it goes on by itself."""
    o = Outer(session("--", "python3", "-c", "import termios\n"
                      "for how in (termios.TCOOFF, termios.TCOON):\n"
                      "    try: termios.tcflow(0, how)\n"
                      "    except termios.error as e: print(e.args[0])\n"
                      "print('go' 'es on')"))
    if "--no-sandbox" not in START:
        o.see(b"1\r\n")
    o.see(b"goes on")
    assert o.end() == 0


def put_right():
    """Who is killed at the terminal leaves it as it was, also to a script."""
    editor = ("import os, signal, tty, time\n"
              "signal.signal(signal.SIGTTOU, signal.SIG_IGN)\n"
              "os.setpgid(0, 0); os.tcsetpgrp(0, os.getpid())\n"
              "tty.setraw(0); os.write(1, b're' b'ady')\n"
              "%s")
    for how, end in (("time.sleep(1000)", b"st124"),
                     ("os.kill(os.getpid(), 9)", b"st137")):
        words = session("--timeout", "5s", "--", "python3", "-c", editor % how)
        o = Outer(["sh", "-c", '"$@"; echo st$?; read x; echo got $x', "sh"] +
                  words)
        o.see(b"ready")
        o.see(end)
        o.as_before()
        o.type(b"a line\r")
        o.see(b"got a line")
        assert o.end() == 0


def left_as_it_is():
    """Who ends by himself has set what he wanted."""
    o = Outer(["sh", "-c", '"$@"; stty -a; echo st$?', "sh"] +
              session("--", "stty", "-echo"))
    o.see(b" -echo ")
    o.see(b"st0")


def inputs():
    """Standard input of every kind."""
    def cat(**how):
        return subprocess.run(session("--", "cat"), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=WAIT,
                              **how).stdout
    assert cat(input=b"pipe") == b"pipe"
    with open("in", "w+b") as f:
        f.write(b"file")
        f.seek(0)
        assert cat(stdin=f) == b"file"
    a, b = socket.socketpair()
    a.sendall(b"socket")
    a.shutdown(socket.SHUT_WR)
    assert cat(stdin=b) == b"socket"
    assert cat(preexec_fn=lambda: os.close(0)) == b""
    p = subprocess.run(session("--", "sh", "-c", "echo x; echo y >&2; exit 3"),
                       preexec_fn=lambda: os.closerange(0, 3), timeout=WAIT)
    assert p.returncode == 3


def broken():
    """Without a reader the command gets what it would without us."""
    p = subprocess.Popen(session("--", "yes"), **QUIET)
    p.stdout.read(10)
    p.stdout.close()
    assert p.wait(WAIT) == 128 + signal.SIGPIPE
    with open("/dev/full", "wb") as f:
        assert subprocess.run(session("--", "echo", "x"), stdout=f,
                              stderr=subprocess.DEVNULL,
                              timeout=WAIT).returncode == 1


main(globals())
