#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The schema before a stock validator: it accepts every policy that compiles,
also such as nobody wrote, and rejects every bad file that a schema can tell.
"""
import copy
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import jsonschema

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
POLICY = os.path.join(TOP, os.environ.get("B", "build"), "lh-policy")
WHERE = ["-C", "/w", "--home", "/home/u", "--user", "u"]

# What no schema can tell, with the reason: JSON that is right in form.
BEYOND = {
    "long-path.json": "lengths count after expansion, in bytes",
    "roots.json": "what stands between fields, and where homes are",
}

# Not the language's, but what this build does with it.
UNENFORCED = "not enforceable by this build"

# Every field, so that each is met by the mutants.
WHOLE = [{
    "version": 1, "name": "n", "description": "d", "$schema": "s",
    "sandbox_profile": "worktree", "side_effect_level": "network",
    "capabilities": {"workspace": ["list", "delete"], "process": ["exec"]},
    "workspace_roots": ["/w/a"], "read_only_roots": ["?b"],
    "process_sandbox": {
        "presets": ["user_temp"], "read_roots": ["/"], "write_roots": ["/c"],
        "read_deny_roots": ["d"], "allow_loopback": True,
        "allow_tcp_loopback": True, "loopback_ports": [5432, "1-2", "7"],
        "publish_ports": [80], "bind_any": "loopback",
        "unix_socket_roots": ["/run/x"], "user_namespaces": True,
        "ptrace": True},
    "protect": {"add": ["deploy/keys", "**/a/b"],
                "exclude": [".git/config", "~/.profile"]},
    "egress": {"default": "allow", "allow": ["tcp/[2001:db8::/32]:1-9"],
               "deny": ["10.0.0.0/8", "udp/::1"]},
    "environment": {"mode": "granted", "pass": ["A"], "set": {"B": "c"}},
    "limits": {"wall_time": "1m", "grace": "0s", "idle_time": "9s",
               "memory": "1G", "swap": 0, "cpu": "150%", "io": "1M",
               "pids": 9, "open_files": 9, "file_size": "1T",
               "capture_bytes": "64K"},
    "mounts": [{"path": "/m", "backing": "/m", "access": "ro",
                "tracked": False}],
    "mode": "report", "on_loss": "kill", "env_files": [],
}, {
    "policy": {"read": ["*", "/a/**", "?~/b"], "write": ["src/**", "/x"],
               "exec": ["*"], "net": ["loopback", "*", "udp/10.0.0.1:53"]},
    "name": "n", "process_sandbox": {"presets": None, "ptrace": False,
                                     "read_deny_roots": ["a"]},
    "limits": {"pids": 5}, "protect": {"add": ["x"]}, "mode": "enforce",
}]

count = 0
failed = 0


def ok(good, name, why=""):
    global count, failed
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    if not good:
        failed = 1
        for line in str(why).splitlines()[:12]:
            print(f"# {line}")


def lh(*args):
    return subprocess.run([POLICY, *args], check=False, text=True,
                          errors="replace", stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wrong(validator, policy):
    """What is wrong, most telling first; empty: nothing."""
    errors = sorted(validator.iter_errors(policy), key=str)
    return "\n".join(f"/{'/'.join(map(str, e.absolute_path))}: {e.message}"
                     for e in errors)


def load(path):
    with open(path, encoding="utf-8", newline="") as f:
        return json.load(f)


def manual():
    """The JSON blocks of the manual."""
    with open(f"{TOP}/policy-compiler/lh-policy.5", encoding="utf-8") as f:
        text = f.read()
    for block in re.findall(r"^\.Bd -literal.*?^\.Ed", text, re.M | re.S):
        m = re.search(r"^\{.*?^\}|^\{.*\}$", block, re.M | re.S)
        if m:
            yield json.loads(m.group().replace("\\e", "\\"))


def good(validator):
    patterns = ["tests/policy/good/*.json", "policy-compiler/policies/*.json",
                "examples/*.json"]
    policies = []
    for f in sorted(f for p in patterns for f in glob.glob(f"{TOP}/{p}")):
        policies.append(load(f))
        why = wrong(validator, policies[-1])
        ok(not why, f"accepts {os.path.relpath(f, TOP)}", why)
    blocks = list(manual())
    ok(len(blocks) >= 3, "the manual shows policies", len(blocks))
    for i, policy in enumerate(blocks):
        why = wrong(validator, policy)
        ok(not why, f"accepts block {i + 1} of the manual", why)
    return policies + blocks


def bad(validator):
    met = set()
    for f in sorted(glob.glob(f"{TOP}/tests/policy/bad/*.json")):
        name = os.path.basename(f)
        try:
            why = wrong(validator, load(f))
        except (ValueError, RecursionError) as e:
            why = f"no JSON: {e}"
        if name in BEYOND:
            met.add(name)
            ok(not why, f"cannot tell bad/{name}: {BEYOND[name]}",
               f"it can, take it off the list: {why}")
        else:
            ok(why, f"rejects bad/{name}", "accepted")
    ok(met == set(BEYOND), "knows no file that is gone", set(BEYOND) - met)


def show(validator):
    """What the compiler itself writes is of the language."""
    for name in ["agent", "build", "reader", "test", "worktree"]:
        out = lh("show", name, *WHERE).stdout
        why = wrong(validator, json.loads(out))
        ok(not why, f"accepts what show prints of {name}", why)


# Values that are right at some place, or nearly.
VALUES = [
    None, True, False, 0, 1, -1, 1.5, 4096, 5432, 65535, 65536, 1048576, "",
    "?", "/", "~", "~/x", "?~/x", "${HOME}", "${WORKSPACE}/a", "${PWD}", "$$x",
    "$", "$x", "a\nb", "a\n", "\u0085", "/a/../b", "x" * 300, "1", "1s", "0s",
    "10m", "01s", "1500ms", "7us", "3 s", "-1s", "9" * 30 + "s", "1K", "2G",
    "0", "2 G", "1T", "200%", "0%", "100000%", "100001%", "8000-8010", "0-1",
    "10-1", "1-65535", "1-65536", "10.0.0.0/8", "10.0.0.1", "10.0.0.1:443",
    "tcp/10.0.0.1:1-2", "udp/::1", "[::1]:443", "[2001:db8::/32]:443", "::/0",
    "::1/129", "1.2.3.4/33", "1.2.3", "example.org", "*.a", "loopback", "*",
    "A", "A_1", "1A", "A-B", "deploy/keys", "**/a/b", "**/a", "../x", "/abs",
    "a/./b", ".git/config", ".git/hooks", "deny", "allow", "rw", "ro", "kill",
    "continue", "enforce", "report", "refuse", "exec", "delete", "read_text",
    [], {}, ["*"], ["loopback"], ["/a/**"], ["A", "A"], [5432, "1-2"],
    {"A": "b"}, {"A": None}, {"1": "x"}, [None], ["/x"], ["tcp/1.2.3.4"],
]


def places(v):
    """Every value of @v, as the object or list that holds it and its name."""
    items = v.items() if isinstance(v, dict) else enumerate(v)
    for key, w in list(items):
        yield v, key
        if isinstance(w, (dict, list)):
            yield from places(w)


def mutate(dice, policy, names):
    policy = copy.deepcopy(policy)
    for _ in range(dice.randint(1, 2)):
        all_places = list(places(policy))
        if not all_places:
            return policy
        holder, key = dice.choice(all_places)
        value = copy.deepcopy(dice.choice(VALUES))
        kind = dice.randint(0, 5)
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, list):
            holder.append(value)
        elif kind <= 2 and isinstance(holder, dict):
            holder[dice.choice(names)] = value
        elif kind == 3 and isinstance(holder[key], list):
            holder[key].append(value)
        else:
            holder[key] = value
    return policy


def errors(report):
    """What is wrong with the language of a policy; empty: nothing."""
    return "\n".join(
        f'{d["pointer"]}: {d["message"]}' for d in report["diagnostics"]
        if d["severity"] == "error" and
        (not d["message"].startswith(UNENFORCED) or
         "tracks no" in d["message"]))


def mutants(validator, policies, schema):
    """Whatever the compiler takes, the schema takes."""
    dice = random.Random(1)
    names = sorted(set(re.findall(r'"(\w+)": \{', schema)))
    with tempfile.TemporaryDirectory() as tmp:
        made = {}
        for i in range(int(os.environ.get("LH_FUZZ", "1500"))):
            path = f"{tmp}/{i}.json"
            made[path] = mutate(dice, dice.choice(policies), names)
            with open(path, "w", encoding="utf-8") as f:
                json.dump(made[path], f)
        refused = {}
        files = sorted(made)
        for i in range(0, len(files), 500):
            said = lh("check", "--json", *WHERE, *files[i:i + 500]).stdout
            for report in map(json.loads, said.split("\n")[:-1]):
                if why := errors(report):
                    refused[report["file"]] = why
        assert said.count("\n") == len(files[i:]), "a line for each"
        taken = [f for f in files if f not in refused]
        strict = [(f, w) for f in taken if (w := wrong(validator, made[f]))]
        told = sum(bool(wrong(validator, made[f])) for f in refused)
        why = "\n".join(f"{json.dumps(made[f])}: {w}" for f, w in strict)
        ok(taken and not strict,
           f"accepts the {len(taken)} of {len(files)} mutants that compile",
           why)
        print(f"# and rejects {told} of the {len(refused)} others")
        if "--mutants" in sys.argv:
            for f in sorted(refused):
                if not wrong(validator, made[f]):
                    print(json.dumps(made[f]), refused[f])


def main():
    print("TAP version 13")
    run = lh("schema")
    schema = json.loads(run.stdout)
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
        why = ""
    except jsonschema.SchemaError as e:
        why = e
    ok(run.returncode == 0 and not why, "is a schema", why)
    validator = jsonschema.Draft202012Validator(schema)
    policies = good(validator)
    bad(validator)
    show(validator)
    for i, policy in enumerate(WHOLE):
        why = wrong(validator, policy)
        ok(not why, f"accepts a policy of all fields, form {i + 1}", why)
    mutants(validator, policies + 6 * WHOLE, run.stdout)
    print(f"1..{count}")
    return failed


sys.exit(main())
