// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the host may run later: told when a session changed it, in the result
 * and in one line, and not told when nothing is different.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "session.h"
#include "../tick.h"

FIXTURE(hostexec) {
	struct world *w;
	struct session s;
	char result[65536], said[65536];
};

FIXTURE_SETUP(hostexec)
{
	struct world *w = self->w = world_make(TEST_USER);

	ASSERT_NE(NULL, w);
	ASSERT_EQ(0, world_file(w, at(w, "ws/.npmrc"), "TEXT"));
	ASSERT_EQ(0, world_file(w, at(w, "ws/.vscode/tasks.json"), "TEXT"));
	ASSERT_EQ(0, world_file(w, at(w, "ws/.github/workflows/a"), "TEXT"));
}

FIXTURE_TEARDOWN(hostexec)
{
	world_remove(self->w);
}

static void start(struct __test_metadata *_metadata,
		  FIXTURE_DATA(hostexec) *self, struct policy p,
		  const char *flag)
{
	const char *flags[] = { flag, NULL };

	ASSERT_EQ(0, policy_write(self->w, &p));
	ASSERT_EQ(0, session_start(&self->s, self->w, "s", flags));
}

static void slurp(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, buf, size - 1);

	buf[n > 0 ? n : 0] = 0;
	close(fd);
}

static void end(struct __test_metadata *_metadata,
		FIXTURE_DATA(hostexec) *self)
{
	ASSERT_EQ(0, session_end(&self->s));
	slurp(at(self->w, "log/s.result"), self->result, sizeof(self->result));
	slurp(at(self->w, "log/s.stderr"), self->said, sizeof(self->said));
}

static bool told(FIXTURE_DATA(hostexec) *self, const char *path,
		 const char *change, const char *kind)
{
	char want[512];

	snprintf(want, sizeof(want), "{\"path\":\"%s/ws/%s\",\"change\":\"%s\","
		 "\"kind\":\"%s\",\"compared\":\"content\",\"count\":1}",
		 self->w->dir, path, change, kind);
	if (strstr(self->result, want))
		return true;
	fprintf(stderr, "# %s", self->result);
	return false;
}

TEST_F(hostexec, what_a_session_changed_is_told)
{
	struct session *s = &self->s;

	start(_metadata, self, (struct policy){ 0 }, NULL);
	EXPECT_EQ(0, ask(s, "write", ".envrc", "evil"));
	EXPECT_EQ(0, ask(s, "write", ".vscode/tasks.json", "evil"));
	EXPECT_EQ(0, ask(s, "unlink", ".github/workflows/a"));
	EXPECT_EQ(0, ask(s, "mkdir", ".husky"));
	EXPECT_EQ(0, ask(s, "symlink", "../sub/x", ".husky/pre-commit"));
	/* The same bytes again. */
	EXPECT_EQ(0, ask(s, "unlink", ".npmrc"));
	EXPECT_EQ(0, ask(s, "write", ".npmrc", "TEXT"));
	EXPECT_EQ(0, ask(s, "write", "file", "TEXT2"));
	end(_metadata, self);
	EXPECT_TRUE(told(self, ".envrc", "created", "shell"));
	EXPECT_TRUE(told(self, ".vscode/tasks.json", "modified", "editor"));
	EXPECT_TRUE(told(self, ".github/workflows/a", "removed", "ci"));
	EXPECT_TRUE(told(self, ".husky/pre-commit", "created", "hooks"));
	EXPECT_EQ(NULL, strstr(self->result, ".npmrc"));
	EXPECT_NE(NULL, strstr(self->said,
			       "the host may run later: .envrc (created), "));
}

/* By the time of its change: there is no picture of the whole tree. */
static bool told_by_time(FIXTURE_DATA(hostexec) *self, const char *path,
			 const char *kind)
{
	char want[512];
	const char *at, *end;

	snprintf(want, sizeof(want), "{\"path\":\"%s/ws/%s\",",
		 self->w->dir, path);
	at = strstr(self->result, want);
	snprintf(want, sizeof(want), "\"kind\":\"%s\",\"compared\":"
		 "\"times\",\"count\":1}", kind);
	end = at ? strchr(at, '}') : NULL;
	if (end && strstr(at, want) && strstr(at, want) < end)
		return true;
	fprintf(stderr, "# %s: %s", path, self->result);
	return false;
}

