# SPDX-License-Identifier: GPL-2.0-only
"""Supervisor, keeper or the command's process gets a signal at one step after
the other: fault.t runs each of these, with FAULTS, a build that can, the place
for a run, and how it is started."""
import errno
import json
import os
import re
import signal
import subprocess
import sys
import time

os.makedirs("/run/lh/sessions", exist_ok=True)
lh, place, *how = sys.argv[2:]
ws = place + "/ws"
log = ws + "/fault.log"
result = place + "/out/r.json"
WAIT = 180
UID = os.environ["FAULT_UID"]
DENIES = os.path.isdir("/run/lh-vm")
# What it is, whether it reads what is denied, or may what nobody may.
COMMAND = """grep -E '^(Uid|CapEff|NoNewPrivs|Seccomp):' /proc/self/status >ran
cat denied >leak 2>/dev/null
unshare -U true 2>/dev/null && echo loose >>ran
echo >up
until [ -e go ]; do sleep 0.02; done"""
KILL, SEGV, STOP = signal.SIGKILL, signal.SIGSEGV, signal.SIGSTOP


def read(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except OSError as e:
        # Also a process that ends, or a cgroup that goes, while it is read.
        if e.errno not in (errno.ENOENT, errno.ESRCH, errno.ENODEV):
            raise
        return None


def until(what, words):
    end = time.monotonic() + WAIT
    while not what():
        assert time.monotonic() < end, words
        time.sleep(0.01)


cgroups = re.search(r"^\S+ (\S+) cgroup2 ", read("/proc/self/mounts"),
                    re.M)[1] + "/lh/"


mine = set()


def look():
    """Sessions that are known here: others may be of other tests."""
    mine.update(name[:12] for name in os.listdir("/run/lh/sessions"))


def places():
    """All that is left of sessions outside of their workspace."""
    look()
    return [path for name in mine for path in (
        cgroups + name, "/tmp/lh-%s/%s" % (UID, name),
        "/run/lh/sessions/" + name, "/run/lh/sessions/%s.json" % name)
        if os.path.lexists(path)]


def runs():
    """Are there processes of a session?"""
    look()
    return any("populated 1" in (read(cgroups + name + "/cgroup.events") or "")
               for name in mine)


def start(fault):
    for name in "ran", "leak", "up", "go":
        if os.path.exists(ws + "/" + name):
            os.unlink(ws + "/" + name)
    with open(log, "w", encoding="utf-8"):
        os.chmod(log, 0o666)
    if os.path.exists(result):
        os.unlink(result)
    env = dict(os.environ, LH_FAULT=fault, LH_FAULT_LOG=log)
    return subprocess.Popen(
        [lh, *how, "--result", result, "-C", ws, "--", "sh", "-c", COMMAND],
        env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True)


def go(p):
    """To the fault, or to the end if it comes to none."""
    def there():
        if os.path.exists(ws + "/up"):
            with open(ws + "/go", "w", encoding="utf-8"):
                pass
        return read(log) or p.poll() is not None
    until(there, "neither a fault nor an end")
    look()
    return read(log)


def confined():
    """What the command was, if it ran at all."""
    ran = read(ws + "/ran")
    assert not read(ws + "/leak") or not DENIES, "it read what is denied"
    if not ran:
        return
    assert "loose" not in ran, ran
    for line in ran.splitlines():
        name, value = line.split(":")
        value = value.split()
        assert value == {"Uid": 4 * [UID], "CapEff": [16 * "0"],
                         "NoNewPrivs": ["1"], "Seccomp": ["2"]}[name], ran


def whole():
    """A result, if there is one, is whole."""
    text = read(result)
    return json.loads(text) if text is not None else None


def swept():
    """The next start leaves nothing of the last; what a keeper that lives is
    at already, or a process that has yet to notice its end, the one after."""
    def again():
        p = subprocess.run([lh, *how, "-q", "-C", ws, "--", "true"],
                           check=False, stdin=subprocess.DEVNULL,
                           stderr=subprocess.PIPE)
        assert p.returncode == 0, p.stderr
        return not places()
    until(again, "something is left")


def every(who, sig, check):
    """One step after the other, until there is none left."""
    n = 0
    while True:
        n += 1
        p = start("%s %d %d" % (who, n, sig))
        at = go(p)
        if not at:
            assert p.wait(WAIT) == 0, p.stderr.read()
            break
        try:
            check(p, at)
            until(lambda: not runs(), "what ran goes on")
            confined()
            swept()
        except Exception:
            print("at", at, file=sys.stderr)
            raise
        finally:
            p.stderr.close()
    assert n > 3, n
    print(n - 1, "steps")


def dead(sig):
    def check(p, at):
        assert p.wait(WAIT) == -sig, p.returncode
        r = whole()
        assert (r is None) == ("told" not in at), r
    return check


def held(p, _at):
    """Stopped, and let go on: as if nothing had been."""
    until(lambda: ") T " in (read("/proc/%d/stat" % p.pid) or ") T "),
          "it does not stop")
    confined()
    until(lambda: p.send_signal(signal.SIGCONT) or ended(p), "it stays")
    assert p.returncode == 0, p.stderr.read()
    assert whole()["status"] == "ok"


def ended(p):
    if os.path.exists(ws + "/up"):
        with open(ws + "/go", "w", encoding="utf-8"):
            pass
    return p.poll() is not None


def without_keeper(p, at):
    """Its end is the session's, unless that is over."""
    until(lambda: ended(p), "it goes on")
    r = whole()
    over = "dismissed" in at or r["status"] == "ok"
    assert p.returncode == (0 if over else 125), p.stderr.read()
    assert over or r["status"] == "supervisor_error" and "keeper" in \
        r["error"], r


def without_command(p, at):
    until(lambda: ended(p), "it goes on")
    r = whole()
    assert p.returncode in (125, 128 + KILL), p.stderr.read()
    assert r["status"] in ("supervisor_error", "killed"), r
    assert read(ws + "/ran") is None


def supervisor_killed():
    every("supervisor", KILL, dead(KILL))


def supervisor_faults():
    every("supervisor", SEGV, dead(SEGV))


def supervisor_stopped():
    every("supervisor", STOP, held)


def keeper_killed():
    every("keeper", KILL, without_keeper)


def keeper_faults():
    every("keeper", SEGV, without_keeper)


def keeper_stopped():
    every("keeper", STOP, lambda p, at: held_keeper(p))


def held_keeper(p):
    """The supervisor wakes it."""
    until(lambda: ended(p), "it goes on")
    assert p.returncode == 0, p.stderr.read()
    assert whole()["status"] == "ok"


def command_killed():
    every("command", KILL, without_command)


def gone(who):
    """It was hit, and holds nothing any more."""
    at = re.search(r"^%s .* (\d+)$" % who, read(log), re.M)
    return at and (") Z " in (read("/proc/%s/stat" % at[1]) or ") Z "))


def both_killed():
    """The keeper too, while it ends what the supervisor left; or before."""
    for first in "label", "follow", "exited", "no-group":
        for then in "quiet", "started", "orphaned", "killed", "removed":
            p = start("supervisor %s 9,keeper %s 9" % (first, then))
            go(p)
            until(lambda: ended(p), "it goes on")
            p.stderr.close()
            assert p.returncode in (-9, 125), p.returncode
            until(lambda: gone("keeper") or not places(), "the keeper stays")
            swept()
            assert not runs()
            confined()


globals()[sys.argv[1]]()
print("works")
