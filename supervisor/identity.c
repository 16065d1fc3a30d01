// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who runs as whom. Raw system calls change the calling thread alone; the
 * effective user id carries the file-system id and, leaving 0, takes every
 * effective capability away, so that neither DAC overrides nor checks by
 * effective id (sysctl files, /proc/PID) are passed with root's rights.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/keyctl.h>
#include <linux/securebits.h>

#include "cleanup.h"
#include "identity.h"

static int parse_id(const char *s, uid_t *id)
{
	unsigned long v;
	char *end;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	v = strtoul(s, &end, 10);
	if (errno || *end || v >= UINT32_MAX)
		return -EINVAL;
	*id = v;
	return 0;
}

static int groups_of(const char *name, struct credentials *c)
{
	int n = 64, had = n;

	for (;;) {
		_cleanup_free_ gid_t *list = calloc(n, sizeof(*list));

		if (!list)
			return -ENOMEM;
		if (getgrouplist(name, c->gid, list, &n) >= 0) {
			c->groups = list;
			c->group_count = n;
			list = NULL;
			return 0;
		}
		if (n <= had)
			n = had * 2;
		if (n > IDENTITY_GROUPS_MAX)
			return -E2BIG;
		had = n;
	}
}

static int own_groups(struct credentials *c)
{
	int n = getgroups(0, NULL);

	if (n < 0)
		return -errno;
	c->groups = calloc(n ? n : 1, sizeof(*c->groups));
	if (!c->groups)
		return -ENOMEM;
	c->group_count = getgroups(n, c->groups);
	return c->group_count < 0 ? -errno : 0;
}

/* @gid: instead of the password entry's, or -1. @pw NULL: no such entry. */
static int fill(struct credentials *c, uid_t uid, gid_t gid,
		const struct passwd *pw)
{
	c->uid = uid;
	c->gid = gid != (gid_t)-1 ? gid : pw ? pw->pw_gid : (gid_t)uid;
	if (pw)
		return groups_of(pw->pw_name, c);
	c->groups = calloc(1, sizeof(*c->groups));
	if (!c->groups)
		return -ENOMEM;
	c->groups[0] = c->gid;
	c->group_count = 1;
	return 0;
}

static int keep_names(struct identity *id, const struct passwd *pw)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", id->user.uid);
	id->name = strdup(pw ? pw->pw_name : number);
	id->home = strdup(pw && pw->pw_dir[0] == '/' ? pw->pw_dir :
			  "/nonexistent");
	id->shell = strdup(pw && pw->pw_shell[0] ? pw->pw_shell : "/bin/sh");
	return id->name && id->home && id->shell ? 0 : -ENOMEM;
}

static int named_user(const char *user, struct identity *id, struct err *e)
{
	struct passwd *pw = getpwnam(user);
	uid_t uid;
	int ret;

	if (!pw && parse_id(user, &uid))
		return err_set(e, -ENOENT, "--user: no such user: %s", user);
	if (!pw)
		pw = getpwuid(uid);
	else
		uid = pw->pw_uid;
	id->user.uid = uid;	/* the name of who has none */
	ret = keep_names(id, pw);
	if (!ret)
		ret = fill(&id->user, uid, -1, pw);
	return ret ? err_sys(e, ret, "--user: %s", user) : 0;
}

/* 1: sudo brought us here and *c is who called it. */
static int sudo_caller(struct credentials *c, struct err *e)
{
	const char *uids = getenv("SUDO_UID"), *gids = getenv("SUDO_GID");
	uid_t uid, gid;
	int ret;

	if (!uids)
		return 0;
	if (parse_id(uids, &uid) || !gids || parse_id(gids, &gid))
		return err_set(e, -EINVAL, "SUDO_UID and SUDO_GID are not two "
			       "numbers; unset them or use --user");
	ret = fill(c, uid, gid, getpwuid(uid));
	if (ret)
		return err_sys(e, ret, "groups of user %u", uid);
	return 1;
}

static int copy_credentials(const struct credentials *from,
			    struct credentials *to)
{
	*to = *from;
	to->groups = calloc(from->group_count ? from->group_count : 1,
			    sizeof(*to->groups));
	if (!to->groups)
		return -ENOMEM;
	memcpy(to->groups, from->groups,
	       from->group_count * sizeof(*to->groups));
	return 0;
}

static int find_self(struct identity *id, struct err *e)
{
	int ret;

	id->self.uid = geteuid();
	id->self.gid = getegid();
	ret = own_groups(&id->self);
	return ret ? err_sys(e, ret, "own groups") : 0;
}

static int check_root(struct err *e)
{
	int bits = prctl(PR_GET_SECUREBITS);

	if (geteuid())
		return err_set(e, -EPERM, "must be started by root: try "
			       "sudo lh-supervise ...");
	if (getuid() || getgid() != getegid())
		return err_set(e, -EPERM, "must not be installed setuid or "
			       "setgid: start it with sudo");
	if (bits < 0 || (bits & SECBIT_NO_SETUID_FIXUP))
		return err_set(e, -EPERM, "started with the securebit "
			       "no_setuid_fixup: capabilities would survive a "
			       "change of user");
	return 0;
}

/*
 * A sudo rule for this program alone must not make its user anybody else: root
 * without capabilities still owns root's files. Who administers the machine
 * could do so anyhow.
 */
