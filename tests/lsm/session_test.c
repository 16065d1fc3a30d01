// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a session lives and dies: the status that comes back, wall time, and what
 * happens when the supervisor, its keeper or both are killed.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include <bpf/bpf.h>

#include "../../bpf/abi.h"
#include "kselftest_harness.h"
#include "session.h"

FIXTURE(session) {
	struct world *w;
	char policy[128], ws[128], result[128];
};

FIXTURE_VARIANT(session) {
	const char *user;
};

FIXTURE_VARIANT_ADD(session, user) {
	.user = TEST_USER,
};

FIXTURE_VARIANT_ADD(session, root) {
	.user = "root",
};

FIXTURE_SETUP(session)
{
	struct policy p = { .more = ",\"limits\":{\"grace\":\"200ms\"}" };

	self->w = world_make(variant->user);
	ASSERT_NE(NULL, self->w);
	ASSERT_EQ(0, policy_write(self->w, &p));
	snprintf(self->policy, sizeof(self->policy), "%s/log/policy.json",
		 self->w->dir);
	snprintf(self->ws, sizeof(self->ws), "%s/ws", self->w->dir);
	snprintf(self->result, sizeof(self->result), "%s/log/r.json",
		 self->w->dir);
}

FIXTURE_TEARDOWN(session)
{
	world_remove(self->w);
}

#define RUN(out, ...) supervise(self->w, out, sizeof(out),		\
	(const char *const[]){ "--policy", self->policy, "-C", self->ws, \
		"--user", self->w->user, "--denials",			\
		at(self->w, "log/d.jsonl"), "--result", self->result,	\
		__VA_ARGS__, NULL })

static long ms_since(const struct timespec *from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - from->tv_sec) * 1000 +
	       (now.tv_nsec - from->tv_nsec) / 1000000;
}

TEST_F(session, the_commands_status_is_ours)
{
	char out[4096];

	EXPECT_EQ(0, WEXITSTATUS(RUN(out, "--", "/bin/true")));
	EXPECT_STREQ("", out);
	EXPECT_STREQ("0", json_member(self->result, "exit_code"));
	EXPECT_EQ(42, WEXITSTATUS(RUN(out, "--", "sh", "-c", "exit 42")));
	EXPECT_STREQ("42", json_member(self->result, "exit_code"));
	EXPECT_EQ(125, WEXITSTATUS(RUN(out, "--", "sh", "-c", "exit 125")));
	EXPECT_STREQ("125", json_member(self->result, "exit_code"));
	EXPECT_EQ(128 + SIGTERM, WEXITSTATUS(RUN(out, "--", "sh", "-c",
						 "kill -TERM $$")));
	EXPECT_EQ(128 + SIGKILL, WEXITSTATUS(RUN(out, "--", "sh", "-c",
						 "kill -KILL $$")));
	EXPECT_EQ(127, WEXITSTATUS(RUN(out, "--", "no-such-command")));
	EXPECT_NE(NULL, strstr(out, "no-such-command"));
	EXPECT_EQ(126, WEXITSTATUS(RUN(out, "--", "/etc/passwd")));
	EXPECT_EQ(127, WEXITSTATUS(RUN(out, "--", "/no/such/command")));
}

TEST_F(session, arguments_arrive_byte_for_byte)
{
	char out[4096];

	EXPECT_EQ(0, WEXITSTATUS(RUN(out, "--", "printf", "%s|%s|%s", "a\nb",
				     "", "--policy")));
	EXPECT_STREQ("a\nb||--policy", out);
	/* options stop at the first word that is none */
	EXPECT_EQ(0, WEXITSTATUS(RUN(out, "printf", "%s|", "--", "--user")));
	EXPECT_STREQ("--|--user|", out);
}

TEST_F(session, a_large_output_arrives_whole)
{
	static char out[3000000];

	EXPECT_EQ(0, WEXITSTATUS(RUN(out, "--", "sh", "-c",
		"head -c 1000000 /dev/zero | tr '\\0' x; "
		"head -c 1000000 /dev/zero | tr '\\0' y >&2")));
	EXPECT_EQ(2000000, strlen(out));
}

TEST_F(session, a_background_job_is_not_waited_for)
{
	struct timespec from;
	char out[4096];

	clock_gettime(CLOCK_MONOTONIC, &from);
	EXPECT_EQ(0, WEXITSTATUS(RUN(out, "--", "sh", "-c",
				     "sleep 300 & echo started")));
	EXPECT_STREQ("started\n", out);
	EXPECT_GT(20000, ms_since(&from));
}

