// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is not content and not a name: times, attributes, access lists, inode
 * flags, link targets, and what another process opened.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "descriptor.h"
#include "twins.h"

TWINS(meta);

enum want { LOOK, CHANGE, OPEN };

/*
 * In each place: f (a file), d (a directory), l -> f. Where it is granted the
 * answer is the twin's: not every file system has all of it.
 */
static const struct row {
	const char *op, *path, *more;
	enum want want;
	const char *record;	/* operation of the refusal's record */
} rows[] = {
	{ "utimes", "f", NULL, CHANGE, "setattr" },
	{ "utimes", "d", NULL, CHANGE, "setattr" },
	{ "touch", "f", NULL, CHANGE, "setattr" },
	{ "lutimes", "l", NULL, CHANGE, "setattr" },
	{ "setxattr", "f", "user.lh", CHANGE, "xattr" },
	{ "setxattr", "d", "user.lh", CHANGE, "xattr" },
	{ "getxattr", "f", "user.lh", LOOK, "xattr" },
	{ "listxattr", "f", NULL, LOOK, "xattr" },
	{ "listxattr", "d", NULL, LOOK, "xattr" },
	{ "removexattr", "f", "user.lh", CHANGE, "xattr" },
	/* Before 6.2 an access list is an attribute like others. */
	{ "setacl", "f", NULL, CHANGE, NULL },
	{ "getacl", "f", NULL, LOOK, "acl" },
	{ "rmacl", "f", NULL, CHANGE, NULL },
	{ "readlink", "l", NULL, LOOK, "readlink" },
	{ "readlinkfd", "l", NULL, LOOK, "readlink" },
	{ "fanotify", "f", NULL, OPEN, "watch" },
	{ "futimens", "f", NULL, CHANGE, "setattr" },
	{ "fsetxattr", "f", "user.lh", CHANGE, "xattr" },
	{ "getflags", "f", NULL, OPEN, "open" },
	/* Who may read may map to run: no root of a policy grants one alone. */
	{ "mapexec", "tool", NULL, OPEN, "open" },
	{ "mapexec", "tool", "later", OPEN, "open" },
	{ "pass", "f", NULL, OPEN, "open" },
};

static int furnish(const struct world *w, const char *place)
{
	int err = world_file(w, at(w, "%s/f", place), "TEXT") |
		  world_file(w, at(w, "%s/tool", place), "TEXT") |
		  world_dir(w, at(w, "%s/d", place));

	err |= symlink("f", at(w, "%s/l", place)) |
	       lchown(at(w, "%s/l", place), w->uid, w->gid);
	return err;
}

static bool times_untouched(const struct world *w, const char *place)
{
	struct stat f, d, l;

	return !stat(at(w, "%s/f", place), &f) && f.st_mtime > 1 &&
	       !stat(at(w, "%s/d", place), &d) && d.st_mtime > 1 &&
	       !lstat(at(w, "%s/l", place), &l) && l.st_mtime > 1 &&
	       (f.st_mode & 07777) == 0644;
}

#define GRANTS(want) (1u << (want))

static void try_all(struct __test_metadata *_metadata, struct session *s,
		    struct session *twin, const char *place,
		    unsigned int grants)
{
	ASSERT_EQ(0, furnish(s->w, place));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		bool granted = grants & GRANTS(r->want);
		char path[128];
		int err;

		snprintf(path, sizeof(path), "%s",
			 at(s->w, "%s/%s", place, r->path));
		err = ask(s, r->op, path, r->more);
		if (granted) {
			if (!strcmp(r->op, "removexattr"))
				ask(twin, "setxattr", path, r->more);
			EXPECT_EQ(ask(twin, r->op, path, r->more), err) {
				TH_LOG("%s %s", r->op, path);
			}
			continue;
		}
		EXPECT_EQ(EACCES, err) {
			TH_LOG("%s %s: %d", r->op, path, err);
		}
		/* What opens first may be refused there already. */
		if (grants & GRANTS(OPEN)) {
			EXPECT_TRUE(denied(s, r->record, path, NULL)) {
				TH_LOG("%s %s", r->op, path);
			}
		} else {
			EXPECT_TRUE(denied(s, NULL, path, NULL)) {
				TH_LOG("%s %s", r->op, path);
			}
		}
	}
	if (!(grants & GRANTS(CHANGE))) {
		EXPECT_TRUE(times_untouched(s->w, place));
	}
	/* Outside, beside the live session, all of it works as it did. */
	EXPECT_EQ(0, ask(twin, "utimes", at(s->w, "%s/f", place)));
	EXPECT_EQ(0, ask(twin, "readlink", at(s->w, "%s/l", place)));
	EXPECT_EQ(0, ask(twin, "mapexec", at(s->w, "%s/tool", place)));
}

