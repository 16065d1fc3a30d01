// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the record of each refused operation says: by a table. Paths are as the
 * process sees them, of a rename or link both, the refused one first. One
 * refusal is one record.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "twins.h"

/* "D/x" is in the world, "H/x" in the user's home; other names in ws. */
struct told {
	const char *arg[5];
	const char *operation, *hook, *mechanism, *reason, *rule;
	const char *path, *other;
};

#define DENY "process_sandbox/read_deny_roots/0"
#define LATE "process_sandbox/read_deny_roots/1"
#define RO "/read_only_roots/0"
#define LIB "/read_only_roots/1"

static const struct told rows[] = {
	{ { "open", "secret/key", "r" }, "open", "file_open", "unknown",
	  "denied", DENY, "D/ws/secret/key", "" },
	{ { "list", "secret" }, "open", "file_open", "unknown",
	  "denied", DENY, "D/ws/secret", "" },
	{ { "open", "two/key", "r" }, "open", "file_open", "unknown",
	  "denied", DENY, "D/ws/secret/key", "" },	/* FS-01, FS-02 */
	{ { "open", "bound/key", "r" }, "open", "file_open", "unknown",
	  "denied", DENY, "D/ws/bound/key", "" },
	{ { "open", "/proc/self/cwd/secret/key", "r" }, "open", "file_open",
	  "unknown", "denied", DENY, "D/ws/secret/key", "" },
	{ { "open", "D/outside/file", "r" }, "open", "file_open", "unknown",
	  "not_granted", "default", "D/outside/file", "" },
	{ { "open", "H/.ssh/id_ed25519", "r" }, "open", "file_open",
	  "home_read", "denied", "builtin:credentials/.ssh",
	  "H/.ssh/id_ed25519", "" },
	{ { "open", "secret/key", "w" }, "open", "file_open", "write",
	  "denied", DENY, "D/ws/secret/key", "" },
	{ { "open", "lib/file", "rt" }, "open", "file_open", "write",
	  "read_only", LIB, "D/ws/lib/file", "" },
	{ { "open", "D/ro/file", "wa" }, "open", "file_open", "write",
	  "read_only", RO, "D/ro/file", "" },
	{ { "open", "D/outside/n", "wc" }, "create", "path_mknod", "write",
	  "not_granted", "default", "D/outside/n", "" },
	{ { "creat", "lib/n" }, "create", "path_mknod", "write",
	  "read_only", LIB, "D/ws/lib/n", "" },
	{ { "creat", "late/secret" }, "create", "path_mknod", "write",
	  "denied", LATE, "D/ws/late/secret", "" },
	{ { "mkdir", "lib/n" }, "mkdir", "path_mkdir", "write",
	  "read_only", LIB, "D/ws/lib/n", "" },
	{ { "mkdir", "late/secret" }, "mkdir", "path_mkdir", "write",
	  "denied", LATE, "D/ws/late/secret", "" },
	{ { "mkdir", "sub/.git/hooks" }, "mkdir", "path_mkdir", "write",
	  "protected", "builtin:protect/**/.git/hooks",
	  "D/ws/sub/.git/hooks", "" },
	{ { "mknod", "lib/n", "f" }, "mknod", "path_mknod", "write",
	  "read_only", LIB, "D/ws/lib/n", "" },
	{ { "mknod", "lib/n", "s" }, "bind", "path_mknod", "local_socket",
	  "read_only", LIB, "D/ws/lib/n", "" },
	{ { "mknod", "n", "c" }, "mknod", "path_mknod", "write",
	  "device", "default", "D/ws/n", "" },
	{ { "unixfile", "D/outside/n" }, "bind", "path_mknod", "local_socket",
	  "not_granted", "default", "D/outside/n", "" },	/* FS-40 */
	{ { "symlink", "x", "D/ro/n" }, "symlink", "path_symlink", "write",
	  "read_only", RO, "D/ro/n", "" },
	{ { "link", "file", "lib/n" }, "link", "path_link", "write",
	  "read_only", LIB, "D/ws/lib/n", "D/ws/file" },
	{ { "link", "lib/file", "n" }, "link", "path_link", "write",
	  "read_only", LIB, "D/ws/lib/file", "D/ws/n" },	/* FS-05 */
	{ { "linkfd", "secret/key", "n" }, "link", "path_link", "write",
	  "denied", DENY, "D/ws/secret/key", "D/ws/n" },	/* FS-03 */
	{ { "rename", "file", "lib/n" }, "rename", "path_rename", "write",
	  "read_only", LIB, "D/ws/lib/n", "D/ws/file" },
	{ { "rename", "lib/file", "n" }, "rename", "path_rename", "write",
	  "read_only", LIB, "D/ws/lib/file", "D/ws/n" },
	{ { "rename", "secret/key", "n" }, "rename", "path_rename", "write",
	  "denied", DENY, "D/ws/secret/key", "D/ws/n" },	/* FS-06 */
	{ { "rename", "file", "D/ro/file", "x" }, "rename", "path_rename",
	  "write", "read_only", RO, "D/ro/file", "D/ws/file" },
	{ { "rename", "sub", "secret", "x" }, "rename", "path_rename",
	  "write", "denied", DENY, "D/ws/secret", "D/ws/sub" },	/* FS-08 */
	{ { "rename", "lib", "n" }, "rename", "path_rename", "write",
	  "pinned", LIB, "D/ws/lib", "D/ws/n" },
	{ { "rename", "file", ".git/hooks/n" }, "rename", "path_rename",
	  "write", "protected", "builtin:protect/.git/hooks",
	  "D/ws/.git/hooks/n", "D/ws/file" },		/* FS-09 */
	{ { "unlink", "lib/file" }, "unlink", "path_unlink", "write",
	  "read_only", LIB, "D/ws/lib/file", "" },
	{ { "unlink", ".git/config" }, "unlink", "path_unlink", "write",
	  "protected", "builtin:protect/.git/config",
	  "D/ws/.git/config", "" },
	{ { "rmdir", "D/ro/sub" }, "rmdir", "path_rmdir", "write",
	  "read_only", RO, "D/ro/sub", "" },
	{ { "truncate", "D/outside/file" }, "truncate", "path_truncate",
	  "write", "not_granted", "default", "D/outside/file", "" },
	{ { "chmod", "lib/file", "600" }, "chmod", "path_chmod", "write",
	  "read_only", LIB, "D/ws/lib/file", "" },
	{ { "by", "fchmod", "lib/file" }, "chmod", "path_chmod", "write",
	  "read_only", LIB, "D/ws/lib/file", "" },
	{ { "chmod", "file", "4755" }, "chmod", "path_chmod", "write",
	  "setid", "default", "D/ws/file", "" },
	{ { "chown", "D/ro/file" }, "chown", "path_chown", "write",
	  "read_only", RO, "D/ro/file", "" },
	{ { "stat", "secret/key" }, "stat", "inode_getattr", "unknown",
	  "denied", DENY, "D/ws/secret/key", "" },
	{ { "statx", "secret" }, "stat", "inode_getattr", "unknown",
	  "denied", DENY, "D/ws/secret", "" },
	{ { "inotify", "secret" }, "watch", "path_notify", "unknown",
	  "denied", DENY, "D/ws/secret", "" },
	{ { "exec", "D/outside/tool", "pid" }, "exec", "file_open", "unknown",
	  "not_granted", "default", "D/outside/tool", "" },
	{ { "execveat", "secret/tool" }, "exec", "file_open", "unknown",
	  "denied", DENY, "D/ws/secret/tool", "" },
};

