// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same effects by other calls, in each place: by descriptors that no open
 * of the content made, by empty paths and /proc/self/fd, by copies inside the
 * kernel. And what runs a program without exec of that program.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "places.h"
#include "twins.h"


/* FS-16, FS-17, FS-26, FS-28, FS-31, FS-32, FS-40: their kin */
static const struct act ways[] = {
	{ "openat2", "P/f", "r", "4", READ, "open" },	/* NO_SYMLINKS */
	{ "below", "P", "0", "openat2 f r 1", READ, "open" },	/* NO_XDEV */
	{ "below", "P", "0", "openat2 f r 8", READ, "open" },	/* BENEATH */
	{ "below", "P", "0", "openat2 f r 16", READ, "open" },	/* IN_ROOT */
	{ "below", "P", "0", "open f r", READ, "open" },
	{ "below", "P", "0", "reopen f r", READ, "open" },
	{ "getdents", "P", NULL, NULL, READ, "open" },
	{ "below", "P", "0", "list .", READ, "open" },
	{ "below", "P/d", "0", "list ..", READ, "open" },
	{ "carry", "sendfile", "P/f", "W/n1", READ, "open" },
	{ "carry", "splice", "P/f", "W/n1", READ, "open" },
	{ "carry", "range", "P/f", "W/n1", READ, "open" },
	{ "carry", "sendfile", "W/file", "P/f", CHANGE, "open" },
	{ "carry", "splice", "W/file", "P/f", CHANGE, "open" },
	{ "carry", "range", "W/file", "P/f", CHANGE, "open" },
	{ "carry", "sendfile", "W/file", "P/n2", CHANGE, "create" },
	{ "alter", "punch", "P/f2", NULL, CHANGE, "open" },
	{ "alter", "grow", "P/f2", NULL, CHANGE, "open" },
	{ "alter", "pwritev2", "P/f2", NULL, CHANGE, "open" },
	{ "creat", "P/f3", NULL, NULL, CHANGE, "open" },
	{ "creat", "P/n3", NULL, NULL, CHANGE, "create" },
	{ "below", "P", "0", "creat n4", CHANGE, "create" },
	{ "below", "P", "0", "mkdir n5", CHANGE, "mkdir" },
	{ "below", "P", "0", "unlink l", CHANGE, "unlink" },
	{ "below", "P", "0", "truncate f", CHANGE, "truncate" },
	{ "tmpfile", "P", "P/n6", NULL, CHANGE, "open" },
	{ "tmpfile", "W/.", "P/n7", NULL, CHANGE, "link" },
	{ "statx", "P/f", NULL, NULL, LOOK, "stat" },
	{ "statx", "P/d", NULL, NULL, LOOK, "stat" },
	{ "below", "P", "0", "stat f", LOOK, "stat" },
	{ "below", "P", "0", "stat .", LOOK, "stat" },
	{ "execveat", "P/tool", NULL, NULL, RUN, "exec" },
	{ "below", "P", "0", "exec ./tool pid", RUN, "exec" },
	{ "by", "fchmod", "P/f", "r", CHANGE_FD, "chmod" },
	{ "by", "procchmod", "P/f", "p", CHANGE, "chmod" },
	{ "by", "fchown", "P/f", "r", CHANGE_FD, "chown" },
	{ "by", "fchownat", "P/f", "p", CHANGE, "chown" },
	{ "by", "fchmod", "P/d", "r", CHANGE_FD, "chmod" },
	{ "rename", "W/x1", "P/n8", "n", CHANGE, "rename" },
	{ "rename", "P/d2", "W/x4d", "x", CHANGE_OUT, "rename" },
};

TWINS(ways);

#define try_ways(metadata, s, twin, place, grants)			\
	try_acts(metadata, s, twin, place, grants, ways, ARRAY_SIZE(ways))