TEST_F(meta, in_a_workspace_all_of_it_is_as_outside)
{
	try_all(_metadata, &self->s, &self->twin, "ws/sub",
		GRANTS(LOOK) | GRANTS(CHANGE) | GRANTS(OPEN));
	EXPECT_EQ(0, ask(&self->s, "utimes", "sub/f"));
	EXPECT_EQ(0, ask(&self->s, "mapexec", "sub/tool"));
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(meta, a_read_only_root_is_looked_at_and_not_changed)
{
	try_all(_metadata, &self->s, &self->twin, "ws/lib/sub",
		GRANTS(LOOK) | GRANTS(OPEN));
}

TEST_F(meta, what_no_root_names_is_only_looked_at)
{
	try_all(_metadata, &self->s, &self->twin, "outside/sub",
		GRANTS(LOOK));
}

TEST_F(meta, of_a_denied_place_nothing_is_seen)
{
	try_all(_metadata, &self->s, &self->twin, "ws/secret/sub", 0);
}

/* A mount of the same file system elsewhere neither grants nor takes. */
TEST_F(meta, a_second_mount_of_the_place_makes_no_difference)
{
	char dir[128];

	snprintf(dir, sizeof(dir), "%s", at(self->w, "outside/sub"));
	ASSERT_EQ(0, world_dir(self->w, at(self->w, "outside/bind")));
	ASSERT_EQ(0, world_dir(self->w, at(self->w, "ws/bind")));
	ASSERT_EQ(0, furnish(self->w, "outside/sub"));
	ASSERT_EQ(0, furnish(self->w, "ws/sub"));
	ASSERT_EQ(0, furnish(self->w, "ws/secret/sub"));
	ASSERT_EQ(0, mount(at(self->w, "ws/sub"), at(self->w, "outside/bind"),
			   NULL, MS_BIND, NULL));
	/* What the host binds into the workspace is in the workspace. */
	ASSERT_EQ(0, mount(dir, at(self->w, "ws/bind"), NULL, MS_BIND, NULL));
	EXPECT_EQ(0, ask(&self->s, "utimes", "sub/f"));
	EXPECT_EQ(0, ask(&self->s, "utimes", "bind/f"));
	EXPECT_EQ(0, umount2(at(self->w, "ws/bind"), MNT_DETACH));
	EXPECT_EQ(EACCES, ask(&self->s, "utimes", at(self->w,
						     "outside/sub/f")));
	EXPECT_TRUE(denied(&self->s, "setattr", at(self->w, "outside/sub/f"),
			   "default"));
	/* Below a denied directory, in a mount that lies elsewhere too. */
	ASSERT_EQ(0, mount(at(self->w, "ws/secret/sub"),
			   at(self->w, "ws/bind"), NULL, MS_BIND, NULL));
	EXPECT_EQ(EACCES, ask(&self->s, "utimes", "bind/f"));
	EXPECT_EQ(EACCES, ask(&self->s, "readlink", "bind/l"));
	EXPECT_TRUE(denied(&self->s, "readlink", NULL, "read_deny_roots"));
	EXPECT_EQ(0, ask(&self->twin, "readlink", "bind/l"));
	EXPECT_EQ(0, umount2(at(self->w, "ws/bind"), MNT_DETACH));
	EXPECT_EQ(0, umount2(at(self->w, "outside/bind"), MNT_DETACH));
}

/* The kernel itself is first to refuse them, to who has no capability. */
TEST_F(meta, security_attributes_are_never_set)
{
	static const char *const names[] = {
		"security.capability", "security.x", "security.",
	};

	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/g"), "TEXT"));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		EXPECT_NE(0, ask(&self->s, "setxattr", "g", names[i])) {
			TH_LOG("%s", names[i]);
		}
		EXPECT_NE(0, ask(&self->s, "removexattr", "g", names[i]));
		EXPECT_NE(0, ask(&self->s, "getxattr", "g", names[i]));
	}
	/* A name that only begins like it is another matter. */
	EXPECT_EQ(ask(&self->twin, "setxattr", "g", "securityx"),
		  ask(&self->s, "setxattr", "g", "securityx"));
	EXPECT_EQ(ask(&self->twin, "setxattr", "g", "user.security."),
		  ask(&self->s, "setxattr", "g", "user.security."));
}