TWINS(told);

static const char *full(const struct world *w, const char *path)
{
	static char home[2][256];
	static int turn;

	if (path && path[0] == 'D' && path[1] == '/')
		return at(w, "%s", path + 2);
	if (!path || path[0] != 'H' || path[1] != '/')
		return path;
	turn ^= 1;
	snprintf(home[turn], sizeof(home[0]), "%s%s",
		 w->uid ? "/tmp/home-" TEST_USER : "/root", path + 1);
	return home[turn];
}

static int furnish(const struct world *w)
{
	char cmd[1024];

	snprintf(cmd, sizeof(cmd),
		 "cd %s/ws && for d in secret ../outside; do "
		 "cp %s/tests/lsm/probe $d/tool && chmod 755 $d/tool; done && "
		 "mkdir -p late sub/.git bound one && chmod 777 late sub/.git "
		 "bound && ln -s ../secret one/up && ln -s one/up two && "
		 "mount --bind secret bound && "
		 "chown -R %u:%u sub late two one ../outside", w->dir,
		 getenv("B") ? getenv("B") : "build", w->uid, w->gid);
	return system(cmd);
}

TEST_F(told, each_operation_as_the_table_says)
{
	struct world *w = self->w;
	struct session *s = &self->s;
	struct denial d;

	ASSERT_EQ(0, furnish(w));
	/* Another test may have taken it away. */
	if (w->uid) {
		ASSERT_EQ(0, world_file(w, full(w, "H/.ssh/id_ed25519"),
					"TEXT"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct told *t = &rows[i];
		const char *arg[6] = { NULL };
		long long before = s->seen ? d.seq : 0;

		/* root's home is the machine's, and here nobody's */
		if (!w->uid && t->path[0] == 'H')
			continue;
		for (int k = 0; k < 5 && t->arg[k]; k++)
			arg[k] = full(w, t->arg[k]);
		EXPECT_EQ(EACCES, session_ask(s, arg)) {
			TH_LOG("%s %s", arg[0], arg[1]);
		}
		ASSERT_EQ(0, denial_next(s, &d)) {
			TH_LOG("%s %s: no record", arg[0], arg[1]);
		}
		EXPECT_EQ(before + 1, d.seq);
		EXPECT_STREQ(t->operation, d.operation);
		EXPECT_STREQ(t->hook, d.hook);
		EXPECT_STREQ(t->mechanism, d.mechanism);
		EXPECT_STREQ(t->reason, d.reason);
		EXPECT_NE(NULL, strstr(d.rule, t->rule)) {
			TH_LOG("rule %s", d.rule);
		}
		EXPECT_STREQ("EACCES", d.errno_name);
		EXPECT_STREQ(full(w, t->path), d.path);
		EXPECT_STREQ(full(w, t->other), d.other);
		EXPECT_FALSE(d.cut);
		EXPECT_EQ(1, d.count);
		EXPECT_EQ(t->operation[0] == 'e' ? d.pid : s->probe, d.pid);
		if (strcmp(t->operation, d.operation) ||
		    strcmp(full(w, t->path), d.path))
			TH_LOG("in row %zu: %s %s", i, arg[0], arg[1]);
	}
	EXPECT_TRUE(quiet(s));
	EXPECT_EQ(0, umount2(at(w, "ws/bound"), MNT_DETACH));
}

/* Any byte but NUL and "/", on both ends, and as long as a name can be. */
TEST_F(told, names_come_through_byte_by_byte)
{
	static const char *const names[] = {
		"a\nb", "\n{\"seq\":1}\n", "q\"uote\\", "\xff\xfe", "\x80",
		"ok\xc3", "\xed\xa0\x80", "\xc3\xa9t\xc3\xa9", "\x7f\x1b[2J",
		"tab\there", " lead and trail ", "...", "-n", "\xf4\x90\x80\x80",
		"\xc0\xaf", "a\rb",
	};
	struct session *s = &self->s;
	char longest[2][256], old[300], new[600];
	struct denial d;

	memset(longest[0], '\xff', 255);
	memset(longest[1], '"', 255);
	longest[0][255] = longest[1][255] = 0;
	for (size_t i = 0; i < ARRAY_SIZE(names) + 2; i++) {
		const char *name = i < ARRAY_SIZE(names) ? names[i] :
				   longest[i - ARRAY_SIZE(names)];

		snprintf(old, sizeof(old), "%s", name);
		snprintf(new, sizeof(new), "%s", at(self->w, "ro/%s", name));
		ASSERT_EQ(0, ask(s, "write", old, "x"));
		ASSERT_EQ(EACCES, ask(s, "rename", old, new));
		ASSERT_EQ(0, denial_next(s, &d));
		EXPECT_EQ((long long)i + 1, d.seq);
		EXPECT_STREQ(new, d.path) {
			TH_LOG("name %zu", i);
		}
		EXPECT_STREQ(at(self->w, "ws/%s", name), d.other);
		EXPECT_FALSE(d.cut);
	}
	EXPECT_TRUE(quiet(s));
}

TEST_HARNESS_MAIN
