// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a command is given with its three descriptors, and what a crash leaves:
 * /proc/self/fd/N is what it leads to, in the mode that it was opened in
 * (FS-15, FS-39, APP-26).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "session.h"

FIXTURE(stdio) {
	struct world *w;
};

FIXTURE_VARIANT(stdio) {
	const char *user;
};

FIXTURE_VARIANT_ADD(stdio, user) {
	.user = TEST_USER,
};

FIXTURE_VARIANT_ADD(stdio, root) {
	.user = "root",
};

FIXTURE_SETUP(stdio)
{
	struct policy p = { 0 };

	self->w = world_make(variant->user);
	ASSERT_NE(NULL, self->w);
	ASSERT_EQ(0, policy_write(self->w, &p));
	ASSERT_EQ(0, world_file(self->w, at(self->w, "outside/out"), "OUT\n"));
	ASSERT_EQ(0, world_file(self->w, at(self->w, "outside/err"), ""));
}

FIXTURE_TEARDOWN(stdio)
{
	world_remove(self->w);
}

/*
 * A shell outside every root runs @line; $RUN in it is lh-supervise up to the
 * command. What the session's user opens anew must be his.
 */
static int run(struct world *w, const char *line)
{
	char script[8192];

	snprintf(script, sizeof(script),
		 "cd %s/outside && export USER=%s RUN='%s/lh-supervise --policy "
		 "%s/log/policy.json -C %s/ws --user %s --denials %s/log/d "
		 "--result %s/log/r --' && %s", w->dir, w->user,
		 getenv("B") ? getenv("B") : "build", w->dir, w->dir, w->user,
		 w->dir, w->dir, line);
	return system(script);
}

#define NOT " && exit 9; "	/* the command before must have failed */

TEST_F(stdio, files_outside_every_root_keep_their_mode)
{
	EXPECT_EQ(0, run(self->w, "$RUN bash -c 'exec 2>&2; "
		"cat /dev/stdin >>/dev/stdout || exit 1; "
		"echo two >>/proc/self/fd/1 || exit 2; "
		"echo e >>/dev/stderr || exit 3; "
		"echo f >>/dev/fd/2 || exit 4; "
		"cat /proc/self/fd/1" NOT "cat /dev/stdout" NOT
		"cat </dev/stderr" NOT "(echo x >>/dev/stdin)" NOT
		"(: >/proc/self/fd/0)" NOT "exit 0' "
		"<file >>out 2>>err"));
	EXPECT_TRUE(holds(at(self->w, "outside/file"), "TEXT"));
	EXPECT_TRUE(holds(at(self->w, "outside/out"), "OUT\nTEXTtwo\n"));
}

/* What others put into a pipe is not read by who was given its other end. */
TEST_F(stdio, pipes_keep_their_mode)
{
	EXPECT_EQ(0, run(self->w, "echo in | { chown $USER /dev/stdin "
		"/dev/stdout; $RUN bash -c '"
		"test $(cat /dev/stdin) = in || exit 1; "
		"(echo x >/dev/stdin)" NOT "timeout 2 cat /dev/stdout" NOT
		"echo one >/dev/stdout || exit 2; "
		"echo two >/proc/self/fd/1 || exit 3' 2>>err; "
		"echo $? >status; } | cat >got"));
	EXPECT_TRUE(holds(at(self->w, "outside/got"), "one\ntwo\n"));
	EXPECT_TRUE(holds(at(self->w, "outside/status"), "0\n"));
	/* its own have two ends for it */
	EXPECT_EQ(0, run(self->w, "$RUN bash -c '"
		"test $(echo a | cat /dev/stdin) = a || exit 1; "
		"test $(cat <(echo b)) = b || exit 2; "
		"echo c > >(cat >c) || exit 3; "
		"cat <<<here >/dev/null || exit 4; "
		"exec 5<>/dev/null && echo d >/dev/fd/5 || exit 5' </dev/null"));
}

TEST_F(stdio, a_directory_by_its_descriptor_is_itself)
{
	EXPECT_EQ(0, run(self->w, "$RUN bash -c 'exec 9<.; "
		"cat /proc/self/cwd/secret/key" NOT
		"cat /proc/self/fd/9/secret/key" NOT
		"cat /dev/fd/9/secret/key" NOT
		"cat /proc/self/fd/9/file >/dev/null || exit 1; "
		"cat /dev/fd/9/file >/dev/null' </dev/null 2>>err"));
}

/* Given to it on purpose, and to no other command. */
TEST_F(stdio, a_kept_descriptor_keeps_its_mode)
{
	EXPECT_EQ(0, run(self->w, "exec 7<file && ${RUN%--} --keep-fd 7 -- "
		"bash -c 'cat /dev/fd/7 >/dev/null || exit 1; "
		"(echo x >>/dev/fd/7)" NOT "exit 0' </dev/null 2>>err"));
	EXPECT_TRUE(holds(at(self->w, "outside/file"), "TEXT"));
}

/* A terminal, its name, and what /dev/tty stands for. */
TEST_F(stdio, the_terminal_of_the_caller_works)
{
	EXPECT_EQ(0, run(self->w, "script -qec \"chown $USER \\$(tty); $RUN bash -c 'test -t 0 || "
		"exit 1; echo a >/dev/tty || exit 2; echo b >/dev/stderr || "
		"exit 3; echo c >\\$(tty) || exit 4; stty -a </dev/tty "
		">/dev/null || exit 5; : </proc/self/fd/1 || exit 6'\" "
		"/dev/null >/dev/null"));
}

TEST_F(stdio, a_crash_leaves_no_core_and_starts_no_handler)
{
	FILE *f = fopen("/tmp/handler", "we");
	char was[256] = "";
	int fd = open("/proc/sys/kernel/core_pattern", O_RDWR | O_CLOEXEC);

	ASSERT_NE(NULL, f);
	fprintf(f, "#!/bin/sh\ncat >/dev/null\necho ran >/tmp/handled\n");
	ASSERT_EQ(0, fclose(f));
	ASSERT_EQ(0, chmod("/tmp/handler", 0755));
	ASSERT_LE(0, fd);
	ASSERT_LT(0, read(fd, was, sizeof(was) - 1));
	unlink("/tmp/handled");
	ASSERT_EQ(13, pwrite(fd, "|/tmp/handler", 13, 0));
	EXPECT_NE(0, run(self->w, "$RUN bash -c 'ulimit -c unlimited; "
		"kill -SEGV $$' </dev/null 2>>err"));
	EXPECT_FALSE(exists("/tmp/handled"));
	/* outside, the same starts it: waited for by the kernel, then by us */
	EXPECT_NE(0, run(self->w, "bash -c 'ulimit -c unlimited; kill -SEGV "
		"$$' 2>>err"));
	for (int i = 0; i < 500 && !exists("/tmp/handled"); i++)
		usleep(20000);
	EXPECT_TRUE(exists("/tmp/handled"));
	/* and by name: in the workspace, in a read-only root */
	ASSERT_EQ(5, pwrite(fd, "lh.co", 5, 0));
	EXPECT_NE(0, run(self->w, "$RUN bash -c 'ulimit -c unlimited; "
		"(bash -c \"kill -SEGV \\$\\$\"); cd ../ro; "
		"kill -SEGV $$' </dev/null 2>>err"));
	EXPECT_EQ(0, run(self->w, "test -z \"$(find .. -name 'lh.co*')\""));
	EXPECT_LT(0, pwrite(fd, was, strlen(was), 0));
	close(fd);
	unlink("/tmp/handled");
	unlink("/tmp/handler");
}

TEST_HARNESS_MAIN