TEST_F(ways, in_a_workspace_all_work)
{
	try_ways(_metadata, &self->s, &self->twin, "ws/sub", ALL);
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(ways, in_a_read_only_root_none_writes)
{
	try_ways(_metadata, &self->s, &self->twin, "ro/sub",
		 GRANTS(READ) | GRANTS(LOOK) | GRANTS(RUN));
}

TEST_F(ways, in_a_read_only_root_inside_a_workspace_none_writes)
{
	try_ways(_metadata, &self->s, &self->twin, "ws/lib/sub",
		 GRANTS(READ) | GRANTS(LOOK) | GRANTS(RUN));
}

TEST_F(ways, outside_all_roots_none_reads)
{
	try_ways(_metadata, &self->s, &self->twin, "outside/sub",
		 GRANTS(LOOK));
}

TEST_F(ways, in_a_denied_root_none_shows_anything)
{
	try_ways(_metadata, &self->s, &self->twin, "ws/secret/deep", 0);
}

/* FS-31: a shared map of a descriptor for reading stays for reading. */
TEST_F(ways, a_map_is_not_made_writable)
{
	EXPECT_EQ(EACCES, ask(&self->s, "alter", "upgrade", "lib/file"));
	EXPECT_EQ(EACCES, ask(&self->s, "alter", "upgrade",
			      at(self->w, "ro/file")));
	EXPECT_EQ(EACCES, ask(&self->s, "mmap", at(self->w, "ro/file"), "w"));
	EXPECT_TRUE(denied(&self->s, "open", at(self->w, "ro/file"),
			   "read_only_roots/0"));
	EXPECT_EQ(0, ask(&self->s, "mmap", at(self->w, "ro/file"), "r"));
	EXPECT_EQ(0, ask(&self->s, "mmap", "file", "w"));
	EXPECT_TRUE(holds(at(self->w, "ro/file"), "TEXT"));
}

/* FS-32: a reflink is refused before the file system is asked for one. */
TEST_F(ways, a_clone_needs_both_opens)
{
	EXPECT_EQ(EACCES, ask(&self->s, "carry", "clone", "secret/key", "n1"));
	EXPECT_TRUE(denied(&self->s, "open", NULL, "read_deny_roots/0"));
	EXPECT_EQ(EACCES, ask(&self->s, "carry", "clone", "file", "lib/file"));
	EXPECT_TRUE(denied(&self->s, "open", NULL, "read_only_roots/1"));
	EXPECT_EQ(EOPNOTSUPP, ask(&self->s, "carry", "clone", "lib/file", "n1"));
	EXPECT_EQ(EOPNOTSUPP, ask(&self->twin, "carry", "clone", "secret/key",
				  "n2"));
}

/* A whiteout is a removal here, a new name there, and a name left behind. */
TEST_F(ways, a_rename_that_leaves_a_whiteout_is_judged_at_both_ends)
{
	EXPECT_EQ(EACCES, ask(&self->s, "rename", "secret/key", "n1", "w"));
	EXPECT_TRUE(denied(&self->s, "rename", at(self->w, "ws/secret/key"),
			   "read_deny_roots/0"));
	EXPECT_EQ(EACCES, ask(&self->s, "rename", "lib/file", "n1", "w"));
	EXPECT_EQ(EACCES, ask(&self->s, "rename", "file", "secret/n1", "w"));
	EXPECT_EQ(EACCES, ask(&self->s, "rename", "file", "lib/n1", "w"));
	EXPECT_TRUE(holds(at(self->w, "ws/file"), "TEXT"));
	EXPECT_EQ(0, ask(&self->s, "rename", "file", "n1", "w"));
	EXPECT_EQ(0, ask(&self->s, "unlink", "file"));
	EXPECT_EQ(0, ask(&self->twin, "rename", "secret/key", "n2", "w"));
}

/* FS-18: neither a handle nor a link by an empty path leads out. */
TEST_F(ways, what_needs_a_capability_has_none)
{
	char key[128];

	snprintf(key, sizeof(key), "%s", at(self->w, "ws/secret/key"));
	EXPECT_NE(0, ask(&self->s, "linkempty", "secret/key", "n1"));
	EXPECT_NE(0, ask(&self->s, "linkempty", at(self->w, "ro/file"), "n1"));
	EXPECT_FALSE(exists(at(self->w, "ws/n1")));
	EXPECT_EQ(EPERM, ask(&self->s, "handle", key, "."));
	EXPECT_EQ(EPERM, ask(&self->s, "handle", "file", "."));
	EXPECT_NE(0, ask(&self->s, "fanotify", "secret"));
	EXPECT_EQ(0, ask(&self->s, "inotify", "sub"));
	EXPECT_EQ(EACCES, ask(&self->s, "inotify", "secret"));
	EXPECT_TRUE(denied(&self->s, "watch", at(self->w, "ws/secret"),
			   "read_deny_roots/0"));
	EXPECT_EQ(EPERM, ask(&self->s, "chroot", "secret"));
	EXPECT_EQ(0, ask(&self->twin, "fanotify", "sub"));
}

/* What is asked of a descriptor needs one, and an open gives none. */
TEST_F(ways, leases_locks_and_signals_need_an_open)
{
	static const char *const how[] = { "lease", "lock" };

	for (size_t i = 0; i < ARRAY_SIZE(how); i++) {
		EXPECT_EQ(EACCES, ask(&self->s, "by", how[i], "secret/key"));
		EXPECT_EQ(EACCES, ask(&self->s, "by", how[i],
				      at(self->w, "outside/file")));
		EXPECT_EQ(0, ask(&self->twin, "by", how[i], "secret/key"));
	}
	EXPECT_EQ(0, ask(&self->s, "by", "lock", "file"));
	/* By a lease, who only reads a file would keep the host waiting. */
	EXPECT_EQ(EPERM, ask(&self->s, "by", "lease", "file"));
	EXPECT_EQ(EACCES, ask(&self->s, "by", "dnotify", "secret"));
	EXPECT_EQ(0, ask(&self->s, "by", "dnotify", "sub"));
}

static int put_program(const struct world *w)
{
	char cmd[2048];

	snprintf(cmd, sizeof(cmd),
		 "cd %s/ws && P=%s/tests/lsm/probe && "
		 "for d in secret sub ../outside; do "
		 "cp $P $d/tool && cp /bin/true $d/dynamic && "
		 "echo 'exit 0' >$d/script && "
		 "chmod 755 $d/tool $d/dynamic $d/script && "
		 "printf '#!%%s\\n' \"$PWD/$d/tool pid\" >sub/by-$(basename $d) "
		 "&& chmod 755 sub/by-*; done && ln -s ../secret/tool sub/l",
		 w->dir, getenv("B") ? getenv("B") : "build");
	return system(cmd);
}

/* FS-33: a denied program, by each thing that would run it. */
TEST_F(ways, a_denied_program_is_run_by_nothing)
{
	static const char loader[] = "/lib64/ld-linux-x86-64.so.2";
	static const char *const tools[] = {
		"secret/tool", "sub/l", "../outside/tool",
	};
	static const char *const by[] = { "sub/by-secret", "sub/by-outside" };
	struct session *s = &self->s;

	ASSERT_EQ(0, put_program(self->w));
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		EXPECT_EQ(EACCES, ask(s, "exec", tools[i], "pid"));
		EXPECT_TRUE(denied(s, "exec", NULL, NULL));
		EXPECT_EQ(EACCES, ask(s, "execveat", tools[i]));
		EXPECT_TRUE(denied(s, "exec", NULL, NULL));
		EXPECT_EQ(0, ask(&self->twin, "execveat", tools[i]));
	}
	/* as the interpreter of a script that may run */
	for (size_t i = 0; i < ARRAY_SIZE(by); i++) {
		EXPECT_EQ(EACCES, ask(s, "exec", by[i]));
		EXPECT_TRUE(denied(s, "exec", NULL, NULL));
		EXPECT_EQ(0, ask(&self->twin, "exec", by[i]));
	}
	EXPECT_EQ(0, ask(s, "exec", "sub/by-sub"));
	/* as data of one that may */
	EXPECT_EQ(0, ask(s, "exec", "/bin/sh", "secret/script"));
	EXPECT_NE(0, s->reply.value);
	EXPECT_TRUE(denied(s, "open", NULL, "read_deny_roots/0"));
	EXPECT_EQ(0, ask(s, "exec", "/bin/sh", "sub/script"));
	EXPECT_EQ(0, s->reply.value);
	EXPECT_EQ(0, ask(s, "exec", loader, "secret/dynamic"));
	EXPECT_NE(0, s->reply.value);
	EXPECT_TRUE(denied(s, "open", NULL, "read_deny_roots/0"));
	EXPECT_EQ(0, ask(s, "exec", loader, "sub/dynamic"));
	EXPECT_EQ(0, s->reply.value);
	/* mapped */
	EXPECT_EQ(EACCES, ask(s, "mmap", "secret/dynamic", "x"));
	EXPECT_EQ(0, ask(s, "mmap", "sub/dynamic", "x"));
}