static void old_repository(struct __test_metadata *_metadata, struct world *w,
			   const char *dir)
{
	char path[256];

	snprintf(path, sizeof(path), "ws/%s/HEAD", dir);
	ASSERT_EQ(0, world_file(w, at(w, path), "ref: refs/heads/main\n"));
	snprintf(path, sizeof(path), "ws/%s/config", dir);
	ASSERT_EQ(0, world_file(w, at(w, path), "[core]\n"));
	snprintf(path, sizeof(path), "ws/%s/refs/heads/main", dir);
	ASSERT_EQ(0, world_file(w, at(w, path), "0"));
	tick();
}

TEST_F(hostexec, what_the_hosts_git_obeys_is_told_wherever_it_lies)
{
	struct session *s = &self->s;
	const char *changes;

	old_repository(_metadata, self->w, "old/.git");
	old_repository(_metadata, self->w, "still/.git");
	old_repository(_metadata, self->w, "bare.git");
	start(_metadata, self, (struct policy){ 0 }, NULL);
	/* a repository that was there: by a rename, as git itself does it */
	EXPECT_EQ(0, ask(s, "write", "new", "[core]\nfsmonitor=evil\n"));
	EXPECT_EQ(0, ask(s, "rename", "new", "old/.git/config"));
	/* hooks where they are not held */
	EXPECT_EQ(0, ask(s, "mkdir", "bare.git/hooks"));
	EXPECT_EQ(0, ask(s, "write", "bare.git/hooks/update", "x"));
	EXPECT_EQ(EACCES, ask(s, "mkdir", "still/.git/hooks"));
	/* a .git file that leads to another one */
	EXPECT_EQ(0, ask(s, "write", "sub/.git", "gitdir: ../bare.git\n"));
	/* the top, once its .git is no repository */
	EXPECT_EQ(0, ask(s, "write", ".git/HEAD", "junk"));
	EXPECT_EQ(0, ask(s, "write", "HEAD", "ref: refs/heads/main\n"));
	EXPECT_EQ(0, ask(s, "mkdir", "objects"));
	EXPECT_EQ(0, ask(s, "mkdir", "refs"));
	EXPECT_EQ(0, ask(s, "write", "config", "[core]\nfsmonitor=evil\n"));
	EXPECT_EQ(EACCES, ask(s, "write", ".git/config", "x"));
	end(_metadata, self);
	EXPECT_TRUE(told_by_time(self, "old/.git/config", "git"));
	EXPECT_TRUE(told_by_time(self, "bare.git/hooks/update", "hooks"));
	EXPECT_TRUE(told_by_time(self, "sub/.git", "git"));
	EXPECT_TRUE(told_by_time(self, "config", "git"));
	/* refusals stand before it */
	changes = strstr(self->result, "\"host_exec_changes\"");
	ASSERT_NE(NULL, changes);
	EXPECT_EQ(NULL, strstr(changes, "still"));
	EXPECT_EQ(NULL, strstr(changes, "ws/.git/config"));
}

TEST_F(hostexec, work_in_repositories_is_not_told)
{
	struct session *s = &self->s;

	old_repository(_metadata, self->w, "old/.git");
	start(_metadata, self, (struct policy){ 0 }, NULL);
	EXPECT_EQ(0, ask(s, "write", "old/.git/HEAD.lock", "x"));
	EXPECT_EQ(0, ask(s, "rename", "old/.git/HEAD.lock", "old/.git/HEAD"));
	EXPECT_EQ(0, ask(s, "write", "old/.git/refs/heads/main", "1"));
	EXPECT_EQ(0, ask(s, "write", "old/config", "x"));
	EXPECT_EQ(0, ask(s, "write", "old/hooks", "x"));
	end(_metadata, self);
	EXPECT_NE(NULL, strstr(self->result, "\"host_exec_changes\":[],"));
	EXPECT_EQ(NULL, strstr(self->said, "the host may run"));
}

