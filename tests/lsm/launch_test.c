// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who runs as whom, and with what: user, groups, home, environment,
 * descriptors; and that what a user names is opened with his own rights.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sched.h>

#include "kselftest_harness.h"
#include "session.h"

FIXTURE(launch) {
	struct world *w;
	char policy[128], ws[128], denials[128];
};

FIXTURE_SETUP(launch)
{
	struct policy p = { 0 };

	self->w = world_make(TEST_USER);
	ASSERT_NE(NULL, self->w);
	ASSERT_EQ(0, policy_write(self->w, &p));
	snprintf(self->policy, sizeof(self->policy), "%s/log/policy.json",
		 self->w->dir);
	snprintf(self->ws, sizeof(self->ws), "%s/ws", self->w->dir);
	snprintf(self->denials, sizeof(self->denials), "%s/log/d",
		 self->w->dir);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	unsetenv("SUDO_USER");
}

FIXTURE_TEARDOWN(launch)
{
	world_remove(self->w);
}

#define RUN(out, ...) supervise(self->w, out, sizeof(out),		\
	(const char *const[]){ "--policy", self->policy, "-C", self->ws, \
		"--denials", self->denials, __VA_ARGS__, NULL })

static const char id_line[] = "id -u; id -g; id -G; echo $HOME $USER";

TEST_F(launch, a_named_user_is_who_it_is)
{
	char out[4096];

	EXPECT_EQ(0, RUN(out, "--user", TEST_USER, "--", "sh", "-c", id_line));
	EXPECT_STREQ("4242\n4242\n4242 4244\n/tmp/home-lh-test lh-test\n",
		     out);
	EXPECT_EQ(0, RUN(out, "--user", "4242", "--", "id", "-u"));
	EXPECT_STREQ("4242\n", out);
	EXPECT_EQ(125, WEXITSTATUS(RUN(out, "--user", "no-such-user", "--",
				       "id")));
	EXPECT_NE(NULL, strstr(out, "no-such-user"));
}

TEST_F(launch, under_sudo_it_is_who_called_sudo)
{
	char out[4096];

	setenv("SUDO_UID", "4242", 1);
	setenv("SUDO_GID", "4242", 1);
	setenv("SUDO_USER", TEST_USER, 1);
	EXPECT_EQ(0, RUN(out, "--", "sh", "-c", id_line));
	EXPECT_STREQ("4242\n4242\n4242 4244\n/tmp/home-lh-test lh-test\n",
		     out);
	setenv("SUDO_UID", "not a number", 1);
	EXPECT_EQ(125, WEXITSTATUS(RUN(out, "--", "id", "-u")));
}

TEST_F(launch, root_is_root_without_any_capability)
{
	char out[4096];

	EXPECT_EQ(0, RUN(out, "--", "sh", "-c", "id -u; grep CapEff "
			 "/proc/self/status; grep NoNewPrivs "
			 "/proc/self/status"));
	EXPECT_STREQ("0\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\n", out);
}

TEST_F(launch, the_environment_is_isolated)
{
	char out[4096];

	setenv("SECRET_API_KEY", "x", 1);
	setenv("LD_LIBRARY_PATH", "/tmp/x", 1);
	setenv("WHATEVER", "x", 1);
	setenv("LC_ALL", "C", 1);
	EXPECT_EQ(0, RUN(out, "--user", TEST_USER, "--", "env"));
	EXPECT_EQ(NULL, strstr(out, "SECRET_API_KEY"));
	EXPECT_EQ(NULL, strstr(out, "LD_LIBRARY_PATH"));
	EXPECT_EQ(NULL, strstr(out, "WHATEVER"));
	EXPECT_EQ(NULL, strstr(out, "LH_"));		/* NET-43 */
	EXPECT_NE(NULL, strstr(out, "LC_ALL=C\n"));
	EXPECT_NE(NULL, strstr(out, "HOME=/tmp/home-lh-test\n"));
	EXPECT_NE(NULL, strstr(out, "TMPDIR=/tmp/lh-4242/"));
	EXPECT_EQ(0, RUN(out, "--user", TEST_USER, "--env", "WHATEVER",
			 "--env", "OWN=y", "--", "env"));
	EXPECT_NE(NULL, strstr(out, "WHATEVER=x\n"));
	EXPECT_NE(NULL, strstr(out, "OWN=y\n"));
}

