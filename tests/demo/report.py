#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""report.py DENIALS RESULT: a table of the records, and the result.

Exits 0 only if each kind of refusal that the script provoked is on record,
the sequence has no gap, and the result agrees with the records.
"""
import json
import sys

# operation, part of the path (or None), part of the rule
EXPECTED = [
    ("open", "/.ssh/id_ed25519", "builtin:credentials"),
    ("open", "/.ssh", "builtin:credentials"),
    ("open", "/.aws/credentials", "builtin:credentials"),
    ("create", "/etc/lh-demo-was-here", ""),
    ("open", "/.git/hooks/pre-commit", "builtin:protect"),
    ("create", "/.git/hooks/post-checkout", "builtin:protect"),
    ("rename", "/.git/hooks/pre-commit", "builtin:protect"),
    ("open", "/private/token", ""),
    ("link", "/private/token", ""),
    ("rename", "/private/token", ""),
    ("rename", "/private", ""),
    ("connect", None, ""),
    ("send", None, ""),
    ("signal", None, ""),
    ("mkdir", "/sys/fs/cgroup", ""),
    ("open", "/cgroup.procs", ""),
]


def shown(text, width):
    """Escaped, and cut on the left, where names differ least."""
    text = "".join(c if c.isprintable() else "?" for c in str(text))
    return text if len(text) <= width else "..." + text[3 - width:]


def main(denials, result):
    with open(denials, encoding="utf-8") as f:
        records = [json.loads(line) for line in f]
    with open(result, encoding="utf-8") as f:
        outcome = json.load(f)

    print(f"\n{'seq':>4} {'n':>3} {'operation':10} {'rule':36} object")
    for r in records:
        thing = r.get("path") or r.get("other_path") or " ".join(
            str(r[k]) for k in ("address", "port", "target_pid", "signal")
            if k in r)
        print(f"{r['seq']:4} {r.get('count', 1):3} {r['operation']:10} "
              f"{shown(r.get('rule'), 36):36} {shown(thing, 50)}")
    print("\nresult:")
    print(json.dumps(outcome, indent=2))
    print()

    bad = 0
    for operation, path, rule in EXPECTED:
        if not any(r["operation"] == operation and
                   rule in (r.get("rule") or "") and
                   (path is None or
                    any(path in (r.get(k) or "") for k in
                        ("path", "other_path")))
                   for r in records):
            print(f"no record: {operation} {path} {rule}")
            bad = 1
    counted = sum(r.get("count", 1) for r in records)
    if [r["seq"] for r in records] != sorted({r["seq"] for r in records}):
        print("the sequence is out of order")
        bad = 1
    if records and counted < records[-1]["seq"]:
        print(f"a gap: {counted} refusals on record, the last is number "
              f"{records[-1]['seq']}")
        bad = 1
    return bad


sys.exit(main(*sys.argv[1:]))