TEST_F(session, wall_time_ends_the_whole_tree)
{
	struct timespec from;
	char out[4096];

	clock_gettime(CLOCK_MONOTONIC, &from);
	EXPECT_EQ(124, WEXITSTATUS(RUN(out, "--timeout", "1s", "--", "sh",
		"-c", "trap '' TERM; sleep 300 & sleep 300 & wait")));
	EXPECT_GT(10000, ms_since(&from));
	EXPECT_STREQ("true", json_member(self->result, "timed_out"));
	EXPECT_EQ(0, WEXITSTATUS(RUN(out, "--timeout", "300s", "--", "true")));
	EXPECT_STREQ("false", json_member(self->result, "timed_out"));
}

TEST_F(session, wall_time_goes_on_when_the_supervisor_is_stopped)
{
	static const char *const flags[] = { "--timeout", "2s", NULL };
	struct session s;
	pid_t left;

	ASSERT_EQ(0, session_start(&s, self->w, "s", flags));
	ASSERT_EQ(0, ask(&s, "spawn", "ignore"));
	left = s.reply.value;
	ASSERT_EQ(0, kill(s.pid, SIGSTOP));
	EXPECT_EQ(EACCES, ask(&s, "open", "secret/key", "r"));
	EXPECT_EQ(0, ask(&s, "open", "file", "r"));
	EXPECT_TRUE(gone(s.probe, 8000));
	EXPECT_TRUE(gone(left, 8000));
	ASSERT_EQ(0, kill(s.pid, SIGCONT));
	EXPECT_EQ(124, WEXITSTATUS(session_end(&s)));
}

TEST_F(session, signals_are_forwarded_to_the_command)
{
	char out[4096];
	pid_t pid = fork();

	if (!pid) {
		/* ends the supervisor when the command says it is ready */
		for (int i = 0; i < 3000; i++) {
			if (exists(at(self->w, "ws/ready")))
				_exit(system("pkill -TERM -x lh-supervise"));
			usleep(10000);
		}
		_exit(1);
	}
	EXPECT_EQ(7, WEXITSTATUS(RUN(out, "--", "sh", "-c",
		"trap 'exit 7' TERM; : >ready; while :; do sleep 0.1; done")));
	waitpid(pid, NULL, 0);
}

/* The processes of lh-supervise that are not @pid: keepers. */
static int keepers(pid_t pid, pid_t *found, int max)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d))) {
		char path[300], exe[PATH_MAX];
		ssize_t len;

		if (e->d_name[0] < '0' || e->d_name[0] > '9' ||
		    atoi(e->d_name) == pid)
			continue;
		snprintf(path, sizeof(path), "/proc/%s/exe", e->d_name);
		len = readlink(path, exe, sizeof(exe) - 1);
		if (len <= 0)
			continue;
		exe[len] = 0;
		if (strstr(exe, "/lh-supervise") && n < max)
			found[n++] = atoi(e->d_name);
	}
	if (d)
		closedir(d);
	return n;
}

static const char *cgroup_of(pid_t pid)
{
	static char path[600];
	char name[64], line[512];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
	f = fopen(name, "re");
	path[0] = 0;
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "0::", 3)) {
			line[strcspn(line, "\n")] = 0;
			snprintf(path, sizeof(path), "/sys/fs/cgroup%s",
				 line + 3);
		}
	if (f)
		fclose(f);
	return path;
}

static void dies_with(struct __test_metadata *_metadata, const struct world *w,
		      int sig)
{
	pid_t sleeper, spinner, deaf;
	struct session s;
	int err;

	ASSERT_EQ(0, session_start(&s, w, "s", NULL));
	ASSERT_EQ(0, ask(&s, "spawn", "sleep"));
	sleeper = s.reply.value;
	ASSERT_EQ(0, ask(&s, "spawn", "spin"));
	spinner = s.reply.value;
	ASSERT_EQ(0, ask(&s, "spawn", "ignore"));
	deaf = s.reply.value;
	ASSERT_EQ(0, ask(&s, "open", "file", "r"));
	ASSERT_EQ(0, kill(s.pid, sig));
	ASSERT_EQ(s.pid, waitpid(s.pid, NULL, 0));
	s.pid = 0;
	/* from now on nothing is granted, whether or not it lives */
	err = ask(&s, "open", "file", "r");
	EXPECT_NE(0, err);
	EXPECT_TRUE(gone(s.probe, 1000));
	EXPECT_TRUE(gone(sleeper, 1000));
	EXPECT_TRUE(gone(spinner, 1000));
	EXPECT_TRUE(gone(deaf, 1000));
	session_end(&s);
}

TEST_F(session, a_killed_supervisor_takes_the_tree_along)
{
	dies_with(_metadata, self->w, SIGKILL);
}