/* Whatever TMPDIR says, a JVM takes /tmp unless it is told. */
TEST_F(launch, a_java_machine_is_told_where_temporary_files_go)
{
	static const char *const kept[] = {
		"JAVA_TOOL_OPTIONS=",
		"JAVA_TOOL_OPTIONS=-Xmx1g -Djava.io.tmpdir=/x",
	};
	char out[4096], line[128];
	size_t i;

	EXPECT_EQ(0, RUN(out, "--user", TEST_USER, "--", "sh", "-c",
			 "[ \"$JAVA_TOOL_OPTIONS\" = "
			 "\"-Djava.io.tmpdir=$TMPDIR\" ]"));
	EXPECT_EQ(0, RUN(out, "--user", TEST_USER, "--env",
			 "JAVA_TOOL_OPTIONS=-Xmx1g", "--", "sh", "-c",
			 "[ \"$JAVA_TOOL_OPTIONS\" = "
			 "\"-Xmx1g -Djava.io.tmpdir=$TMPDIR\" ]"));
	for (i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		EXPECT_EQ(0, RUN(out, "--user", TEST_USER, "--env", kept[i],
				 "--", "env"));
		snprintf(line, sizeof(line), "%s\n", kept[i]);
		EXPECT_NE(NULL, strstr(out, line));
	}
}

TEST_F(launch, its_temp_directory_is_its_own_and_goes_with_it)
{
	char out[4096], cmd[4200];

	EXPECT_EQ(0, RUN(out, "--user", TEST_USER, "--", "sh", "-c",
			 "stat -c '%a %u' \"$TMPDIR\" >&2; echo x >$TMPDIR/f;"
			 "cp /bin/true $TMPDIR/t && $TMPDIR/t && "
			 "printf %s \"$TMPDIR\" >tmpdir"));
	EXPECT_STREQ("700 4242\n", out);
	snprintf(cmd, sizeof(cmd), "d=$(cat %s/tmpdir) && [ -n \"$d\" ] && "
		 "[ ! -e \"$d\" ]", self->ws);
	EXPECT_EQ(0, system(cmd));
	/* other places in /tmp are not */
	EXPECT_NE(0, RUN(out, "--user", TEST_USER, "--", "sh", "-c",
			 "echo x >/tmp/elsewhere"));
	EXPECT_FALSE(exists("/tmp/elsewhere"));
}

/* Its records do not go where it writes. */
#define IN_TMP(out, ...) supervise(self->w, out, sizeof(out),		\
	(const char *const[]){ "--policy", self->policy, "-C", self->ws, \
		"--user", TEST_USER, "--rw", "/tmp", "-q", __VA_ARGS__, NULL })