/*
 * The kernel takes the bit away at a write and at a truncation, but not when a
 * shared map is written: then what the session wrote would run as its owner.
 */
TEST_F(ways, what_has_a_setid_bit_is_not_opened_for_writing)
{
	static const char *const modes[] = { "4755", "2755", "6755" };
	struct session *s = &self->s;
	char file[128];

	snprintf(file, sizeof(file), "%s", at(self->w, "ws/setid"));
	ASSERT_EQ(0, world_file(self->w, file, "TEXT"));
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		ASSERT_EQ(0, chmod(file, strtol(modes[i], NULL, 8)));
		EXPECT_EQ(EACCES, ask(s, "mmap", "setid", "w"));
		EXPECT_TRUE(denied(s, "open", file, "default"));
		EXPECT_EQ(EACCES, ask(s, "open", "setid", "wa"));
		EXPECT_EQ(EACCES, ask(s, "open", "setid", "+"));
		EXPECT_EQ(0, ask(s, "open", "setid", "r"));
		EXPECT_EQ(0, ask(s, "mmap", "setid", "r"));
		EXPECT_EQ(0, ask(&self->twin, "mmap", "setid", "w"));
		ASSERT_EQ(0, chmod(file, strtol(modes[i], NULL, 8)));
	}
	EXPECT_TRUE(holds(file, "TEXT"));
	/* without the group's right to run it, it is no such bit */
	ASSERT_EQ(0, chmod(file, 02644));
	EXPECT_EQ(0, ask(s, "mmap", "setid", "w"));
	ASSERT_EQ(0, chmod(file, 0755));
	EXPECT_EQ(0, ask(s, "mmap", "setid", "w"));
	/* replaced, it is another file, and removed none */
	ASSERT_EQ(0, chmod(file, 04755));
	EXPECT_EQ(0, ask(s, "write", "n1", "NEW"));
	EXPECT_EQ(0, ask(s, "rename", "n1", "setid"));
	EXPECT_EQ(0, ask(s, "open", "setid", "+"));
	ASSERT_EQ(0, chmod(file, 04755));
	EXPECT_EQ(0, ask(s, "unlink", "setid"));
}