/* Another name of it: the file is written by a name that means nothing. */
TEST_F(hostexec, a_configuration_written_by_another_name_is_told)
{
	char *name;

	old_repository(_metadata, self->w, "old/.git");
	name = strdup(at(self->w, "ws/other"));
	ASSERT_EQ(0, link(at(self->w, "ws/old/.git/config"), name));
	free(name);
	tick();
	start(_metadata, self, (struct policy){ 0 }, NULL);
	EXPECT_EQ(0, ask(&self->s, "write", "other", "[core]\n"));
	end(_metadata, self);
	EXPECT_TRUE(told_by_time(self, "old/.git/config", "git"));
}

/* By names of their own, and nothing else that has to do with git. */
TEST_F(hostexec, attributes_and_what_a_hook_leads_to_are_told)
{
	old_repository(_metadata, self->w, "old/.git");
	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/check"), "x"));
	ASSERT_EQ(0, symlink("../../check",
			     at(self->w, "ws/.git/hooks/commit-msg")));
	ASSERT_EQ(0, mkdir(at(self->w, "ws/old/.git/info"), 0777));
	ASSERT_EQ(0, chmod(at(self->w, "ws/old/.git/info"), 0777));
	tick();
	start(_metadata, self, (struct policy){ 0 }, NULL);
	EXPECT_EQ(0, ask(&self->s, "write", "check", "evil"));
	EXPECT_EQ(0, ask(&self->s, "write", "old/.git/info/attributes", "x"));
	end(_metadata, self);
	EXPECT_TRUE(told(self, ".git/hooks/commit-msg", "modified", "hooks"));
	EXPECT_TRUE(told_by_time(self, "old/.git/info/attributes", "git"));
	EXPECT_NE(NULL, strstr(self->result, "\"host_exec_not_compared\":[]"));
}

/* A map of a file in memory is written without a trace: the world is there. */
TEST_F(hostexec, what_may_have_changed_without_a_trace_is_said)
{
	char want[512];

	old_repository(_metadata, self->w, "old/.git");
	start(_metadata, self, (struct policy){ 0 }, NULL);
	EXPECT_EQ(0, ask(&self->s, "mmap", "old/.git/config", "w"));
	end(_metadata, self);
	snprintf(want, sizeof(want),
		 "\"host_exec_not_compared\":[{\"path\":\"%s/ws/old/.git\"}]",
		 self->w->dir);
	EXPECT_NE(NULL, strstr(self->result, want))
		TH_LOG("%s", self->result);
}

/* An empty exFAT of 4 MiB, which no tool of the machine makes. */
static int make_exfat(const char *path)
{
	enum { SECTOR = 512, FAT = 24, HEAP = 32, CLUSTER = 8 };
	static unsigned char b[(HEAP + 2 * CLUSTER) * SECTOR];
	unsigned char *fat = b + FAT * SECTOR, *heap = b + HEAP * SECTOR;
	const uint32_t length = 8192;
	uint32_t sum = 0, i;
	ssize_t n;
	int fd;

	memcpy(b, "\xeb\x76\x90" "EXFAT   ", 11);
	*(uint64_t *)(b + 72) = length;
	*(uint32_t *)(b + 80) = FAT;
	*(uint32_t *)(b + 84) = HEAP - FAT;
	*(uint32_t *)(b + 88) = HEAP;
	*(uint32_t *)(b + 92) = (length - HEAP) / CLUSTER;
	*(uint32_t *)(b + 96) = 3;	/* the root's cluster */
	memcpy(b + 104, "\x00\x01\x00\x00\x09\x03\x01\x80\xff", 9);
	for (i = 0; i < 9; i++)
		memcpy(b + i * SECTOR + 510, "\x55\xaa", 2);
	for (i = 0; i < 11 * SECTOR; i++)
		if (i != 106 && i != 107 && i != 112)
			sum = (sum << 31 | sum >> 1) + b[i];
	for (i = 11 * SECTOR; i < 12 * SECTOR; i += sizeof(sum))
		memcpy(b + i, &sum, sizeof(sum));
	memset(fat, 0xff, 16);
	*fat = 0xf8;
	*heap = 3;			/* both clusters are in use */
	heap[CLUSTER * SECTOR] = 0x81;	/* where that stands */
	heap[CLUSTER * SECTOR + 20] = 2;
	heap[CLUSTER * SECTOR + 24] = 128;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	n = write(fd, b, sizeof(b));
	if (ftruncate(fd, length * SECTOR))
		n = -1;
	close(fd);
	return n == sizeof(b) ? 0 : -1;
}