/* Of another session of the same user, whatever grants all that is there. */
TEST_F(launch, another_sessions_temp_directory_is_closed)
{
	static const char try[] =
		"t=$1; exec 2>/dev/null; cat $t/f && exit 2; ls $t && exit 3; "
		"echo x >$t/f && exit 4; mv $t/f $TMPDIR && exit 5; "
		"ln $t/f $TMPDIR && exit 6; mkdir $t/d && exit 7; "
		"stat $t/f && exit 8; rm $t/f && exit 9; "
		"mkdir ${t%/*}/new && exit 10; touch $t && exit 11; "
		"mv ${t%/*} /tmp/elsewhere && exit 12; exit 0";
	static const char own[] =
		"mkdir $TMPDIR/d && echo own >$TMPDIR/d/f && cd $TMPDIR && "
		"mv d e && ln e/f g && ls $TMPDIR >/dev/null && "
		"[ $(realpath $TMPDIR/g) = $TMPDIR/g ] && cat g >&2 && "
		"stat -c %a ${TMPDIR%/*} >&2 && echo x >/tmp/lh-twin && "
		"rm -r g e /tmp/lh-twin";
	static const char bare[] =
		"exec 2>/dev/null; read x <$1/f && exit 2; [ -e $1/f ] && "
		"exit 3; read x </etc/passwd || exit 4; exit 0";
	struct policy p = { .sandbox = ",\"read_roots\":[\"/\"]" };
	char out[4096], temp[256], file[300];
	struct session s;

	ASSERT_EQ(0, session_start(&s, self->w, "one", NULL));
	ASSERT_EQ(0, ask(&s, "getenv", "TMPDIR"));
	snprintf(temp, sizeof(temp), "%s", s.reply.text);
	snprintf(file, sizeof(file), "%s/f", temp);
	EXPECT_EQ(0, ask(&s, "write", file, "x"));
	EXPECT_EQ(0, IN_TMP(out, "--", "sh", "-c", try, "try", temp));
	EXPECT_TRUE(holds(file, "x"));
	EXPECT_EQ(0, IN_TMP(out, "--", "sh", "-c", own));
	EXPECT_NE(NULL, strstr(out, "own\n700\n"));
	/* nor where all may be read, nor who has no such directory */
	ASSERT_EQ(0, policy_write(self->w, &p));
	EXPECT_EQ(0, RUN(out, "--user", TEST_USER, "--", "sh", "-c", try,
			 "try", temp));
	p.level = "read_only";
	ASSERT_EQ(0, policy_write(self->w, &p));
	EXPECT_EQ(0, RUN(out, "--user", TEST_USER, "--", "sh", "-c", bare,
			 "bare", temp));
	EXPECT_EQ(0, ask(&s, "open", file, "r"));
	EXPECT_EQ(0, ask(&s, "unlink", file));
	EXPECT_EQ(0, session_end(&s));
}

/* What is done to the place of them all keeps no later session out. */
TEST_F(launch, the_place_of_temp_directories_is_put_right_or_left_alone)
{
	static const char *const modes[] = { "777", "500", "0" };
	struct policy p = { .level = "read_only",
			    .sandbox = ",\"read_roots\":[\"/\"]" };
	char out[4096], cmd[64];

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		snprintf(cmd, sizeof(cmd), "chmod %s ${TMPDIR%%/*}", modes[i]);
		EXPECT_EQ(0, IN_TMP(out, "--", "sh", "-c", cmd));
		EXPECT_EQ(0, RUN(out, "--user", TEST_USER, "--", "sh", "-c",
				 "echo x >$TMPDIR/f && "
				 "stat -c %a ${TMPDIR%/*} >&2"));
		EXPECT_NE(NULL, strstr(out, "700\n")) {
			TH_LOG("%s: %s", modes[i], out);
		}
	}
	/* A link of somebody's denies nothing of what it leads to. */
	ASSERT_EQ(0, policy_write(self->w, &p));
	ASSERT_EQ(0, system("rm -rf /tmp/lh-4242 && ln -s /etc /tmp/lh-4242"));
	EXPECT_EQ(0, RUN(out, "--user", TEST_USER, "--", "cat",
			 "/etc/hostname"));
	EXPECT_EQ(0, system("rm /tmp/lh-4242"));
}

TEST_F(launch, descriptors_above_two_are_closed_unless_kept)
{
	char out[4096];
	int fd = open(at(self->w, "ws/secret/key"), O_RDONLY);

	/* the helper closes them; a shell does not */
	snprintf(out, sizeof(out), "exec 9<%s; %s/lh-supervise --policy %s "
		 "-C %s --user lh-test --denials %s -- sh -c 'cat <&9' "
		 "2>/dev/null", at(self->w, "ws/secret/key"),
		 getenv("B") ? getenv("B") : "build", self->policy, self->ws,
		 self->denials);
	EXPECT_NE(0, system(out));
	close(fd);
	EXPECT_EQ(0, RUN(out, "--user", TEST_USER, "--", "sh", "-c",
			 "ls /proc/self/fd | wc -l"));
	EXPECT_STREQ("4\n", out);	/* 0, 1, 2, and the directory */
}

