// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations and their objects: what explain says of links, of two names, and
 * of what no table knows.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../policy-compiler/build.h"
#include "../../policy-compiler/explain.h"
#include "kselftest_harness.h"

#define RW (LH_ROOT_READ | LH_ROOT_WRITE)
#define DENY LH_ROOT_DENY

FIXTURE(explain) {
	char dir[64];
	char path[PATH_MAX];
	struct build b;
	struct image *im;
	struct table t;
	struct err e;
};

FIXTURE_SETUP(explain)
{
	memset(self, 0, sizeof(*self));
	strcpy(self->dir, "/tmp/lh-explain.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	build_begin(&self->b);
}

FIXTURE_TEARDOWN(explain)
{
	char command[128];

	table_free(&self->t);
	free(self->im);
	build_free(&self->b);
	snprintf(command, sizeof(command), "rm -rf %s", self->dir);
	EXPECT_EQ(0, system(command));
}

static const char *at(FIXTURE_DATA(explain) *s, const char *path)
{
	snprintf(s->path, sizeof(s->path), "%s/%s", s->dir, path);
	return s->path;
}

static int resolve(FIXTURE_DATA(explain) *s, uint32_t flags)
{
	struct image head = {
		.flags = flags, .profile = PROFILE_OS_HARDENED,
	};
	static const uint64_t no_filter;

	free(s->im);
	s->im = NULL;
	table_free(&s->t);
	s->e = (struct err){ 0 };
	head.home = build_string(&s->b, "/nonexistent");
	head.workspace = build_string(&s->b, s->dir);
	if (build_finish(&s->b, &head, &no_filter, 1, "{}", 2, &s->im))
		return -1;
	return table_resolve(s->im, NULL, &s->t, &s->e);
}

/* --- what is said of operations */

static int tell(FIXTURE_DATA(explain) *s, const char *op, const char *object,
		const char *other, struct answer *a)
{
	char path[2][PATH_MAX];
	struct question q = {
		.op = operation_find(op), .object = path[0],
		.other = other ? path[1] : NULL,
	};

	/* What is no path of ours stands as it is. */
	snprintf(path[0], PATH_MAX, "%s%s%s", strchr(object, ':') ||
		 *object == '/' || *object == '#' ? "" : s->dir,
		 strchr(object, ':') || *object == '/' || *object == '#' ?
		 "" : "/", object + (*object == '#'));
	snprintf(path[1], PATH_MAX, "%s/%s", s->dir, other ? other : "");
	return explain(s->im, &s->t, &q, a, &s->e);
}

static int verdict(FIXTURE_DATA(explain) *s, const char *op,
		   const char *object, const char *other)
{
	struct answer a;
	int v;

	if (tell(s, op, object, other, &a))
		return -1;
	v = a.verdict;
	answer_free(&a);
	return v;
}

TEST_F(explain, names_each_link_on_the_way)
{
	struct answer a;
	char want[128];

	mkdir(at(self, "ws"), 0755);
	mkdir(at(self, "out"), 0755);
	ASSERT_EQ(0, symlink("b/f", at(self, "ws/a")));
	ASSERT_EQ(0, symlink("../out", at(self, "ws/b")));
	build_root(&self->b, at(self, "ws"), RW, ROOT_WORKSPACE, "/rw");
	ASSERT_EQ(0, resolve(self, 0)) TH_LOG("%s", self->e.msg);
	ASSERT_EQ(0, tell(self, "write", "ws/a", NULL, &a));
	ASSERT_EQ(2, a.link_count);
	snprintf(want, sizeof(want), "%s/ws/a", self->dir);
	EXPECT_STREQ(want, a.links[0].path);
	EXPECT_STREQ("b/f", a.links[0].target);
	snprintf(want, sizeof(want), "%s/ws/b", self->dir);
	EXPECT_STREQ(want, a.links[1].path);
	EXPECT_STREQ("../out", a.links[1].target);
	snprintf(want, sizeof(want), "%s/out/f", self->dir);
	EXPECT_STREQ(want, a.object);
	snprintf(want, sizeof(want), "%s/out", self->dir);
	EXPECT_STREQ(want, a.place);
	EXPECT_EQ(ANSWER_REFUSE, a.verdict);
	answer_free(&a);
	/* The name goes, not what it leads to. */
	ASSERT_EQ(0, tell(self, "remove", "ws/a", NULL, &a));
	EXPECT_EQ(0, a.link_count);
	EXPECT_EQ(ANSWER_ALLOW, a.verdict);
	answer_free(&a);
}

TEST_F(explain, a_rename_and_a_link_ask_of_both_names)
{
	struct answer a;

	mkdir(at(self, "ws"), 0755);
	mkdir(at(self, "ws/d"), 0755);
	mkdir(at(self, "ro"), 0755);
	close(creat(at(self, "ws/f"), 0644));
	close(creat(at(self, "ro/f"), 0644));
	build_root(&self->b, at(self, "ws"), RW | LH_ROOT_EXEC, ROOT_WORKSPACE,
		   "/rw");
	build_root(&self->b, at(self, "ro"), LH_ROOT_READ | LH_ROOT_EXEC |
		   LH_ROOT_RDONLY, ROOT_PLAIN, "/ro");
	build_root(&self->b, at(self, "ws/no/key"), DENY, ROOT_PLAIN, "/deny");
	ASSERT_EQ(0, resolve(self, 0)) TH_LOG("%s", self->e.msg);
	EXPECT_EQ(ANSWER_ALLOW, verdict(self, "rename", "ws/f", "ws/g"));
	EXPECT_EQ(ANSWER_REFUSE, verdict(self, "rename", "ro/f", "ws/g"));
	ASSERT_EQ(0, tell(self, "rename", "ws/f", "ro/g", &a));
	EXPECT_EQ(ANSWER_REFUSE, a.verdict);
	EXPECT_TRUE(a.second);
	EXPECT_STREQ("/ro", a.rule);
	answer_free(&a);
	EXPECT_EQ(ANSWER_ALLOW, verdict(self, "link", "ws/f", "ws/g"));
	EXPECT_EQ(ANSWER_REFUSE, verdict(self, "link", "ro/f", "ws/g"));
	EXPECT_EQ(ANSWER_REFUSE, verdict(self, "link", "ws/f", "ro/g"));
	/* A directory, or a link to one, may not become the way to the key. */
	EXPECT_EQ(ANSWER_REFUSE, verdict(self, "rename", "ws/d", "ws/no"));
	EXPECT_EQ(ANSWER_ALLOW, verdict(self, "rename", "ws/f", "ws/no"));
	EXPECT_EQ(ANSWER_REFUSE, verdict(self, "symlink", "ws/no", NULL));
	EXPECT_EQ(ANSWER_ALLOW, verdict(self, "mkdir", "ws/no", NULL));
}

TEST_F(explain, what_only_a_session_has_is_said_in_words)
{
	struct answer a;

	mkdir(at(self, "ws"), 0755);
	build_root(&self->b, at(self, "ws"), RW, ROOT_WORKSPACE, "/rw");
	build_root(&self->b, "/dev/shm", LH_ROOT_OWN, ROOT_PLAIN, "/own");
	ASSERT_EQ(0, resolve(self, IMAGE_USER_TEMP)) TH_LOG("%s", self->e.msg);
	EXPECT_EQ(ANSWER_ALLOW, verdict(self, "create", "/dev/shm/lh-none",
					NULL));
	EXPECT_EQ(ANSWER_REFUSE, verdict(self, "list", "/dev/shm", NULL));
	EXPECT_EQ(ANSWER_DEPENDS, verdict(self, "write", "/tmp/lh-1/none/x",
					  NULL));
	EXPECT_EQ(ANSWER_REFUSE, verdict(self, "write", "/tmp/lh-none/x",
					 NULL));
	EXPECT_EQ(ANSWER_DEPENDS, verdict(self, "read", "/proc/self/cwd/x",
					  NULL));
	ASSERT_EQ(0, tell(self, "exec", "/bin/sh", NULL, &a));
	EXPECT_EQ(ANSWER_REFUSE, a.verdict);
	ASSERT_NE(NULL, a.notes[0]);
	EXPECT_NE(NULL, strstr(a.notes[0], "the command"));
	answer_free(&a);
}

TEST_F(explain, sockets_and_processes)
{
	struct answer a;
	char path[128];

	mkdir(at(self, "ws"), 0755);
	build_root(&self->b, at(self, "ws"), RW, ROOT_WORKSPACE, "/rw");
	ASSERT_EQ(0, resolve(self, 0)) TH_LOG("%s", self->e.msg);
	ASSERT_EQ(0, tell(self, "connect", "127.0.0.1:80", NULL, &a));
	EXPECT_EQ(ANSWER_REFUSE, a.verdict);
	EXPECT_STREQ("family", a.code);
	answer_free(&a);
	EXPECT_EQ(ANSWER_REFUSE, verdict(self, "bind", "[::1]:80", NULL));
	snprintf(path, sizeof(path), "unix:%s/ws/s", self->dir);
	EXPECT_EQ(ANSWER_ALLOW, verdict(self, "bind", path, NULL));
	EXPECT_EQ(ANSWER_DEPENDS, verdict(self, "connect", path, NULL));
	close(creat(at(self, "ws/s"), 0644));
	EXPECT_EQ(ANSWER_REFUSE, verdict(self, "connect", path, NULL));
	snprintf(path, sizeof(path), "unix:%s/s", self->dir);
	EXPECT_EQ(ANSWER_REFUSE, verdict(self, "bind", path, NULL));
	EXPECT_EQ(ANSWER_ALLOW, verdict(self, "bind", "unix:@name", NULL));
	EXPECT_EQ(ANSWER_DEPENDS, verdict(self, "connect", "unix:@name",
					  NULL));
	EXPECT_EQ(-1, verdict(self, "bind", "unix:x", NULL));
	EXPECT_EQ(ANSWER_REFUSE, verdict(self, "signal", "#1", NULL));
	EXPECT_EQ(ANSWER_ALLOW, verdict(self, "signal", "#self", NULL));
	EXPECT_EQ(-1, verdict(self, "signal", "#x", NULL));
}

TEST_F(explain, tracing_is_of_its_own_and_by_grant)
{
	struct answer a;

	mkdir(at(self, "ws"), 0755);
	build_root(&self->b, at(self, "ws"), RW, ROOT_WORKSPACE, "/rw");
	ASSERT_EQ(0, resolve(self, 0)) TH_LOG("%s", self->e.msg);
	ASSERT_EQ(0, tell(self, "ptrace", "#self", NULL, &a));
	EXPECT_EQ(ANSWER_REFUSE, a.verdict);
	EXPECT_STREQ("not_granted", a.code);
	answer_free(&a);
	EXPECT_EQ(ANSWER_REFUSE, verdict(self, "ptrace", "#1", NULL));
	self->im->flags |= IMAGE_PTRACE;
	ASSERT_EQ(0, tell(self, "ptrace", "#self", NULL, &a));
	EXPECT_EQ(ANSWER_ALLOW, a.verdict);
	EXPECT_STREQ("/process_sandbox/ptrace", a.rule);
	EXPECT_NE(NULL, strstr(a.notes[0], "yama"));
	answer_free(&a);
	ASSERT_EQ(0, tell(self, "ptrace", "#1", NULL, &a));
	EXPECT_EQ(ANSWER_REFUSE, a.verdict);
	EXPECT_STREQ("process", a.code);
	answer_free(&a);
	EXPECT_EQ(-1, verdict(self, "ptrace", "#x", NULL));
}

TEST_F(explain, a_socket_of_the_host_is_asked_by_its_file)
{
	struct answer a;
	char path[128];

	mkdir(at(self, "ws"), 0755);
	mkdir(at(self, "run"), 0755);
	build_root(&self->b, at(self, "ws"), RW, ROOT_WORKSPACE, "/rw");
	build_root(&self->b, at(self, "run"), LH_ROOT_SOCKET, ROOT_PLAIN,
		   "/sockets");
	build_root(&self->b, at(self, "run/no"), LH_ROOT_DENY, ROOT_PLAIN,
		   "/deny");
	ASSERT_EQ(0, resolve(self, 0)) TH_LOG("%s", self->e.msg);
	snprintf(path, sizeof(path), "unix:%s/run/s", self->dir);
	ASSERT_EQ(0, tell(self, "connect", path, NULL, &a));
	EXPECT_EQ(ANSWER_ALLOW, a.verdict);
	EXPECT_STREQ("/sockets", a.rule);
	EXPECT_STREQ(at(self, "run"), a.root);
	answer_free(&a);
	ASSERT_EQ(0, tell(self, "bind", path, NULL, &a));
	EXPECT_EQ(ANSWER_ALLOW, a.verdict);
	EXPECT_STREQ("/sockets", a.rule);
	EXPECT_STREQ(at(self, "run"), a.root);
	answer_free(&a);
	snprintf(path, sizeof(path), "unix:%s/run/no/s", self->dir);
	ASSERT_EQ(0, tell(self, "connect", path, NULL, &a));
	EXPECT_EQ(ANSWER_REFUSE, a.verdict);
	EXPECT_STREQ("/deny", a.rule);
	answer_free(&a);
	EXPECT_EQ(ANSWER_REFUSE, verdict(self, "bind", path, NULL));
	/* a file is nothing that it opens */
	EXPECT_EQ(ANSWER_REFUSE, verdict(self, "create", "run/f", NULL));
	EXPECT_EQ(ANSWER_REFUSE, verdict(self, "mkdir", "run/d", NULL));
	/* what might be a listener is not carried in; a file may not either */
	mkdir(at(self, "ws/d"), 0755);
	EXPECT_EQ(ANSWER_REFUSE, verdict(self, "rename", "ws/d", "run/d"));
}

TEST_HARNESS_MAIN