/* There the time of a change is what whoever may write a file says. */
TEST_F(hostexec, what_has_times_of_the_writers_own_is_said)
{
	static const struct {
		const char *make, *options;
		bool keeps;	/* times of its own */
	} rows[] = {
		{ "mkfs.vfat i >i.log", ",umask=0", false },
		/* It has no table of letters, and uses the kernel's. */
		{ ":", ",umask=0,errors=continue", false },
		{ "mkfs.ext4 -qF i", "", true },
	};
	char cmd[512], want[512];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool keeps = rows[i].keeps;
		const char *dir = self->w->dir;

		unlink(at(self->w, "i"));
		ASSERT_EQ(0, make_exfat(at(self->w, "i")));
		snprintf(cmd, sizeof(cmd), "cd %s && %s && mkdir -p ws/x && "
			 "mount -o loop%s i ws/x && mkdir -p ws/x/o/.git/refs "
			 "&& : >ws/x/o/.git/HEAD && echo >ws/x/o/.git/config "
			 "&& chmod -R 777 ws/x", dir, rows[i].make,
			 rows[i].options);
		ASSERT_EQ(0, system(cmd)) {
			TH_LOG("%s", cmd);
		}
		tick();
		start(_metadata, self, (struct policy){ 0 }, NULL);
		EXPECT_EQ(0, ask(&self->s, "write", "x/o/.git/config", "[a]"));
		end(_metadata, self);
		snprintf(want, sizeof(want), "not_compared\":[%s%s%s]",
			 keeps ? "" : "{\"path\":\"", keeps ? "" : dir,
			 keeps ? "" : "/ws/x/o/.git\"}");
		EXPECT_NE(NULL, strstr(self->result, want)) {
			TH_LOG("%s %s", rows[i].make, self->result);
		}
		EXPECT_TRUE(told_by_time(self, "x/o/.git/config", "git"));
		EXPECT_EQ(0, umount(at(self->w, "ws/x")));
	}
}

TEST_F(hostexec, nothing_changed_nothing_said)
{
	start(_metadata, self, (struct policy){ 0 }, NULL);
	EXPECT_EQ(0, ask(&self->s, "write", "file", "TEXT2"));
	/* A refused one is none either. */
	EXPECT_EQ(EACCES, ask(&self->s, "write", "lib/.envrc", "evil"));
	end(_metadata, self);
	EXPECT_NE(NULL, strstr(self->result, "\"host_exec_changes\":[],"));
	EXPECT_EQ(NULL, strstr(self->said, "the host may run"));
}

TEST_F(hostexec, quiet_says_nothing_and_the_result_does)
{
	start(_metadata, self, (struct policy){ 0 }, "-q");
	EXPECT_EQ(0, ask(&self->s, "write", ".envrc", "evil"));
	end(_metadata, self);
	EXPECT_TRUE(told(self, ".envrc", "created", "shell"));
	EXPECT_EQ(NULL, strstr(self->said, "the host may run"));
}

TEST_F(hostexec, a_fifo_left_behind_holds_nobody_up)
{
	start(_metadata, self, (struct policy){ 0 }, NULL);
	EXPECT_EQ(0, ask(&self->s, "mknod", ".envrc", "f"));
	EXPECT_EQ(0, ask(&self->s, "unlink", ".vscode/tasks.json"));
	EXPECT_EQ(0, ask(&self->s, "mknod", ".vscode/tasks.json", "f"));
	end(_metadata, self);
	EXPECT_TRUE(told(self, ".envrc", "created", "shell"));
	EXPECT_TRUE(told(self, ".vscode/tasks.json", "modified", "editor"));
}

TEST_F(hostexec, a_session_that_writes_nothing_has_none_of_it)
{
	start(_metadata, self, (struct policy){ .level = "read_only" }, NULL);
	EXPECT_EQ(0, ask(&self->s, "open", ".npmrc", "r"));
	EXPECT_EQ(EACCES, ask(&self->s, "write", ".envrc", "evil"));
	end(_metadata, self);
	EXPECT_NE(NULL, strstr(self->result, "\"host_exec_changes\":null,"));
}

TEST_HARNESS_MAIN