static bool administers(const struct credentials *c)
{
	static const char *const names[] = { "root", "sudo", "wheel", "admin" };
	size_t i;
	int k;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct group *g = getgrnam(names[i]);

		for (k = 0; g && k < c->group_count; k++)
			if (c->groups[k] == g->gr_gid)
				return true;
	}
	return !c->uid;
}

static int find_user(const char *user, struct identity *id, struct err *e)
{
	struct credentials sudo = {};
	struct passwd *pw;
	int ret, by_sudo;

	by_sudo = id->switches ? sudo_caller(&sudo, e) : 0;
	if (by_sudo < 0)
		return by_sudo;
	if (by_sudo) {
		/* The one who named the files, whoever runs the command. */
		id->opener = sudo;
		pw = getpwuid(sudo.uid);
		id->opener_home = strdup(pw ? pw->pw_dir : "/");
	}
	if (user) {
		ret = named_user(user, id, e);
		if (ret)
			return ret;
		if (by_sudo && id->user.uid != sudo.uid && !administers(&sudo))
			return err_set(e, -EPERM, "--user %s: started by sudo "
				       "for uid %u, who is in no group that "
				       "administers this machine (root, sudo, "
				       "wheel, admin); leave --user out, or "
				       "become root first (sudo -i)", user,
				       sudo.uid);
	} else {
		const struct credentials *c = by_sudo ? &sudo : &id->self;

		ret = copy_credentials(c, &id->user);
		if (!ret)
			ret = keep_names(id, getpwuid(c->uid));
		if (ret)
			return err_sys(e, ret, "user %u", c->uid);
	}
	if (!by_sudo) {
		ret = copy_credentials(&id->user, &id->opener);
		id->opener_home = strdup(id->home);
		if (ret || !id->opener_home)
			return err_sys(e, -ENOMEM, "user %s", id->name);
	}
	id->changed = id->user.uid != id->self.uid;
	return 0;
}

int identity_find(const char *user, bool need_root, struct identity *id,
		  struct err *e)
{
	int ret;

	*id = (struct identity){ .switches = geteuid() == 0 };
	if (need_root || id->switches) {
		ret = check_root(e);
		if (ret)
			return ret;
	} else if (user) {
		return err_set(e, -EPERM, "--user: only root can run as "
			       "somebody else");
	}
	ret = find_self(id, e);
	return ret ? ret : find_user(user, id, e);
}

void identity_free(struct identity *id)
{
	free(id->user.groups);
	free(id->opener.groups);
	free(id->self.groups);
	free(id->name);
	free(id->home);
	free(id->shell);
	free(id->opener_home);
	*id = (struct identity){};
}

static int set_groups(const struct credentials *c)
{
	return syscall(SYS_setgroups, c->group_count, c->groups) ? -errno : 0;
}

int identity_enter(const struct identity *id, const struct credentials *c)
{
	int ret = 0;

	if (!id->switches)
		return 0;
	/* Root first: only root may take groups and another's id. */
	if (syscall(SYS_setresuid, -1, 0, -1) ||
	    syscall(SYS_setresgid, -1, id->self.gid, -1) ||
	    set_groups(&id->self))
		abort();
	if (!c || !c->uid)
		return 0;
	ret = set_groups(c);
	if (!ret && syscall(SYS_setresgid, -1, c->gid, -1))
		ret = -errno;
	if (!ret && syscall(SYS_setresuid, -1, c->uid, -1))
		ret = -errno;
	if (ret)
		identity_enter(id, NULL);
	return ret;
}

int identity_as(enum resolve_as who, void *arg)
{
	const struct identity *id = arg;
	int ret = identity_enter(id, who == RESOLVE_AS_USER ? &id->user : NULL);

	/* The change may have made us dumpable, where the sysctl says so. */
	prctl(PR_SET_DUMPABLE, 0);
	return ret;
}

static int drop_bounds(void)
{
	int cap;

	for (cap = 0; cap < 64; cap++) {
		if (!prctl(PR_CAPBSET_DROP, cap))
			continue;
		return errno == EINVAL ? 0 : -errno;	/* past the last */
	}
	return 0;
}

/* Whoever holds a session keyring may use the keys in it, whosever they are. */
static int leave_keyring(void)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0)
		return 0;
	/* Without keys, or barred from them as the command then is too. */
	return errno == ENOSYS || errno == EPERM ? 0 : -errno;
}

int identity_switch(const struct credentials *c)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[2] = {};
	int ret = set_groups(c);

	if (ret)
		return ret;
	if (syscall(SYS_setresgid, c->gid, c->gid, c->gid) ||
	    syscall(SYS_setresuid, c->uid, c->uid, c->uid))
		return -errno;
	if (!c->uid)
		return 0;
	/* Nothing of our own that a program could be made to inherit. */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
		return -errno;
	return capset(&head, none) ? -errno : leave_keyring();
}

int identity_become(const struct credentials *c)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[2] = {};
	unsigned long locked = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |
		SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
		SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
		SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
	int ret;

	ret = drop_bounds();
	if (ret)
		return ret;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
		return -errno;
	ret = set_groups(c);
	if (ret)
		return ret;
	if (syscall(SYS_setresgid, c->gid, c->gid, c->gid))
		return -errno;
	/* An exec by uid 0 would win everything back: not with these bits. */
	if (prctl(PR_SET_SECUREBITS, locked))
		return -errno;
	if (syscall(SYS_setresuid, c->uid, c->uid, c->uid))
		return -errno;
	if (capset(&head, none))
		return -errno;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
}