/* The filter refuses it, wherever the file lies: no program sees it. */
TEST_F(meta, inode_flags_are_read_and_not_set)
{
	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/i"), "TEXT"));
	EXPECT_EQ(EPERM, ask(&self->s, "setflags", "i"));
	EXPECT_EQ(EPERM, ask(&self->s, "setflags", at(self->w, "ro")));
	EXPECT_EQ(ask(&self->twin, "getflags", "i"),
		  ask(&self->s, "getflags", "i"));
}

/* A whiteout is a node in the place that the file leaves. */
TEST_F(meta, a_whiteout_needs_the_right_to_write_where_it_is_left)
{
	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/h"), "TEXT"));
	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/lib/h"), "TEXT"));
	EXPECT_EQ(EACCES, ask(&self->s, "whiteout", "lib/h", "h2"));
	EXPECT_TRUE(denied(&self->s, "rename", at(self->w, "ws/lib/h"),
			   NULL));
	EXPECT_EQ(ask(&self->twin, "whiteout", "h", "h3"),
		  ask(&self->s, "whiteout", "h3", "h4"));
}

/* What a device does is granted; what it is stays as the host has it. */
TEST_F(meta, a_device_that_others_use_is_not_changed)
{
	static const struct {
		const char *op, *more;
	} calls[] = {
		{ "chmod", "666" }, { "chown", NULL }, { "setacl", NULL },
		{ "rmacl", NULL },
	};
	const char *node = at(self->w, "ws/node");

	ASSERT_EQ(0, mknod(node, S_IFCHR | 0600, makedev(1, 3)));
	ASSERT_EQ(0, chown(node, self->w->uid, self->w->gid));
	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/mine"), "TEXT"));
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		const char *op = calls[i].op, *more = calls[i].more;

		EXPECT_EQ(EACCES, ask(&self->s, op, "/dev/null", more)) {
			TH_LOG("%s", op);
		}
		EXPECT_EQ(EACCES, ask(&self->s, op, "node", more)) {
			TH_LOG("%s", op);
		}
		EXPECT_TRUE(denied(&self->s, NULL, i < 2 ? node : NULL, NULL)) {
			TH_LOG("%s", op);
		}
		EXPECT_EQ(0, ask(&self->twin, op, "node", more)) {
			TH_LOG("%s", op);
		}
		EXPECT_EQ(0, ask(&self->s, op, "mine", more)) {
			TH_LOG("%s", op);
		}
	}
	/* Such an attribute the kernel gives to files and directories alone. */
	EXPECT_EQ(EPERM, ask(&self->s, "setxattr", "/dev/null", "user.lh"));
	EXPECT_EQ(EPERM, ask(&self->twin, "setxattr", "node", "user.lh"));
	/* nor does every file system */
	EXPECT_EQ(ask(&self->twin, "setxattr", "mine", "user.lh"),
		  ask(&self->s, "setxattr", "mine", "user.lh"));
}

/*
 * What the session made is its own, tmpfile(3)'s unnamed file in /tmp too. Of
 * an eventfd the kernel asks the owner alone, and no program.
 */
