// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is told of a refusal: records, the summary, the result. Whatever bytes
 * a session puts into names, each record is one line of valid JSON.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include "kselftest_harness.h"
#include "session.h"

FIXTURE(records) {
	struct world *w;
	struct session s;
	char policy[128], ws[128];
};

FIXTURE_VARIANT(records) {
	const char *user;
};

FIXTURE_VARIANT_ADD(records, user) {
	.user = TEST_USER,
};

FIXTURE_VARIANT_ADD(records, root) {
	.user = "root",
};

FIXTURE_SETUP(records)
{
	struct policy p = { 0 };

	self->w = world_make(variant->user);
	ASSERT_NE(NULL, self->w);
	ASSERT_EQ(0, policy_write(self->w, &p));
	snprintf(self->policy, sizeof(self->policy), "%s/log/policy.json",
		 self->w->dir);
	snprintf(self->ws, sizeof(self->ws), "%s/ws", self->w->dir);
	ASSERT_EQ(0, session_start(&self->s, self->w, "s", NULL));
}

FIXTURE_TEARDOWN(records)
{
	session_end(&self->s);
	world_remove(self->w);
}

#define RUN(out, ...) supervise(self->w, out, sizeof(out),		\
	(const char *const[]){ "--policy", self->policy, "-C", self->ws, \
		"--user", self->w->user, __VA_ARGS__, NULL })

/* In order, without a gap but for what was counted as lost. */
static long long whole(struct __test_metadata *_metadata, struct session *s)
{
	long long seq = 0, counted = 0;
	struct denial d;

	s->seen = 0;
	while (!denial_now(s, &d)) {
		EXPECT_LT(seq, d.seq);
		seq = d.seq;
		counted += d.count;
		EXPECT_EQ(seq, counted + d.lost);
	}
	return seq;
}

TEST_F(records, names_of_any_bytes_stay_one_line_of_json)
{
	static const char *const names[] = {
		"a\n{\"seq\":99}", "quote\"back\\slash", "\033[2J\a\r\t\x7f",
		"\xff\xfe\xc3\x28\xed\xa0\x80", "\xe2\x80\xa8\xe2\x80\xa9",
		"\xef\xbf\xbf", "{}", " ", "'$(id)`", "\x01\x02\x1f",
	};
	char longest[256];
	struct denial d;

	memset(longest, 'x', 255);
	longest[255] = 0;
	for (size_t i = 0; i <= ARRAY_SIZE(names); i++) {
		const char *name = i < ARRAY_SIZE(names) ? names[i] : longest;

		ASSERT_EQ(EACCES, ask(&self->s, "open",
				      at(self->w, "outside/%s", name), "wc"));
	}
	/* one more, so that each of them has been written */
	ASSERT_EQ(EACCES, ask(&self->s, "open", "secret/key", "r"));
	EXPECT_EQ(0, session_end(&self->s));
	for (size_t i = 0; i <= ARRAY_SIZE(names); i++) {
		ASSERT_EQ(0, denial_next(&self->s, &d));
		EXPECT_EQ((long long)i + 1, d.seq);
		EXPECT_STREQ("create", d.operation);
		EXPECT_NE(NULL, strstr(d.path, "/outside/"));
		if (i == ARRAY_SIZE(names)) {
			EXPECT_STREQ(at(self->w, "outside/%s", longest),
				     d.path);
		}
	}
	ASSERT_EQ(0, denial_next(&self->s, &d));
	EXPECT_STREQ("open", d.operation);
	EXPECT_TRUE(quiet(&self->s));
	/* no control byte but the line ends */
	EXPECT_EQ(0, system("true"));
	{
		char cmd[256];

		snprintf(cmd, sizeof(cmd), "! LC_ALL=C tr -d '\\n\\040-\\176"
			 "\\200-\\377' <%s | grep -q .",
			 at(self->w, "log/s.denials"));
		EXPECT_EQ(0, system(cmd));
		snprintf(cmd, sizeof(cmd), "iconv -f UTF-8 -t UTF-8 %s "
			 ">/dev/null", at(self->w, "log/s.denials"));
		EXPECT_EQ(0, system(cmd));
	}
}