/* The three that it is given lie outside of every root. */
TEST_F(launch, its_three_descriptors_are_reopened_in_their_own_mode)
{
	char cmd[1024];

	snprintf(cmd, sizeof(cmd), "%s/lh-supervise --policy %s -C %s --user "
		 "lh-test --denials %s -- sh -c 'cat /dev/stdin >/dev/stdout "
		 "&& echo e >/dev/stderr' <%s >%s 2>%s",
		 getenv("B") ? getenv("B") : "build", self->policy, self->ws,
		 self->denials, at(self->w, "outside/file"),
		 at(self->w, "outside/out"), at(self->w, "outside/err"));
	ASSERT_EQ(0, world_file(self->w, at(self->w, "outside/out"), ""));
	ASSERT_EQ(0, world_file(self->w, at(self->w, "outside/err"), ""));
	EXPECT_EQ(0, system(cmd));
	EXPECT_TRUE(holds(at(self->w, "outside/out"), "TEXT"));
	EXPECT_TRUE(holds(at(self->w, "outside/err"), "e\n"));
	/* and not beyond it: what was given for reading is not written */
	snprintf(cmd, sizeof(cmd), "%s/lh-supervise --policy %s -C %s --user "
		 "lh-test --denials %s -- sh -c 'echo x >/proc/self/fd/0' <%s "
		 "2>/dev/null", getenv("B") ? getenv("B") : "build",
		 self->policy, self->ws, self->denials,
		 at(self->w, "outside/file"));
	EXPECT_NE(0, system(cmd));
	EXPECT_TRUE(holds(at(self->w, "outside/file"), "TEXT"));
}

/* A sudo rule for lh-supervise must not be a root hole. */
TEST_F(launch, what_a_user_names_is_opened_with_his_rights)
{
	char out[8192];

	ASSERT_EQ(0, system("umask 077; mkdir -p /tmp/roots && echo '{\"version"
			    "\":1}' >/tmp/roots/policy.json && echo SECRETTEXT "
			    ">/tmp/roots/secret"));
	EXPECT_EQ(125, WEXITSTATUS(supervise(self->w, out, sizeof(out),
		(const char *const[]){ "--policy", "/tmp/roots/policy.json",
			"-C", self->ws, "--user", TEST_USER, "--",
			"/bin/true", NULL })));
	/* not even told what is in it */
	EXPECT_EQ(125, WEXITSTATUS(supervise(self->w, out, sizeof(out),
		(const char *const[]){ "--policy", "/tmp/roots/secret", "-C",
			self->ws, "--user", TEST_USER, "--", "/bin/true",
			NULL })));
	EXPECT_EQ(NULL, strstr(out, "SECRETTEXT"));
	EXPECT_EQ(125, WEXITSTATUS(RUN(out, "--user", TEST_USER, "--result",
				       "/tmp/roots/result", "--",
				       "/bin/true")));
	EXPECT_EQ(125, WEXITSTATUS(RUN(out, "--user", TEST_USER, "--result",
				       "/etc/result", "--", "/bin/true")));
	EXPECT_FALSE(exists("/tmp/roots/result"));
	ASSERT_EQ(0, symlink("/tmp/roots/secret", at(self->w, "log/link")));
	EXPECT_EQ(125, WEXITSTATUS(RUN(out, "--user", TEST_USER, "--result",
				       at(self->w, "log/link"), "--",
				       "/bin/true")));
	EXPECT_TRUE(holds("/tmp/roots/secret", "SECRETTEXT\n"));
	/* a root is granted, but file modes still stand */
	EXPECT_NE(0, RUN(out, "--user", TEST_USER, "--ro", "/tmp", "--",
			 "cat", "/tmp/roots/secret"));
	EXPECT_EQ(NULL, strstr(out, "SECRETTEXT"));
	EXPECT_EQ(0, system("rm -r /tmp/roots"));
}

