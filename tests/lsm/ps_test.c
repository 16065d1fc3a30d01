// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions from beside: lh-ps of two users' sessions, as root and as each; what
 * a session sees of the same; and lh-doctor on a host that has everything.
 */
#define _GNU_SOURCE
#include <sys/stat.h>

#include <bpf/bpf.h>

#include "kselftest_harness.h"
#include "session.h"

#define OTHER_USER "lh-other"

FIXTURE(ps) {
	struct world *mine, *others;
	struct session a, b;
};

FIXTURE_SETUP(ps)
{
	static const char *const flags[] = { "--name", "first", NULL };
	struct policy p = { 0 };

	self->mine = world_make(TEST_USER);
	self->others = world_make(OTHER_USER);
	ASSERT_NE(NULL, self->mine);
	ASSERT_NE(NULL, self->others);
	ASSERT_EQ(0, policy_write(self->mine, &p));
	/* reads all that its user may */
	p.ro = ",\"/run\"";
	ASSERT_EQ(0, policy_write(self->others, &p));
	ASSERT_EQ(0, session_start(&self->a, self->mine, "a", flags));
	ASSERT_EQ(0, session_start(&self->b, self->others, "b", NULL));
}

FIXTURE_TEARDOWN(ps)
{
	session_end(&self->a);
	session_end(&self->b);
	world_remove(self->mine);
	world_remove(self->others);
}

static char text[65536];

/* What @program prints, run as @uid; its status. */
static int run(const char *program, const char *flag, uid_t uid)
{
	const char *dir = getenv("B");
	char cmd[1024];
	size_t n;
	FILE *f;

	snprintf(cmd, sizeof(cmd), "setpriv --reuid=%u --regid=%u "
		 "--clear-groups %s/%s %s 2>&1", uid, uid, dir ? dir : "build",
		 program, flag);
	f = popen(cmd, "re");
	n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	text[n] = 0;
	return f ? WEXITSTATUS(pclose(f)) : -1;
}

#define SAID(what) EXPECT_NE(NULL, strstr(text, what)) {		\
	TH_LOG("not said: %s in %s", what, text); }
#define UNSAID(what) EXPECT_EQ(NULL, strstr(text, what)) {		\
	TH_LOG("said: %s in %s", what, text); }

/* The count is the supervisor's: it may be a moment behind. */
static bool counts(uid_t uid, const char *word)
{
	for (int i = 0; i < 100; i++) {
		run("lh-ps", "--json", uid);
		if (strstr(text, word))
			return true;
		usleep(100000);
	}
	return false;
}

TEST_F(ps, root_sees_all_and_a_user_the_own_sessions)
{
	uid_t mine = self->mine->uid, others = self->others->uid;
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(EACCES, ask(&self->a, "open", "secret/key", "r"));
	}
	ASSERT_EQ(0, ask(&self->a, "open", "file", "r"));
	/* a number that no other member has: it ends the object */
	EXPECT_TRUE(counts(0, "\"denials\":3}"));
	SAID("\"all_users\":true");
	SAID("\"name\":\"first\",\"state\":\"live\",\"user\":{\"name\":\""
	     TEST_USER "\",");
	SAID("\"name\":null,\"state\":\"live\",\"user\":{\"name\":\""
	     OTHER_USER "\",");
	SAID("\"denials\":0}");
	SAID("\"confinement\":\"full\"");
	/* cgroup v2 has both controllers here */
	UNSAID("\"memory_bytes\":null");
	UNSAID("\"tasks\":null");
	SAID("\"processes\":1,\"tasks\":1,");

	EXPECT_EQ(0, run("lh-ps", "--json", mine));
	SAID("\"all_users\":false");
	SAID("\"name\":\"first\"");
	SAID("\"denials\":3}");
	UNSAID(OTHER_USER);
	EXPECT_EQ(0, run("lh-ps", "--json", others));
	SAID(OTHER_USER);
	UNSAID("\"first\"");
	EXPECT_EQ(0, run("lh-ps", "", 4299));
	SAID("SESSION");
	EXPECT_EQ(strchr(text, '\n'), text + strlen(text) - 1);

	/* one that is stopped lives, and counts when it goes on */
	ASSERT_EQ(0, kill(self->a.pid, SIGSTOP));
	ASSERT_EQ(EACCES, ask(&self->a, "open", "secret/key", "r"));
	EXPECT_EQ(0, run("lh-ps", "--json", 0));
	UNSAID("\"state\":\"dead\"");
	SAID("\"denials\":3}");
	ASSERT_EQ(0, kill(self->a.pid, SIGCONT));
	EXPECT_TRUE(counts(mine, "\"denials\":4}"));
}