TEST_F(records, a_process_cannot_forge_by_its_own_name)
{
	struct denial d;

	ASSERT_EQ(0, ask(&self->s, "comm", "\033[2J\n\"}{"));
	ASSERT_EQ(EACCES, ask(&self->s, "open", "secret/key", "r"));
	ASSERT_EQ(0, denial_next(&self->s, &d));
	EXPECT_EQ(1, d.seq);
	EXPECT_EQ(self->s.probe, d.pid);
	EXPECT_NE(NULL, strstr(d.exe, "/tests/lsm/probe"));
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(records, a_long_path_is_told_by_its_end)
{
	char path[1100] = "outside";
	struct denial d;

	for (int i = 0; i < 4; i++) {
		size_t n = strlen(path);

		path[n++] = '/';
		memset(path + n, 'a' + i, 200);
		path[n + 200] = 0;
		ASSERT_EQ(0, world_dir(self->w, at(self->w, "%s", path)));
	}
	ASSERT_EQ(EACCES, ask(&self->s, "mkdir", at(self->w, "%s/z", path)));
	ASSERT_EQ(0, denial_next(&self->s, &d));
	EXPECT_STREQ(at(self->w, "%s/z", path), d.path);
}

TEST_F(records, a_rename_names_both_and_which_was_refused)
{
	struct denial d;

	ASSERT_EQ(EACCES, ask(&self->s, "rename", at(self->w, "ws/file"),
			      at(self->w, "outside/new")));
	ASSERT_EQ(0, denial_next(&self->s, &d));
	EXPECT_STREQ("rename", d.operation);
	EXPECT_TRUE(!strcmp(d.path, at(self->w, "outside/new")) ||
		    !strcmp(d.other, at(self->w, "outside/new")));
	EXPECT_TRUE(!strcmp(d.path, at(self->w, "ws/file")) ||
		    !strcmp(d.other, at(self->w, "ws/file")));
	ASSERT_EQ(EACCES, ask(&self->s, "link", at(self->w, "ws/secret/key"),
			      at(self->w, "ws/new")));
	ASSERT_EQ(0, denial_next(&self->s, &d));
	EXPECT_STREQ("link", d.operation);
	EXPECT_NE(NULL, strstr(d.rule, "/process_sandbox/read_deny_roots/0"));
}

struct mechanism {
	const char *op, *a, *b, *mechanism;
};

TEST_F(records, the_mechanism_is_by_a_table)
{
	const char *home = self->w->uid ? "/tmp/home-" TEST_USER : "/root";
	char key[128], rc[128];
	struct mechanism all[] = {
		{ "open", key, "r", "home_read" },
		{ "open", "lib/file", "w", "write" },
		{ "open", rc, "wc", "write" },
		{ "chmod", "lib/file", "600", "write" },
		{ "unlink", "lib/file", NULL, "write" },
		{ "socket", "2", "1", "egress" },
		{ "bpf", "0", NULL, "unknown" },
		{ "open", at(self->w, "outside/file"), "r", "unknown" },
	};
	struct denial d;

	snprintf(key, sizeof(key), "%s/.ssh/id_ed25519", home);
	snprintf(rc, sizeof(rc), "%s/.bashrc", home);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		int err = ask(&self->s, all[i].op, all[i].a, all[i].b);

		if (err == ENOENT || err == EROFS)
			continue;	/* root's home is the machine's */
		EXPECT_NE(0, err);
		ASSERT_EQ(0, denial_next(&self->s, &d)) {
			TH_LOG("%s %s", all[i].op, all[i].a);
		}
		EXPECT_STREQ(all[i].mechanism, d.mechanism) {
			TH_LOG("%s %s", all[i].op, all[i].a);
		}
	}
}

TEST_F(records, what_no_policy_refused_is_no_record)
{
	EXPECT_EQ(ENOENT, ask(&self->s, "open", "no-such-file", "r"));
	EXPECT_EQ(ENOENT, ask(&self->s, "open", "no/such/file", "r"));
	EXPECT_EQ(EEXIST, ask(&self->s, "mkdir", "sub"));
	EXPECT_EQ(ENOTDIR, ask(&self->s, "open", "file/x", "r"));
	EXPECT_EQ(EISDIR, ask(&self->s, "open", "sub", "w"));
	EXPECT_EQ(ESRCH, ask(&self->s, "kill", "999999", "0"));
	EXPECT_EQ(EACCES, ask(&self->s, "open", "secret/key", "r"));
	EXPECT_TRUE(denied(&self->s, "open", NULL, NULL));
	EXPECT_EQ(0, session_end(&self->s));
	EXPECT_EQ(1, whole(_metadata, &self->s));
}

