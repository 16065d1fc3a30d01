// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is said of a run's refusals: the last three matters, each once, the
 * latest first; what programs try and do without is counted alone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "../../supervisor/denials.h"
#include "kselftest_harness.h"

FIXTURE(summary) {
	struct denials d;
	struct identity id;
	struct image *im;
	struct table t;
	char *rules[4];
	char text[3000];
	unsigned int seq;
};

FIXTURE_SETUP(summary)
{
	memset(self, 0, sizeof(*self));
	self->im = calloc(1, sizeof(*self->im));
	ASSERT_NE(NULL, self->im);
	self->rules[0] = "default";
	self->rules[1] = "/read_only_roots/0";
	self->rules[2] = "builtin:protect/.git/hooks";
	self->t = (struct table){ .extra_rules = self->rules,
				  .extra_rule_count = 3 };
	self->id.home = "/home/u";
	/* Nobody reads the lines here. */
	self->d = (struct denials){
		.fd = -1, .given = true, .id = &self->id, .im = self->im,
		.table = &self->t, .session = "s", .serial = 7,
	};
}

FIXTURE_TEARDOWN(summary)
{
	denials_free(&self->d);
	free(self->im);
}

/* @path leaf first, as the kernel writes it: "f\0d\0" is /d/f. */
static void add(FIXTURE_DATA(summary) *self, struct lh_denial what,
		const char *path, size_t len)
{
	char record[sizeof(what) + 256];

	what.serial = 7;
	what.seq = ++self->seq;
	what.path_len = len;
	strcpy(what.comm, "cc");
	memcpy(record, &what, sizeof(what));
	memcpy(record + sizeof(what), path, len);
	denials_add(&self->d, record, sizeof(what) + len, 1);
	denials_flush(&self->d);
}

#define ADD(path, ...) \
	add(self, (struct lh_denial){ __VA_ARGS__ }, path, sizeof(path))
#define OPEN .op = LH_OP_OPEN, .hook = LH_HOOK_file_open
#define READS .access = LH_READ, OPEN
#define WRITES .access = LH_WRITE, OPEN

static const char *said(FIXTURE_DATA(summary) *self, unsigned int number)
{
	return denials_summary(&self->d, number, self->text,
			       sizeof(self->text)) ? self->text : NULL;
}

TEST_F(summary, a_system_call_is_named)
{
	ADD("", .op = LH_OP_SYSCALL, .why = LH_WHY_NEVER, .err = -EPERM,
	    .arg = 101, .target = AUDIT_ARCH_X86_64);
	ADD("", .op = LH_OP_SYSCALL, .why = LH_WHY_MISSING, .err = -ENOSYS,
	    .arg = 425, .target = AUDIT_ARCH_X86_64);
	ADD("", .op = LH_OP_SYSCALL, .why = LH_WHY_NEVER, .err = -EPERM,
	    .arg = 9999, .target = AUDIT_ARCH_AARCH64);
	EXPECT_STREQ("refused to cc: syscall 9999 (never); no flag grants it; "
		     "3 refusals, 1 of them common probes", said(self, 0));
	EXPECT_STREQ("also refused to cc: syscall ptrace (never); "
		     "\"ptrace\": true in process_sandbox would grant it",
		     said(self, 1));
	EXPECT_EQ(NULL, said(self, 2));
}

TEST_F(summary, nothing_was_refused)
{
	EXPECT_EQ(NULL, said(self, 0));
}

TEST_F(summary, one_is_named_with_its_remedy)
{
	ADD("f\0d", READS, .why = LH_WHY_NOT_GRANTED);
	EXPECT_STREQ("refused to cc: open /d/f (not_granted); --ro /d/f would "
		     "grant it; 1 refusal", said(self, 0));
	EXPECT_EQ(NULL, said(self, 1));
}

/* git tries its own directory each time it is done with a file in it. */
TEST_F(summary, removing_a_git_directory_is_a_common_probe)
{
	const struct lh_denial rmdir = {
		.op = LH_OP_RMDIR, .hook = LH_HOOK_path_rmdir,
		.access = LH_REMOVE, .why = LH_WHY_PINNED,
	};
	struct lh_denial other = rmdir;

	add(self, rmdir, ".git\0ws", sizeof(".git\0ws"));
	add(self, rmdir, "w\0worktrees\0.git\0m",
	    sizeof("w\0worktrees\0.git\0m"));
	EXPECT_EQ(2, self->d.received);
	EXPECT_EQ(0, self->d.alerts);
	/* not another directory, nor for another reason, nor another call */
	add(self, rmdir, "x.git\0ws", sizeof("x.git\0ws"));
	EXPECT_EQ(1, self->d.alerts);
	other.why = LH_WHY_NOT_GRANTED;
	add(self, other, ".git\0ws", sizeof(".git\0ws"));
	EXPECT_EQ(2, self->d.alerts);
	other = rmdir;
	other.op = LH_OP_RENAME;
	add(self, other, ".git\0ws", sizeof(".git\0ws"));
	EXPECT_EQ(3, self->d.alerts);
}