TEST_F(meta, what_has_no_name_is_used_as_outside)
{
	static const char *const kinds[] = {
		"stdio", "memfd", "huge", "pipe", "eventfd",
	};
	static const char *const calls[] = {
		"chmod", "chown", "times", "size", "pass",
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds) * ARRAY_SIZE(calls); i++) {
		const char *kind = kinds[i % ARRAY_SIZE(kinds)];
		const char *op = calls[i / ARRAY_SIZE(kinds)];

		EXPECT_EQ(ask(&self->twin, "nameless", kind, op),
			  ask(&self->s, "nameless", kind, op)) {
			TH_LOG("%s %s", op, kind);
		}
		if (!strcmp(kind, "stdio"))
			EXPECT_EQ(0, self->s.reply.err);
	}
	EXPECT_TRUE(quiet(&self->s));
}

/* Start `probe receive` with one end of @sock as its input; its exit status. */
static int received(const struct world *w, int sock, int fd)
{
	char cmd[1024];
	int status;

	if (descriptor_send(sock, fd))
		return -1;
	snprintf(cmd, sizeof(cmd), "%s/lh-supervise -q --user %s --policy %s "
		 "-C %s --denials %s -- %s/tests/lsm/probe receive <&%d >%s",
		 getenv("B") ? getenv("B") : "build", w->user,
		 at(w, "log/policy.json"), at(w, "ws"),
		 at(w, "log/received.denials"),
		 getenv("B") ? getenv("B") : "build", sock + 1,
		 at(w, "log/received.out"));
	status = system(cmd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(meta, a_descriptor_that_arrives_is_judged_as_an_open)
{
	static const struct {
		const char *file;
		int want, flags, mode;
	} given[] = {
		{ "ws/given", 0, O_RDONLY, 0644 },
		{ "lib/given", 0, O_RDONLY, 0644 },
		{ "outside/given", EBADF, O_RDONLY, 0644 },
		{ "ws/secret/given", EBADF, O_RDONLY, 0644 },
		{ "ws/given", 0, O_RDWR, 0755 },
		{ "ws/given", 0, O_RDONLY, 04755 },
		{ "ws/given", EBADF, O_RDWR, 04755 },
		{ "ws/given", EBADF, O_RDWR, 02755 },
	};
	int pair[2];

	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		const char *path = at(self->w, "%s%s", *given[i].file == 'l' ?
				      "ws/" : "", given[i].file);
		int fd;

		ASSERT_EQ(0, world_file(self->w, path, "TEXT"));
		ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
		ASSERT_EQ(pair[0] + 1, pair[1]);
		fd = open(path, given[i].flags);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, fchmod(fd, given[i].mode));
		EXPECT_EQ(given[i].want, received(self->w, pair[0], fd)) {
			TH_LOG("%s", path);
		}
		close(fd);
		close(pair[0]);
		close(pair[1]);
	}
	/* The host's own use of the same files is nobody's business. */
	EXPECT_EQ(0, ask(&self->twin, "pass", at(self->w, "outside/given")));
}

/* A device is judged by what it is, wherever its file may lie. */
TEST_F(meta, a_device_that_arrives_is_judged_as_one)
{
	static const struct {
		int minor, want;
	} given[] = { { 11 /* kmsg */, EBADF }, { 5 /* zero */, 0 } };
	char dir[128], path[160];
	int pair[2];

	snprintf(dir, sizeof(dir), "%s", at(self->w, "ws/d"));
	snprintf(path, sizeof(path), "%s/dev", dir);
	ASSERT_EQ(0, world_dir(self->w, dir));
	/* where devices may lie */
	ASSERT_EQ(0, mount("tmpfs", dir, "tmpfs", 0, "mode=777"));
	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		int fd;

		ASSERT_EQ(0, mknod(path, S_IFCHR | 0666,
				   makedev(1, given[i].minor)));
		ASSERT_EQ(0, chown(path, self->w->uid, self->w->gid));
		ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
		ASSERT_EQ(pair[0] + 1, pair[1]);
		fd = open(path, O_RDONLY);
		ASSERT_LE(0, fd);
		EXPECT_EQ(given[i].want, received(self->w, pair[0], fd));
		close(fd);
		close(pair[0]);
		close(pair[1]);
		ASSERT_EQ(0, unlink(path));
	}
	ASSERT_EQ(0, umount2(dir, MNT_DETACH));
}

TEST_HARNESS_MAIN