TEST_F(records, a_flood_is_counted_and_the_last_is_told)
{
	char result[128];
	long long last, told = 0, lost, total;
	struct denial d = { 0 };
	int other = 0, lines = 0;

	EXPECT_EQ(EACCES, ask(&self->s, "flood", "secret/key", "20000"));
	EXPECT_EQ(20000, self->s.reply.value);
	/* it left room for what is different */
	EXPECT_EQ(EACCES, ask(&self->s, "mkdir", "lib/new"));
	EXPECT_EQ(0, session_end(&self->s));
	last = whole(_metadata, &self->s);
	self->s.seen = 0;
	while (!denial_now(&self->s, &d)) {
		told += d.count;
		lines++;
		other += !strcmp(d.operation, "mkdir");
	}
	EXPECT_EQ(1, other);
	EXPECT_GT(4000, lines);
	/* each refusal is on record or counted as lost */
	snprintf(result, sizeof(result), "%s", at(self->w, "log/s.result"));
	total = atoll(json_member(result, "denials.total"));
	lost = atoll(json_member(result, "denials.lost"));
	EXPECT_EQ(20001, total);
	EXPECT_EQ(total, told + lost);
	EXPECT_LE(last, total);
}

TEST_F(records, the_last_act_before_the_end_is_told)
{
	char out[4096], name[64];

	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "log/l%d.denials", i);
		EXPECT_NE(0, RUN(out, "--denials", at(self->w, "%s", name),
				 "--", "sh", "-c", "exec cat secret/key"));
		/* what sh and cat try on the way is told before it */
		snprintf(out, sizeof(out), "tail -n 1 %s | grep -q "
			 "'secret/key'", at(self->w, "%s", name));
		EXPECT_EQ(0, system(out));
	}
}

TEST_F(records, the_summary_names_culprit_and_remedy)
{
	char out[8192];

	EXPECT_NE(0, RUN(out, "--denials", at(self->w, "log/x"), "--", "cat",
			 at(self->w, "outside/file")));
	EXPECT_NE(NULL, strstr(out, "lh-supervise: refused to cat: open"));
	EXPECT_NE(NULL, strstr(out, "outside/file"));
	EXPECT_NE(NULL, strstr(out, "--ro "));
	EXPECT_NE(0, RUN(out, "-q", "--denials", at(self->w, "log/x"), "--",
			 "cat", at(self->w, "outside/file")));
	EXPECT_EQ(NULL, strstr(out, "lh-supervise:"));
	/* all went well: nothing to say */
	EXPECT_EQ(0, RUN(out, "--denials", at(self->w, "log/x"), "--", "sh",
			 "-c", "cat secret/key 2>/dev/null; true"));
	EXPECT_STREQ("", out);
	/* what runtimes try, and do without, explains no failure */
	EXPECT_NE(0, RUN(out, "--denials", at(self->w, "log/x"), "--", "sh",
			 "-c", "mkdir /tmp/hsperfdata_x 2>/dev/null; false"));
	EXPECT_STREQ("", out);
}

TEST_F(records, nothing_that_is_named_reaches_a_terminal_unescaped)
{
	char out[8192];

	EXPECT_NE(0, RUN(out, "--denials", at(self->w, "log/x"), "--", "sh",
			 "-c", "cat \"$1\" 2>/dev/null", "x",
			 at(self->w, "outside/\033[2J\nlh-supervise: fine")));
	EXPECT_EQ(NULL, strchr(out, '\033'));
}

TEST_F(records, the_result_tells_how_it_ended)
{
	const char *r = at(self->w, "log/s.result");
	char name[256];

	snprintf(name, sizeof(name), "%s", r);
	ASSERT_EQ(EACCES, ask(&self->s, "open", "secret/key", "r"));
	ASSERT_EQ(EACCES, ask(&self->s, "write", "lib/file", "x"));
	EXPECT_EQ(0, session_end(&self->s));
	EXPECT_STREQ("ok", json_member(name, "status"));
	EXPECT_STREQ("0", json_member(name, "exit_code"));
	EXPECT_STREQ("null", json_member(name, "signal"));
	EXPECT_STREQ("false", json_member(name, "timed_out"));
	EXPECT_STREQ("2", json_member(name, "denials.total"));
	EXPECT_STREQ("0", json_member(name, "denials.lost"));
	EXPECT_STREQ("1", json_member(name, "denials.by_mechanism.write"));
	EXPECT_STREQ("PATH_TRAVERSAL_INTERCEPTED",
		     json_member(name, "security_alert"));
	EXPECT_EQ(64, strlen(json_member(name, "policy.hash")));
	EXPECT_STREQ("os_hardened", json_member(name, "policy.profile"));
	EXPECT_NE(NULL, json_member(name, "resources.wall_ns"));
	EXPECT_STREQ(self->w->user, json_member(name, "user.name"));
}