static int first_file(const char *pattern, char *path, size_t size)
{
	char cmd[256];
	FILE *f;

	snprintf(cmd, sizeof(cmd), "grep -l %s /run/lh/sessions/*.json",
		 pattern);
	f = popen(cmd, "re");
	if (!f || !fgets(path, size, f))
		path[0] = 0;
	if (f)
		pclose(f);
	path[strcspn(path, "\n")] = 0;
	return path[0] ? 0 : -1;
}

/*
 * Who may open a file may lock it: what the next start goes by is out of the
 * session's reach, also where its policy grants /run.
 */
TEST_F(ps, a_session_has_no_lock_and_nothing_to_forge)
{
	char own[128], lock[128], foreign[128];

	ASSERT_EQ(0, first_file(OTHER_USER, own, sizeof(own)));
	ASSERT_EQ(0, first_file(TEST_USER, foreign, sizeof(foreign)));
	snprintf(lock, sizeof(lock), "%.*s", (int)(strlen(own) - 5), own);
	EXPECT_EQ(EACCES, ask(&self->b, "open", own, "r"));
	EXPECT_EQ(EACCES, ask(&self->b, "open", own, "w"));
	EXPECT_EQ(EACCES, ask(&self->b, "open", lock, "r"));
	EXPECT_EQ(EACCES, ask(&self->b, "open", foreign, "r"));
	EXPECT_EQ(EACCES, ask(&self->b, "unlink", own));
	/* nor does the policy of the first grant it at all */
	EXPECT_EQ(EACCES, ask(&self->a, "open", foreign, "r"));
	/* outside: the user's own rights, and no more */
	EXPECT_EQ(0, run("lh-ps", "--json", self->others->uid));
}

FIXTURE(doctor) {
	struct world *w;
	struct session s;
};

FIXTURE_SETUP(doctor)
{
	struct policy p = { 0 };

	self->w = world_make(TEST_USER);
	ASSERT_NE(NULL, self->w);
	ASSERT_EQ(0, policy_write(self->w, &p));
	ASSERT_EQ(0, session_start(&self->s, self->w, "s", NULL));
}

FIXTURE_TEARDOWN(doctor)
{
	session_end(&self->s);
	world_remove(self->w);
}

/* What there is of it, on the host and in the kernel. */
struct kernel_objects {
	int programs, maps, links;
	char places[8192];
};

static int count(int (*next)(__u32, __u32 *))
{
	__u32 id = 0;
	int n = 0;

	while (!next(id, &id))
		n++;
	return n;
}

static void look(struct kernel_objects *k)
{
	FILE *f = popen("find /sys/fs/bpf; ls -A /run/lh /var/log; "
			"find /sys/fs/cgroup -type d -name 'lh*'; "
			"cat /sys/fs/cgroup/cgroup.subtree_control", "re");
	size_t n = f ? fread(k->places, 1, sizeof(k->places) - 1, f) : 0;

	k->places[n] = 0;
	if (f)
		pclose(f);
	k->programs = count(bpf_prog_get_next_id);
	k->maps = count(bpf_map_get_next_id);
	k->links = count(bpf_link_get_next_id);
}

TEST_F(doctor, finds_all_and_leaves_nothing)
{
	struct kernel_objects before, after;

	look(&before);
	ASSERT_LT(20, before.programs);
	ASSERT_LT(100, strlen(before.places));
	EXPECT_EQ(0, run("lh-doctor", "", 0)) {
		TH_LOG("%s", text);
	}
	SAID("\nok       engine          build ");
	SAID(" is loaded;");
	SAID("\nos_hardened      runs here: yes\n");
	SAID("\nworktree         runs here: yes\n");
	look(&after);
	EXPECT_STREQ(before.places, after.places);
	EXPECT_EQ(before.programs, after.programs);
	EXPECT_EQ(before.maps, after.maps);
	EXPECT_EQ(before.links, after.links);
	/* the session beside it did not notice */
	EXPECT_EQ(EACCES, ask(&self->s, "open", "secret/key", "r"));
	EXPECT_EQ(0, ask(&self->s, "open", "file", "r"));
}

TEST_F(doctor, sees_what_settings_take_away)
{
	ASSERT_EQ(0, system("sysctl -q kernel.yama.ptrace_scope=2 "
			    "user.max_user_namespaces=0"));
	EXPECT_EQ(0, run("lh-doctor", "", 0));
	EXPECT_EQ(0, system("sysctl -q kernel.yama.ptrace_scope=1 "
			    "user.max_user_namespaces=10000"));
	SAID("\nlimited  ptrace ");
	SAID("-> sysctl kernel.yama.ptrace_scope=1\n");
	SAID("\nlimited  userns ");
	SAID("-> sysctl user.max_user_namespaces=");
	/* a user is not told that what he cannot try is there */
	EXPECT_EQ(1, run("lh-doctor", "", self->w->uid));
	SAID("\nuntried  engine ");
	SAID("\nok       ptrace ");
	SAID("\nok       userns ");
	SAID("-> sudo lh-doctor\n");
}

TEST_HARNESS_MAIN
