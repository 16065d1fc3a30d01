// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nothing outside of a session changes: a battery of everything that the engine
 * hooks, run by an ordinary user and by root beside a live session, passes
 * whole; and by tools that people use, compared before and beside.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "twins.h"

TWINS(host);

/* In order: a later step stands on an earlier one. */
static const char *const battery[][5] = {
	{ "write", "secret/mine", "x" },
	{ "open", "secret/mine", "r" },
	{ "link", "secret/mine", "hard" },
	{ "rename", "secret/mine", "lib/mine" },
	{ "rename", "lib/mine", "hard", "x" },
	{ "truncate", "lib/mine" },
	{ "chmod", "lib/mine", "4755" },
	{ "chown", "lib/mine" },
	{ "utimes", "lib/mine" },
	{ "unlink", "lib/mine" },
	{ "mkdir", "late" },
	{ "mkdir", "late/secret" },
	{ "list", "late/secret" },
	{ "rename", "late", "later" },
	{ "rename", "secret", "kept" },
	{ "rename", "kept", "secret" },
	{ "rmdir", "later/secret" },
	{ "symlink", "secret", "s" },
	{ "lstat", "s" },
	{ "readlink", "s" },
	{ "mknod", "p", "f" },
	{ "mknod", "secret/sock", "s" },
	{ "tmpfile", "secret", "secret/named" },
	{ "write", ".git/hooks/pre-push", "x" },
	{ "write", ".git/config", "x" },
	{ "exec", "/bin/true" },
	{ "inotify", "secret" },
	{ "socket", "2", "1" },
	{ "socket", "10", "2" },
	{ "socket", "16", "3" },
	{ "socketpair" },
	{ "unixfile", "secret/listen" },
	{ "unshare", "0x10000000" },
	{ "procfile", "self", "maps" },
	{ "procfile", "self", "mem" },
};

/* What root alone may do. */
static const char *const of_root[][5] = {
	{ "mknod", "dev", "c" },
	{ "socket", "17", "3" },
	{ "unshare", "0x20000" },
	{ "bpf", "0" },
	{ "perf" },
	{ "mount", "sub" },
	{ "umount", "sub" },
	{ "bind", "secret", "sub" },
	{ "umount", "sub" },
	{ "open_tree", "secret" },
	{ "fsopen", "tmpfs" },
	{ "setns", "/proc/self/ns/net" },
	{ "handle", "secret/key", "." },
	{ "list", "/sys/fs/bpf" },
	{ "mkdir", "/sys/fs/cgroup/host-battery" },
	{ "write", "/sys/fs/cgroup/host-battery/pids.max", "10" },
	{ "rmdir", "/sys/fs/cgroup/host-battery" },
	{ "open", "/proc/sys/kernel/hostname", "w" },
	{ "open", "/etc/shadow", "r" },
};

static void run_all(struct __test_metadata *_metadata, struct session *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(battery); i++) {
		EXPECT_EQ(0, session_ask(s, battery[i])) {
			TH_LOG("%s %s", battery[i][0], battery[i][1]);
		}
	}
	EXPECT_EQ(0, ask(s, "child", "child", "thread", "open", "secret/key",
			 "r"));
	for (size_t i = 0; i < ARRAY_SIZE(of_root) && !s->w->uid; i++) {
		EXPECT_EQ(0, session_ask(s, of_root[i])) {
			TH_LOG("%s %s", of_root[i][0], of_root[i][1]);
		}
	}
}

TEST_F(host, a_battery_beside_a_live_session_passes_whole)
{
	run_all(_metadata, &self->twin);
	/* the session is as it was, and had no part in it */
	EXPECT_EQ(EACCES, ask(&self->s, "open", "secret/key", "r"));
	EXPECT_TRUE(denied(&self->s, "open", NULL, NULL));
}

TEST_F(host, the_session_ended_the_same_battery_passes)
{
	ASSERT_EQ(0, session_end(&self->s));
	run_all(_metadata, &self->twin);
	ASSERT_EQ(0, session_start(&self->s, self->w, "again", NULL));
}

/* What root does to a session's world while it lives. */
TEST_F(host, tools_of_the_host_go_where_a_session_may_not)
{
	char cmd[1024];

	snprintf(cmd, sizeof(cmd), "cd %s/ws && tar cf /tmp/t.tar secret lib "
		 ".git && mkdir /tmp/t && tar xf /tmp/t.tar -C /tmp/t && "
		 "diff -r secret /tmp/t/secret && find . -type f -exec cat {} "
		 "+ >/dev/null && du -s secret >/dev/null && ls -lR "
		 ">/dev/null && rm -r /tmp/t /tmp/t.tar", self->w->dir);
	EXPECT_EQ(0, system(cmd));
	snprintf(cmd, sizeof(cmd), "grep -q . /proc/%d/maps && ls "
		 "/proc/%d/fd >/dev/null && cat /proc/%d/environ >/dev/null",
		 self->s.probe, self->s.probe, self->s.probe);
	EXPECT_EQ(0, system(cmd));
	EXPECT_EQ(0, system("bpftool prog list >/dev/null && bpftool map list "
			    ">/dev/null"));
}

TEST_HARNESS_MAIN