TEST_F(summary, three_matters_the_latest_first)
{
	ADD("old\0d", READS, .why = LH_WHY_NOT_GRANTED);
	ADD("f\0lib", WRITES, .why = LH_WHY_READ_ONLY, .rule = 1);
	ADD("f\0out", WRITES, .why = LH_WHY_NOT_GRANTED);
	ADD("pre\0hooks", WRITES, .why = LH_WHY_PROTECTED, .rule = 2);
	ASSERT_NE(NULL, said(self, 0));
	EXPECT_STREQ("refused to cc: open /hooks/pre (protected); rule "
		     "builtin:protect/.git/hooks stands against it; 4 refusals",
		     self->text);
	ASSERT_NE(NULL, said(self, 1));
	EXPECT_STREQ("also refused to cc: open /out/f (not_granted); --rw /out "
		     "would grant it", self->text);
	ASSERT_NE(NULL, said(self, 2));
	EXPECT_STREQ("also refused to cc: open /lib/f (read_only); rule "
		     "/read_only_roots/0 stands against it", self->text);
	EXPECT_EQ(NULL, said(self, 3));
}

TEST_F(summary, what_one_change_would_turn_is_one)
{
	ADD("a\0out", WRITES, .why = LH_WHY_NOT_GRANTED);
	ADD("x\0d", READS, .why = LH_WHY_NOT_GRANTED);
	ADD("b\0out", WRITES, .why = LH_WHY_NOT_GRANTED);
	ADD("c\0out", WRITES, .why = LH_WHY_NOT_GRANTED);
	ASSERT_NE(NULL, said(self, 0));
	EXPECT_STREQ("refused to cc: open /out/c (not_granted, 3 such); --rw "
		     "/out would grant it; 4 refusals", self->text);
	ASSERT_NE(NULL, said(self, 1));
	EXPECT_NE(NULL, strstr(self->text, "--ro /d/x would grant it"));
	EXPECT_EQ(NULL, said(self, 2));
	/* To read there is another matter than to write. */
	ADD("out", READS, .why = LH_WHY_NOT_GRANTED);
	ASSERT_NE(NULL, said(self, 2));
	EXPECT_NE(NULL, strstr(self->text, "--ro /d/x"));
}

TEST_F(summary, a_flood_does_not_push_out_the_others)
{
	char name[64];
	int i;

	ADD("f\0lib", WRITES, .why = LH_WHY_READ_ONLY, .rule = 1);
	ADD("x\0d", READS, .why = LH_WHY_NOT_GRANTED);
	for (i = 0; i < 1000; i++) {
		size_t n = snprintf(name, sizeof(name), "%d", i) + 1;

		memcpy(name + n, "out", 4);
		add(self, (struct lh_denial){ WRITES,
					      .why = LH_WHY_NOT_GRANTED },
		    name, n + 4);
	}
	ASSERT_NE(NULL, said(self, 0));
	EXPECT_NE(NULL, strstr(self->text, "1000 such"));
	ASSERT_NE(NULL, said(self, 2));
	EXPECT_NE(NULL, strstr(self->text, "/read_only_roots/0"));
}

#define CONNECTS .access = LH_CONNECT, .op = LH_OP_CONNECT, \
	.hook = LH_HOOK_unix_stream_connect, .family = AF_UNIX

TEST_F(summary, a_socket_is_granted_by_a_flag_of_its_own)
{
	ADD("s\0out", CONNECTS, .why = LH_WHY_NOT_GRANTED);
	EXPECT_STREQ("refused to cc: connect /out/s (not_granted); "
		     "--sandbox-unix-socket-root /out/s would grant it; "
		     "1 refusal", said(self, 0));
	/* To read the file is another matter. */
	ADD("s\0out", READS, .why = LH_WHY_NOT_GRANTED);
	ASSERT_NE(NULL, said(self, 1));
	EXPECT_NE(NULL, strstr(self->text, "connect /out/s"));
}