TEST_F(session, a_crashed_supervisor_takes_the_tree_along)
{
	dies_with(_metadata, self->w, SIGSEGV);
	dies_with(_metadata, self->w, SIGBUS);
	dies_with(_metadata, self->w, SIGABRT);
}

TEST_F(session, a_killed_keeper_does_not_lift_the_policy)
{
	struct session s;
	pid_t keeper[16];
	int n;

	ASSERT_EQ(0, session_start(&s, self->w, "s", NULL));
	n = keepers(s.pid, keeper, 16);
	EXPECT_LT(0, n);
	for (int i = 0; i < n; i++)
		kill(keeper[i], SIGKILL);
	/* either the session ends or it goes on as it was */
	EXPECT_NE(0, ask(&s, "open", "secret/key", "r"));
	EXPECT_NE(0, ask(&s, "open", at(self->w, "outside/file"), "r"));
	session_end(&s);
}

static int table(const char *name)
{
	char pattern[64];
	glob_t g = { 0 };
	int fd = -1;

	snprintf(pattern, sizeof(pattern), "/sys/fs/bpf/lh/*/%s", name);
	if (!glob(pattern, 0, NULL, &g) && g.gl_pathc == 1)
		fd = bpf_obj_get(g.gl_pathv[0]);
	globfree(&g);
	return fd;
}

/* Entries of a table of the engine, of all sessions together. */
static int entries(const char *name)
{
	char key[512], next[512];
	int fd = table(name), n = 0;

	if (fd < 0)
		return -1;
	for (void *k = NULL; !bpf_map_get_next_key(fd, k, next); n++)
		k = memcpy(key, next, sizeof(key));
	close(fd);
	return n;
}

/* Slots of sessions that are taken. */
static int slots(void)
{
	struct lh_session slot;
	int fd = table("sessions"), n = 0;

	for (__u32 i = 1; fd >= 0 && i < LH_SESSIONS_MAX; i++) {
		if (bpf_map_lookup_elem(fd, &i, &slot))
			n = -LH_SESSIONS_MAX;
		n += slot.state != LH_FREE;
	}
	close(fd);
	return fd < 0 ? -1 : n;
}

static const char *const tables[] = { "roots", "names", "nets", "ports" };

/* Something of everything that a session puts into the engine. */
static const struct policy rich = {
	.level = "network", .deny = ",\"/no/such/name\"",
	.sockets = "\"/run\",\"?/no/such/socket\"",
	.sandbox = ",\"allow_loopback\":true,\"loopback_ports\":[7001],"
		   "\"publish_ports\":[\"7002-7010\"]",
	.more = ",\"egress\":{\"allow\":[\"192.0.2.0/24:8000-8010\","
		"\"2001:db8::/32\"],\"deny\":[\"192.0.2.64/26\"]},"
		"\"limits\":{\"grace\":\"200ms\"}",
};

/* Supervisor and keeper, neither of which notices that of the other. */
static int both_die(struct session *s)
{
	pid_t keeper[16], pid = s->pid;
	int n = keepers(pid, keeper, 16);

	kill(pid, SIGSTOP);
	for (int i = 0; i < n; i++)
		kill(keeper[i], SIGKILL);
	kill(pid, SIGKILL);
	s->pid = 0;
	return waitpid(pid, NULL, 0) == pid ? 0 : -1;
}

/* As if what is there were swept, by a process that is dead too. */
static int sweeper_died(void)
{
	struct lh_session slot;
	int fd = table("sessions"), n = 0;

	for (__u32 i = 1; fd >= 0 && i < LH_SESSIONS_MAX; i++) {
		if (bpf_map_lookup_elem(fd, &i, &slot) || !slot.state)
			continue;
		slot.state = LH_SWEPT;
		n += !bpf_map_update_elem(fd, &i, &slot, BPF_ANY);
	}
	close(fd);
	return n;
}

TEST_F(session, what_a_sweeper_that_died_has_begun_is_ended)
{
	struct session s, next;

	ASSERT_EQ(0, session_start(&s, self->w, "s", NULL));
	ASSERT_EQ(0, both_die(&s));
	ASSERT_EQ(1, sweeper_died());
	EXPECT_EQ(1, slots());
	ASSERT_EQ(0, session_start(&next, self->w, "next", NULL));
	EXPECT_EQ(1, slots());
	EXPECT_EQ(0, session_end(&next));
	EXPECT_EQ(0, slots());
	session_end(&s);
}

