/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /run/lh/sessions/ID.json: what lh-ps tells of a session. Root's; its user may
 * read it by an ACL that names no other. A file of its own beside the lock, for
 * who may open a file may lock it, and a lock is what the sweep goes by. It is
 * told to people and never acted on.
 */
#ifndef LH_FACTS_H
#define LH_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../policy-compiler/arena.h"
#include "../policy-compiler/err.h"
#include "registry.h"

#define FACTS_SUFFIX ".json"
#define FACTS_SCHEMA "lh.session.v1"
#define FACTS_BYTES_MAX 65536

struct facts {
	const char *session;
	const char *name, *command;	/* NULL: none */
	const char *user;		/* its name, or its number as text */
	uid_t uid;
	gid_t gid;
	const char *policy, *source, *profile, *hash;
	const char *confinement;	/* as in a result */
	int64_t started;		/* seconds since 1970 */
	uint64_t started_boot;		/* CLOCK_BOOTTIME, seconds */
	pid_t supervisor;		/* its pid, as pid_namespace counts, */
	uint64_t supervisor_start;	/* and when it began, in ticks */
	uint64_t pid_namespace;		/* an inode number */
	uint64_t denials;		/* so far */
};

struct run;

/* Write the file, once the session has its lock. */
int facts_write(struct run *r, struct err *e);
/* So many refusals by now; costs a system call where the number is new. */
void facts_denials(struct registry *r, uint64_t denials);

/*
 * Read @session's, whose directory is @dir: 0, -ENOENT, -EACCES: another
 * user's, -EBADMSG: not what facts_write() writes. Texts live in @mem and hold
 * any bytes but NUL.
 */
int facts_read(int dir, const char *session, struct arena *mem,
	       struct facts *f);

/*
 * 1: the supervisor lives; 0: it does not; -ESRCH: it runs in another pid
 * namespace, where its number says nothing.
 */
int facts_alive(const struct facts *f);
/* The caller's own. */
uint64_t facts_pid_namespace(void);

#endif