TEST_F(summary, an_address_is_opened_by_the_flag_that_opens_it)
{
	static const struct {
		struct lh_denial d;
		const char *words;
	} all[] = {
#define INET .family = AF_INET, .protocol = 6
#define INET6 .family = AF_INET6, .protocol = 6
		{ { INET, .op = LH_OP_CONNECT, .why = LH_WHY_NOT_GRANTED,
		    .addr = { 192, 0, 2, 7 }, .port = 443 },
		  "--egress-allow 192.0.2.7:443 would grant it" },
		{ { INET6, .op = LH_OP_SEND, .why = LH_WHY_NOT_GRANTED,
		    .addr = { 0x20, 1, 0xd, 0xb8, [15] = 1 }, .port = 53 },
		  "--egress-allow [2001:db8::1]:53 would grant it" },
		{ { INET, .op = LH_OP_CONNECT, .why = LH_WHY_PEER,
		    .addr = { 127, 0, 0, 1 }, .port = 5432 },
		  "--loopback-port 5432 would grant it" },
		{ { INET6, .op = LH_OP_CONNECT, .why = LH_WHY_NOT_GRANTED,
		    .addr = { [15] = 1 }, .port = 80 },
		  "--allow-process-loopback would grant loopback" },
		{ { INET, .op = LH_OP_BIND, .why = LH_WHY_NOT_GRANTED,
		    .port = 3000 }, "\"bind_any\": \"loopback\"" },
		{ { INET, .op = LH_OP_BIND, .why = LH_WHY_NOT_GRANTED,
		    .addr = { 192, 0, 2, 7 }, .port = 3000 },
		  "no policy grants a bind beyond loopback" },
		{ { INET, .op = LH_OP_BIND, .why = LH_WHY_PEER,
		    .addr = { 127, 0, 0, 1 }, .port = 3000 },
		  "somebody else has that port" },
		{ { INET, .op = LH_OP_ACCEPT, .why = LH_WHY_PEER,
		    .addr = { 127, 0, 0, 1 }, .port = 50000,
		    .local_port = 3000 },
		  "--publish-port 3000 would open it" },
		{ { INET, .op = LH_OP_CONNECT, .why = LH_WHY_DENIED,
		    .addr = { 192, 0, 2, 7 }, .port = 443, .rule = 1 },
		  "rule /read_only_roots/0 stands against it" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		add(self, all[i].d, "", 0);
		ASSERT_NE(NULL, said(self, 0));
		EXPECT_NE(NULL, strstr(self->text, all[i].words)) {
			TH_LOG("%s", self->text);
		}
	}
}

TEST_F(summary, helpers_of_the_system_are_expected_and_agents_are_not)
{
#define AT(path) path, sizeof(path)
	static const struct {
		const char *path;
		size_t len;
		bool probe;
	} all[] = {
		{ AT("socket\0nscd\0run"), true },
		{ AT("socket\0journal\0systemd\0run"), true },
		{ AT("dev-log\0journal\0systemd\0run"), true },
		{ AT("io.systemd.Resolve\0resolve\0systemd\0run"), true },
		{ AT("io.systemd.DynamicUser\0userdb\0systemd\0run"), true },
		{ AT("system_bus_socket\0dbus\0run"), true },
		{ AT("bus\0001000\0user\0run"), true },
		{ AT("log\0dev"), true },
		{ AT("private\0systemd\0run"), false },
		{ AT("wayland-0\0001000\0user\0run"), false },
		{ AT("S.gpg-agent\0gnupg\0001000\0user\0run"), false },
		{ AT("docker.sock\0run"), false },
		{ AT("X0\0.X11-unix\0tmp"), false },
	};
#undef AT
	unsigned long long alerts = 0;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		add(self, (struct lh_denial){
			CONNECTS, .why = LH_WHY_NOT_GRANTED },
		    all[i].path, all[i].len);
		alerts += !all[i].probe;
		EXPECT_EQ(alerts, self->d.alerts) {
			TH_LOG("%s", all[i].path);
		}
	}
}

TEST_F(summary, an_abstract_socket_has_its_name)
{
	ADD("x\0y", CONNECTS, .why = LH_WHY_PEER,
	    .flags = LH_DENIAL_ABSTRACT);
	ASSERT_NE(NULL, said(self, 0));
	EXPECT_NE(NULL, strstr(self->text, "connect @x"));
}

TEST_F(summary, probes_are_counted_and_explain_nothing)
{
	const struct lh_denial probe = {
		.op = LH_OP_SOCKET, .hook = LH_HOOK_seccomp,
		.why = LH_WHY_FAMILY, .family = 16,
	};

	add(self, probe, "", 0);
	EXPECT_EQ(0, self->d.alerts);
	EXPECT_EQ(NULL, said(self, 0));
	ADD("f\0d", READS, .why = LH_WHY_NOT_GRANTED);
	ASSERT_NE(NULL, said(self, 0));
	EXPECT_NE(NULL, strstr(self->text,
			       "; 2 refusals, 1 of them common probes"));
	EXPECT_EQ(NULL, said(self, 1));
}

/* A session that is refused without end does not fill the host's disk. */
TEST_F(summary, the_default_file_has_an_end_and_a_given_one_has_not)
{
	struct lh_denial what = { .why = LH_WHY_NOT_GRANTED, READS };
	char name[2] = "a";
	struct stat st;
	uint64_t lines = 0;

	self->d.given = false;
	self->d.fd = memfd_create("default", MFD_CLOEXEC);
	ASSERT_LE(0, self->d.fd);
	while (!self->d.unwritten && lines++ < 1000000) {
		name[0] ^= 3;	/* equal ones are one line */
		add(self, what, name, 2);
	}
	EXPECT_EQ(-EFBIG, self->d.error);
	ASSERT_EQ(0, fstat(self->d.fd, &st));
	EXPECT_GE(DENIALS_MOST, st.st_size);
	EXPECT_LT(DENIALS_MOST - 4096, st.st_size);
	self->d.given = true;
	add(self, what, "c", 2);
	EXPECT_EQ(1, self->d.unwritten);
	ASSERT_EQ(0, fstat(self->d.fd, &st));
	EXPECT_LT(DENIALS_MOST, st.st_size);
}

TEST_HARNESS_MAIN
