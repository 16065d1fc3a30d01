/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a test goes on without one of the engine's programs: root takes it off
 * its hook, in the very engine that ships, so that nothing in it needs a
 * switch, and puts it back. And how it goes on with one that is too strict.
 */
#ifndef LH_TEST_HOOK_H
#define LH_TEST_HOOK_H

#define HOOK_PARENT "/sys/fs/cgroup/lh"	/* above each session's */

struct hook {
	const char *name;	/* of the program */
	int attach;		/* enum bpf_attach_type */
	int prog;		/* its descriptor while it is off, or 0 */
	char pin[256];		/* of its link */
};

/* Off its hook when this returns: 0, -errno; -ENOENT: no such program is on. */
int hook_off(struct hook *h);
/* As the engine had it, if it is off: 0, -errno. */
int hook_on(struct hook *h);
/*
 * A program at the same hook that refuses all that is in a session, until the
 * descriptor that is returned is closed; -errno, -EDOM if the hook's programs
 * judge nothing.
 */
int hook_strict(const char *name);

#endif