TEST_F(session, when_both_die_the_next_call_and_the_next_start_clean_up)
{
	struct session s, next;
	char cgroup[600];
	pid_t spinner;
	int before[ARRAY_SIZE(tables)];

	/* What other tests have killed goes now. */
	ASSERT_EQ(0, session_start(&next, self->w, "before", NULL));
	ASSERT_EQ(0, session_end(&next));
	EXPECT_EQ(0, slots());
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		before[i] = entries(tables[i]);
	ASSERT_EQ(0, policy_write(self->w, &rich));
	ASSERT_EQ(0, session_start(&s, self->w, "s", NULL));
	EXPECT_EQ(1, slots());
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		EXPECT_EQ(0, before[i]) {
			TH_LOG("%s: %d", tables[i], before[i]);
		}
		EXPECT_LT(0, entries(tables[i])) {
			TH_LOG("%s", tables[i]);
		}
	}
	ASSERT_EQ(0, ask(&s, "spawn", "spin"));
	spinner = s.reply.value;
	snprintf(cgroup, sizeof(cgroup), "%s", cgroup_of(s.probe));
	ASSERT_TRUE(exists(cgroup));
	ASSERT_EQ(0, both_die(&s));
	EXPECT_NE(0, ask(&s, "open", "file", "r"));
	EXPECT_TRUE(gone(s.probe, 1000));
	ASSERT_EQ(0, session_start(&next, self->w, "next", NULL));
	EXPECT_TRUE(gone(spinner, 2000));
	EXPECT_EQ(1, slots());
	EXPECT_EQ(0, session_end(&next));
	EXPECT_FALSE(exists(cgroup));
	EXPECT_EQ(0, slots());
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		EXPECT_EQ(0, entries(tables[i])) {
			TH_LOG("%s", tables[i]);
		}
	}
	session_end(&s);
}

TEST_F(session, limits_of_the_cgroup_hold)
{
	struct policy p = { .more = ",\"limits\":{\"memory\":\"64M\","
				    "\"pids\":16}" };
	char out[4096];
	int status;

	ASSERT_EQ(0, policy_write(self->w, &p));
	status = RUN(out, "--", "python3", "-c",
		     "import os, time\n"
		     "n = 0\n"
		     "try:\n"
		     "    while n < 99:\n"
		     "        if not os.fork():\n"
		     "            time.sleep(99)\n"
		     "        n += 1\n"
		     "except BlockingIOError:\n"
		     "    print('stopped at', n < 16)\n");
	EXPECT_EQ(0, WEXITSTATUS(status));
	EXPECT_EQ(0, strncmp(out, "stopped at True\n", 16));
	status = RUN(out, "--", "python3", "-c", "b = bytearray(10 ** 9)");
	EXPECT_EQ(128 + SIGKILL, WEXITSTATUS(status));
	EXPECT_EQ(0, WEXITSTATUS(RUN(out, "--", "sh", "-c",
		"for i in $(seq 50); do /bin/true; done")));
}

/* Of unix sockets, by all of the host. */
static int listeners(void)
{
	FILE *f = fopen("/proc/net/unix", "re");
	char line[512], flags[16];
	int n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += sscanf(line, "%*s %*s %*s %15s", flags) == 1 &&
		     !strcmp(flags, "00010000");
	if (f)
		fclose(f);
	return n;
}

/* NET-43: there is nothing to talk to, and who tries it is a session. */
TEST_F(session, a_session_in_a_session_is_refused)
{
	static const char *const verbs[] = { "unload", "load", "status" };
	char out[4096], self_exe[600];
	const char *b = getenv("B") ? getenv("B") : "build";
	int before = listeners();
	struct session s;

	ASSERT_NE(NULL, realpath(b, self_exe));
	strcat(self_exe, "/lh-supervise");
	EXPECT_EQ(125, WEXITSTATUS(RUN(out, "--ro", self_exe, "--", self_exe,
				       "--policy", self->policy, "--",
				       "/bin/true")));
	EXPECT_NE(NULL, strstr(out, "lh-supervise:"));
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(125, WEXITSTATUS(RUN(out, "--ro", self_exe, "--",
					       self_exe, "--engine",
					       verbs[i]))) {
			TH_LOG("%s: %s", verbs[i], out);
		}
	}
	ASSERT_EQ(0, session_start(&s, self->w, "s", NULL));
	EXPECT_EQ(before, listeners());
	EXPECT_NE(0, ask(&s, "list", "/run/lh"));
	EXPECT_EQ(EACCES, ask(&s, "open", "secret/key", "r"));
	EXPECT_EQ(0, session_end(&s));
	EXPECT_EQ(0, WEXITSTATUS(supervise(self->w, out, sizeof(out),
		(const char *const[]){ "--engine", "status", NULL })));
}

TEST_HARNESS_MAIN