/* tmpfile(3) opens without a name in /tmp; so does ed. */
TEST_F(ways, an_unnamed_file_in_tmp_is_nobody_elses)
{
	struct policy p = { .level = "read_only" };
	struct session *s = &self->s;
	char ws[128];

	snprintf(ws, sizeof(ws), "%s", at(self->w, "ws"));
	EXPECT_EQ(0, ask(s, "ctmpfile", ws));
	EXPECT_STREQ("hello", s->reply.text);
	EXPECT_EQ(EACCES, s->reply.value);
	EXPECT_FALSE(exists(at(self->w, "ws/named")));
	EXPECT_TRUE(denied(s, "link", NULL, NULL));
	EXPECT_EQ(0, ask(s, "open", "/tmp", "+Tx"));
	/* one that may get a name, and one elsewhere */
	EXPECT_EQ(EACCES, ask(s, "open", "/tmp", "+T"));
	EXPECT_TRUE(denied(s, "open", NULL, "default"));
	EXPECT_EQ(EACCES, ask(s, "open", self->w->dir, "+Tx"));
	EXPECT_EQ(EACCES, ask(s, "open", "lib", "+Tx"));
	EXPECT_EQ(EACCES, ask(s, "open", "secret", "+Tx"));
	EXPECT_EQ(EACCES, ask(s, "open", "/tmp/new", "wcx"));
	EXPECT_EQ(0, ask(s, "open", ".", "+T"));
	EXPECT_EQ(0, ask(&self->twin, "open", "/tmp", "+T"));
	/* who may not write at all has none */
	EXPECT_EQ(0, session_end(s));
	ASSERT_EQ(0, policy_write(self->w, &p));
	ASSERT_EQ(0, session_start(s, self->w, "r", NULL));
	EXPECT_EQ(EACCES, ask(s, "open", "/tmp", "+Tx"));
	EXPECT_EQ(EACCES, ask(s, "ctmpfile", ws));
}

/* FS-48, NET-30: io_uring is answered as by a kernel without it. */
TEST_F(ways, there_is_no_other_road_of_system_calls)
{
	char nr[16];

	snprintf(nr, sizeof(nr), "%d", SYS_io_uring_setup);
	EXPECT_EQ(ENOSYS, ask(&self->s, "syscall", nr));
	EXPECT_NE(ENOSYS, ask(&self->twin, "syscall", nr));
}

TEST_HARNESS_MAIN
