/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who runs as whom. The command runs as the session's user; what a user names
 * on the command line is opened with that user's credentials, all of them:
 * ids, groups and no effective capability.
 */
#ifndef LH_IDENTITY_H
#define LH_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

#include "../policy-compiler/err.h"
#include "../policy-compiler/resolve.h"

#define IDENTITY_GROUPS_MAX 65536

struct credentials {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int group_count;
};

struct identity {
	struct credentials user;	/* of the session */
	struct credentials opener;	/* who named the files */
	struct credentials self;	/* ours, to come back to */
	bool switches;		/* we are root and can take others' places */
	bool changed;		/* the session's user is not the caller */
	char *name;		/* user name, or its number */
	char *home;
	char *shell;
	char *opener_home;
};

/*
 * @user: --user's argument or NULL. Without root (@need_root false) everything
 * is the caller. The caller owns *id: identity_free().
 */
int identity_find(const char *user, bool need_root, struct identity *id,
		  struct err *e);
void identity_free(struct identity *id);

/*
 * Take the place of @c (NULL: back to ourselves) in the calling thread:
 * effective ids and groups. The real and saved user ids stay ours, so that the
 * user can neither signal nor trace us meanwhile. Aborts if it cannot come
 * back: going on with half a set of credentials is not safe.
 */
int identity_enter(const struct identity *id, const struct credentials *c);
/* For struct resolve_options; @arg is the struct identity. */
int identity_as(enum resolve_as who, void *arg);

/*
 * For good, in the child: ids, groups, no capability in any set, nothing that
 * an exec could win back. 0 or negative errno; async-signal-safe.
 */
int identity_become(const struct credentials *c);
/*
 * The same without confinement: exactly what that user has, root with what
 * root has.
 */
int identity_switch(const struct credentials *c);

#endif