TEST_F(records, they_are_not_within_the_sessions_reach)
{
	char out[4096];

	EXPECT_EQ(EACCES, ask(&self->s, "open",
			      at(self->w, "log/s.denials"), "w"));
	EXPECT_EQ(EACCES, ask(&self->s, "truncate",
			      at(self->w, "log/s.denials")));
	EXPECT_EQ(EACCES, ask(&self->s, "rename",
			      at(self->w, "log/s.denials"), "mine"));
	/* nor may they be put there */
	EXPECT_EQ(125, WEXITSTATUS(RUN(out, "--denials",
				       at(self->w, "ws/d.jsonl"), "--",
				       "/bin/true")));
	EXPECT_EQ(125, WEXITSTATUS(RUN(out, "--result",
				       at(self->w, "ws/sub/r.json"), "--",
				       "/bin/true")));
	EXPECT_FALSE(exists(at(self->w, "ws/d.jsonl")));
	EXPECT_FALSE(exists(at(self->w, "ws/sub/r.json")));
}

TEST_F(records, without_a_file_they_go_below_var_log)
{
	char out[4096];

	ASSERT_EQ(0, system("rm -rf /var/log/lh"));
	EXPECT_NE(0, RUN(out, "--", "cat", "secret/key"));
	EXPECT_EQ(0, system("[ $(ls /var/log/lh/*.jsonl | wc -l) = 1 ]"));
	EXPECT_EQ(0, system("grep -q secret/key /var/log/lh/*.jsonl"));
	EXPECT_EQ(0, system("[ \"$(stat -c %u /var/log/lh)\" = 0 ]"));
	/* its user may read it, another may not */
	if (self->w->uid) {
		EXPECT_EQ(0, system("setpriv --reuid lh-test --regid lh-test "
				    "--clear-groups cat /var/log/lh/*.jsonl "
				    ">/dev/null"));
		EXPECT_NE(0, system("setpriv --reuid lh-test --regid lh-test "
				    "--clear-groups sh -c 'echo x "
				    ">>/var/log/lh/*.jsonl' 2>/dev/null"));
	}
	EXPECT_NE(0, system("setpriv --reuid lh-other --regid lh-other "
			    "--clear-groups cat /var/log/lh/*.jsonl "
			    ">/dev/null 2>&1"));
}

/* Whoever locks or writes what is there rules over all sessions. */
TEST_F(records, no_policy_opens_what_is_kept_of_sessions)
{
	static const char script[] =
		"cat /run/lh/engine.lock && echo open; "
		"touch /run/lh/engine.lock && echo open; "
		"mv /run/lh/engine.lock /run/x && echo open; "
		"mkdir /run/lh/sessions/x && echo open; "
		"ls /run/lh && echo open; ls /var/log/lh && echo open; "
		"touch /var/log/lh/x && echo open; "
		"mv /var/log/lh /var/log/x && echo open; "
		"mkdir /run/lh-x && rmdir /run/lh-x && "
		"touch /var/log/x && rm /var/log/x && echo twin; true";
	char out[8192];

	EXPECT_NE(0, RUN(out, "--", "cat", "secret/key"));
	EXPECT_EQ(0, RUN(out, "--ro", "/", "--rw", "/run", "--rw", "/var",
			 "--", "sh", "-c", script));
	EXPECT_EQ(NULL, strstr(out, "open\n")) {
		TH_LOG("%s", out);
	}
	/* a user may write neither, whatever the policy */
	if (!self->w->uid) {
		EXPECT_NE(NULL, strstr(out, "twin\n"));
	}
	EXPECT_EQ(0, access("/run/lh/engine.lock", F_OK));
}

TEST_F(records, no_value_of_the_environment_is_told)
{
	char out[4096], cmd[256];

	EXPECT_NE(0, RUN(out, "--env", "VERY=SECRETVALUE", "--denials",
			 at(self->w, "log/e.denials"), "--result",
			 at(self->w, "log/e.result"), "--", "cat",
			 "secret/key"));
	snprintf(cmd, sizeof(cmd), "! grep -r SECRETVALUE %s",
		 at(self->w, "log"));
	EXPECT_EQ(0, system(cmd));
}

TEST_HARNESS_MAIN