TEST_F(launch, flags_widen_and_narrow_one_run)
{
	char out[8192];
	const char *file = at(self->w, "outside/file");

	EXPECT_NE(0, RUN(out, "--user", TEST_USER, "--", "cat", file));
	EXPECT_EQ(0, RUN(out, "--user", TEST_USER, "--ro",
			 at(self->w, "outside"), "--", "cat", file));
	EXPECT_NE(NULL, strstr(out, "TEXT"));
	EXPECT_NE(0, RUN(out, "--user", TEST_USER, "--ro",
			 at(self->w, "outside"), "--", "sh", "-c",
			 "echo x >../outside/file"));
	EXPECT_EQ(0, RUN(out, "--user", TEST_USER, "--rw",
			 at(self->w, "outside"), "--", "sh", "-c",
			 "echo x >../outside/new"));
	EXPECT_NE(0, RUN(out, "--user", TEST_USER, "--deny",
			 at(self->w, "ws/sub"), "--", "ls", "sub"));
	EXPECT_NE(0, RUN(out, "--user", TEST_USER, "--rw",
			 at(self->w, "ws/secret"), "--", "cat", "secret/key"));
}

TEST_F(launch, a_ceiling_is_above_every_policy)
{
	char out[8192];

	/* /etc is the machine's: a copy of our own over it, for this test */
	ASSERT_EQ(0, unshare(CLONE_NEWNS));
	ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	ASSERT_EQ(0, system("mkdir /tmp/etc && cp -a /etc/. /tmp/etc/ && "
			    "mkdir -p /tmp/etc/lh && "
			    "mount --bind /tmp/etc /etc"));
	EXPECT_EQ(0, RUN(out, "--user", TEST_USER, "--", "sh", "-c",
			 "echo x >sub/a; cat file"));
	snprintf(out, sizeof(out), "cat >/etc/lh/ceiling.json <<'END'\n"
		 "{\"version\":1,\"workspace_roots\":[\"%s\"],"
		 "\"side_effect_level\":\"process_exec\","
		 "\"process_sandbox\":{\"read_deny_roots\":[\"%s/sub\"]}}\n"
		 "END", self->ws, self->ws);
	ASSERT_EQ(0, system(out));
	EXPECT_EQ(0, RUN(out, "--user", TEST_USER, "--", "cat", "file")) {
		TH_LOG("%s", out);
	}
	EXPECT_NE(0, RUN(out, "--user", TEST_USER, "--", "cat", "sub/a"));
	/* a flag does not reach above it either */
	EXPECT_NE(0, RUN(out, "--user", TEST_USER, "--rw",
			 at(self->w, "outside"), "--", "cat",
			 at(self->w, "outside/file")));
	/* one that anybody could have written is not believed */
	ASSERT_EQ(0, chmod("/etc/lh/ceiling.json", 0666));
	EXPECT_EQ(125, WEXITSTATUS(RUN(out, "--user", TEST_USER, "--",
				       "/bin/true")));
	/* nor is a broken one passed over */
	ASSERT_EQ(0, system("echo '{' >/etc/lh/ceiling.json; "
			    "chmod 644 /etc/lh/ceiling.json"));
	EXPECT_EQ(125, WEXITSTATUS(RUN(out, "--user", TEST_USER, "--",
				       "/bin/true")));
	ASSERT_EQ(0, umount2("/etc", MNT_DETACH));
	ASSERT_EQ(0, system("rm -rf /tmp/etc"));
}

TEST_F(launch, the_first_instruction_is_confined)
{
	char out[4096], probe[PATH_MAX], name[128];
	const char *key = at(self->w, "ws/secret/key");
	int read = 0;

	snprintf(name, sizeof(name), "%s/tests/lsm/probe",
		 getenv("B") ? getenv("B") : "build");
	ASSERT_NE(NULL, realpath(name, probe));
	for (int i = 0; i < 20; i++)
		read += !RUN(out, "--user", TEST_USER, "--", probe, "open",
			     key, "r");
	EXPECT_EQ(0, read);
	EXPECT_EQ(0, RUN(out, "--user", TEST_USER, "--", probe, "open",
			 at(self->w, "ws/file"), "r"));
}

TEST_HARNESS_MAIN
