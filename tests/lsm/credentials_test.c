// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every entry of the credential list, in a real home, against every shipped
 * policy and against ones that grant the home or all: nothing that a session
 * tries reaches one, whoever made it and when; beside it all is as granted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "session.h"

#define LIST "policy-compiler/data/credentials"
#define PLACES_MAX 256
#define OPS "rlsSwatmckyfRDXLoOudin"

static const struct {
	const char *name, *value;	/* below the home */
} moved[] = {
	{ "KUBECONFIG", "moved/kube" }, { "DOCKER_CONFIG", "moved/docker" },
	{ "GNUPGHOME", "moved/gnupg" }, { "CARGO_HOME", "moved/cargo" },
	{ "NETRC", "moved/netrc" },
	{ "AWS_SHARED_CREDENTIALS_FILE", "moved/aws" },
	{ "GOOGLE_APPLICATION_CREDENTIALS", "moved/google.json" },
};

enum state { ABSENT, A_FILE, A_DIRECTORY };

struct place {
	char *path;
	char reach[128];	/* a directory beside it, with sources */
};

FIXTURE(credentials) {
	struct world *w;
	struct session s;
	char home[64];
	struct place place[PLACES_MAX];
	int places;
	char *records;
};

FIXTURE_VARIANT(credentials) {
	const char *user;
	const char *policy;	/* shipped, or members of process_sandbox */
	bool reads, writes;	/* the home */
};

#define SHIPPED(name_) FIXTURE_VARIANT_ADD(credentials, name_) {	\
	.user = TEST_USER, .policy = #name_				\
}
SHIPPED(worktree);
SHIPPED(agent);
SHIPPED(reader);
SHIPPED(build);
SHIPPED(test);

FIXTURE_VARIANT_ADD(credentials, reads_home) {
	.user = TEST_USER, .policy = "\"read_roots\":[\"~\"]", .reads = true,
};
FIXTURE_VARIANT_ADD(credentials, reads_all) {
	.user = TEST_USER, .policy = "\"read_roots\":[\"/\"]", .reads = true,
};
FIXTURE_VARIANT_ADD(credentials, writes_home) {
	.user = TEST_USER, .policy = "\"write_roots\":[\"~\"]",
	.reads = true, .writes = true,
};
FIXTURE_VARIANT_ADD(credentials, writes_all) {
	.user = TEST_USER, .reads = true, .writes = true,
	.policy = "\"read_roots\":[\"/\"],"
		"\"write_roots\":[\"~\",\"/etc\",\"/root\",\"/run\"]",
};
FIXTURE_VARIANT_ADD(credentials, root_writes_all) {
	.user = "root", .reads = true, .writes = true,
	.policy = "\"read_roots\":[\"/\"],"
		"\"write_roots\":[\"~\",\"/etc\",\"/run\"]",
};

static void parents(const struct world *w, const char *path)
{
	char part[1024], *s;

	snprintf(part, sizeof(part), "%s", path);
	for (s = part + 1; (s = strchr(s, '/')); s++) {
		*s = 0;
		if (!mkdir(part, 0755) && lchown(part, w->uid, w->gid))
			abort();
		*s = '/';
	}
}

/* What make() made, or nothing. */
static void sweep(const char *path)
{
	char inner[1100];

	snprintf(inner, sizeof(inner), "%s/inner", path);
	remove(inner);
	remove(path);
}

static void make(const struct world *w, struct place *p, enum state state)
{
	char inner[1100];

	sweep(p->path);
	snprintf(inner, sizeof(inner), "%s/inner", p->path);
	if (state == A_FILE && world_file(w, p->path, "TEXT"))
		abort();
	if (state == A_DIRECTORY && (mkdir(p->path, 0755) ||
				     lchown(p->path, w->uid, w->gid) ||
				     world_file(w, inner, "TEXT")))
		abort();
}

static void add(FIXTURE_DATA(credentials) *self, const char *top,
		const char *rest)
{
	struct place *p = &self->place[self->places++];
	const char *end;

	if (self->places > PLACES_MAX || asprintf(&p->path, "%s%s", top,
						  rest) < 0)
		abort();
	end = strchr(p->path + 1, '/');
	if (!strncmp(p->path, "/var/run", 8))
		snprintf(p->reach, sizeof(p->reach), "/run/reach");
	else if (*rest != '/' || *top)
		snprintf(p->reach, sizeof(p->reach), "%s/reach",
			 !strncmp(top, "/root", 5) ? "/root" : self->home);
	else
		snprintf(p->reach, sizeof(p->reach), "%.*s/reach",
			 (int)(end - p->path), p->path);
}

/* In use while we run, and asked of in records_test.c. */
static bool is_ours(const char *path)
{
	return !strcmp(path, "/run/lh") || !strcmp(path, "/var/log/lh");
}

static void read_list(FIXTURE_DATA(credentials) *self, bool others)
{
	FILE *f = fopen(LIST, "re");
	char line[512], to[256];

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, " \n")] = 0;
		if (*line == '~') {
			add(self, self->home, line + 1);
			if (others)
				add(self, "/root", line + 1);
		} else if (*line == '/' && !is_ours(line)) {
			add(self, "", line);
		}
		for (size_t i = 0; *line == '$' && i < ARRAY_SIZE(moved); i++) {
			size_t n = strlen(moved[i].name);

			if (strncmp(line + 1, moved[i].name, n))
				continue;
			snprintf(to, sizeof(to), "/%s%s", moved[i].value,
				 line + 1 + n);
			add(self, self->home, to);
		}
	}
	if (f)
		fclose(f);
}

/* An /etc of our own with what programs need, and empty homes. */
static int mounts(const struct world *w, const char *home)
{
	return system("set -e; d=$(mktemp -d /tmp/etc.XXXXXX); cd /etc; "
		      "cp passwd group nsswitch.conf ld.so.cache $d/; cd /; "
		      "mount -t tmpfs -o mode=755 tmpfs /etc; cp $d/* /etc/; "
		      "rm -r $d; mount -t tmpfs -o mode=755 tmpfs /root") ||
	       (strcmp(home, "/root") && mount("tmpfs", home, "tmpfs", 0,
					       "mode=755")) ||
	       chown("/etc", w->uid, w->gid) ||
	       chown("/root", w->uid, w->gid) ||
	       chown(home, w->uid, w->gid);
}

static void sources(const struct world *w, const char *dir)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/dir", dir);
	if (mkdir(dir, 0755) || lchown(dir, w->uid, w->gid) ||
	    mkdir(path, 0755) || lchown(path, w->uid, w->gid))
		abort();
	snprintf(path, sizeof(path), "%s/file", dir);
	if (world_file(w, path, "SOURCE"))
		abort();
}

static int policy_of(const struct world *w, const char *policy)
{
	char text[8192], path[128];
	ssize_t n;
	int fd;

	snprintf(text, sizeof(text), "{\"version\":1,\"process_sandbox\":{%s}}",
		 policy);
	if (*policy != '"') {
		snprintf(path, sizeof(path), "policy-compiler/policies/%s.json",
			 policy);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
		if (n <= 0)
			return -1;
		text[n] = 0;
	}
	return world_file(w, at(w, "log/policy.json"), text);
}

FIXTURE_SETUP(credentials)
{
	const struct passwd *pw = getpwnam(variant->user);
	struct world *w = self->w = world_make(variant->user);
	char value[256];

	ASSERT_NE(NULL, w);
	ASSERT_NE(NULL, pw);
	snprintf(self->home, sizeof(self->home), "%s", pw->pw_dir);
	self->places = 0;
	self->records = NULL;
	ASSERT_EQ(0, mounts(w, self->home));
	for (size_t i = 0; i < ARRAY_SIZE(moved); i++) {
		snprintf(value, sizeof(value), "%s/%s", self->home,
			 moved[i].value);
		setenv(moved[i].name, value, 1);
	}
	/* Root's home is like another: asked of where something grants it. */
	read_list(self, strcmp(self->home, "/root") &&
		  strchr(variant->policy, '/'));
	/* All homes, all variables, all of the machine's. */
	ASSERT_LE(57 + 9 + 21 + (strcmp(self->home, "/root") &&
				 strchr(variant->policy, '/') ? 57 : 0),
		  self->places);
	/* Root's own home is one of them already. */
	for (const char **d = (const char *[]){ "/root", "/etc", "/run",
			strcmp(self->home, "/root") ? self->home : NULL,
			NULL }; *d; d++) {
		snprintf(value, sizeof(value), "%s/reach", *d);
		sources(w, value);
	}
	ASSERT_EQ(0, policy_of(w, variant->policy));
}

FIXTURE_TEARDOWN(credentials)
{
	for (int i = 0; i < self->places; i++) {
		if (!strncmp(self->place[i].path, "/run/", 5))
			sweep(self->place[i].path);
		free(self->place[i].path);
	}
	remove("/run/reach/file");
	remove("/run/reach/dir");
	remove("/run/reach");
	if (strcmp(self->home, "/root"))
		umount2(self->home, MNT_DETACH);
	umount2("/root", MNT_DETACH);
	umount2("/etc", MNT_DETACH);
	free(self->records);
	world_remove(self->w);
}

static enum state state_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) ? ABSENT : S_ISDIR(st.st_mode) ? A_DIRECTORY :
		A_FILE;
}

/* May it fail like that, by what the kernel looks at before a policy? */
static bool other_errno(char op, int err, enum state state)
{
	switch (err) {
	case ENOENT:
		return state == ABSENT && !strchr("ckyfRDL", op);
	case EEXIST:
		return state != ABSENT && strchr("kyfL", op);
	case ENOTDIR:
		return state == A_FILE && strchr("lin", op);
	case EISDIR:
		return state == A_DIRECTORY && strchr("watc", op);
	}
	return false;
}

static void out_of_reach(struct __test_metadata *_metadata,
			 FIXTURE_DATA(credentials) *self, struct place *p,
			 const char *when)
{
	enum state state = state_of(p->path);
	char inner[1100], op, *s = self->s.reply.text;
	int err, n;

	ASSERT_EQ(0, ask(&self->s, "reach", OPS, p->path, p->reach));
	while (sscanf(s, "%c%d %n", &op, &err, &n) == 2) {
		EXPECT_TRUE(err == EACCES || other_errno(op, err, state))
			TH_LOG("%s: %s: %c: %s", when, p->path, op,
			       err ? strerrorname_np(err) : "ok");
		s += n;
	}
	EXPECT_EQ(0, *s);
	snprintf(inner, sizeof(inner), "%s/inner", p->path);
	EXPECT_EQ(state, state_of(p->path)) TH_LOG("%s", p->path);
	if (state != ABSENT) {
		EXPECT_TRUE(holds(state == A_FILE ? p->path : inner, "TEXT"))
			TH_LOG("%s: %s: changed", when, p->path);
	}
}

static bool is_below_other(FIXTURE_DATA(credentials) *self, const char *path)
{
	for (int i = 0; i < self->places; i++) {
		size_t n = strlen(self->place[i].path);

		if (!strncmp(self->place[i].path, path, n) && path[n] == '/')
			return true;
	}
	return false;
}

static void all_out_of_reach(struct __test_metadata *_metadata,
			     FIXTURE_DATA(credentials) *self, const char *when)
{
	for (int i = 0; i < self->places; i++)
		if (!is_below_other(self, self->place[i].path))
			out_of_reach(_metadata, self, &self->place[i], when);
}

/* The twins: a name that is not quite an entry's, in the same directory. */
static void beside(struct __test_metadata *_metadata,
		   FIXTURE_DATA(credentials) *self, const char *path,
		   bool reads, bool writes)
{
	char twin[1100], other[1100];
	struct session *s = &self->s;

	snprintf(twin, sizeof(twin), "%s.txt", path);
	snprintf(other, sizeof(other), "%s-not", path);
	if (world_file(self->w, twin, "TEXT"))
		abort();
	EXPECT_EQ(0, ask(s, "stat", twin)) TH_LOG("%s", twin);
	if (reads) {
		EXPECT_EQ(0, ask(s, "open", twin, "r")) TH_LOG("%s", twin);
	}
	if (writes) {
		EXPECT_EQ(0, ask(s, "write", twin, "NEW")) TH_LOG("%s", twin);
		EXPECT_EQ(0, ask(s, "rename", twin, other)) TH_LOG("%s", twin);
		EXPECT_EQ(0, ask(s, "link", other, twin)) TH_LOG("%s", twin);
		EXPECT_EQ(0, ask(s, "unlink", other)) TH_LOG("%s", twin);
	} else {
		EXPECT_EQ(EACCES, ask(s, "write", twin, "NEW"));
		EXPECT_EQ(EACCES, ask(s, "rename", twin, other));
	}
	unlink(twin);
}

static void all_beside(struct __test_metadata *_metadata,
		       FIXTURE_DATA(credentials) *self, bool reads, bool writes)
{
	size_t n = strlen(self->home);

	for (int i = 0; i < self->places; i++)
		if (!strncmp(self->place[i].path, self->home, n) &&
		    !is_below_other(self, self->place[i].path))
			beside(_metadata, self, self->place[i].path, reads,
			       writes);
}

static bool begins(const char *s, const char *with)
{
	return s && !strncmp(s, with, strlen(with));
}

/*
 * What the records say of @path: 1 if all of it is by the list, 0 if there is
 * none, -1 if another rule stands in one.
 */
static int recorded(FIXTURE_DATA(credentials) *self, const char *path)
{
	char want[1200], *s, *end, *at;
	int found = 0;

	snprintf(want, sizeof(want), "\"path\":\"%s\"", path);
	for (s = self->records; (end = strchr(s, '\n')); s = end + 1) {
		at = memmem(s, end - s, want, strlen(want));
		if (!at)
			continue;
		at = memmem(s, end - s, "\"rule\":", 7);
		if (!begins(at, "\"rule\":\"builtin:credentials/"))
			return -1;
		found = 1;
	}
	return found;
}

static void read_records(FIXTURE_DATA(credentials) *self)
{
	int fd = open(at(self->w, "log/s.denials"), O_RDONLY | O_CLOEXEC);
	struct stat st = { 0 };
	ssize_t n;

	fstat(fd, &st);
	self->records = calloc(1, st.st_size + 1);
	n = self->records ? read(fd, self->records, st.st_size) : -1;
	if (n != st.st_size)
		abort();
	close(fd);
}

/* Where nothing is, a session may make what is above, and then no more. */
static void parents_by_session(struct __test_metadata *_metadata,
			       FIXTURE_DATA(credentials) *self)
{
	size_t n = strlen(self->home);
	char part[1024], *s;
	int err;

	ASSERT_EQ(0, session_start(&self->s, self->w, "p", NULL));
	for (int i = 0; i < self->places; i++) {
		if (!begins(self->place[i].path, self->home) ||
		    is_below_other(self, self->place[i].path))
			continue;
		snprintf(part, sizeof(part), "%s", self->place[i].path);
		for (s = part + n + 1; (s = strchr(s, '/')); s++) {
			*s = 0;
			err = ask(&self->s, "mkdir", part);
			EXPECT_TRUE(!err || err == EEXIST) TH_LOG("%s", part);
			*s = '/';
		}
		out_of_reach(_metadata, self, &self->place[i], "own parents");
	}
	ASSERT_EQ(0, session_end(&self->s));
}

/* It asks some ten thousand questions, each with a record. */
TEST_F_TIMEOUT(credentials, nothing_reaches_an_entry_whoever_made_it, 600)
{
	struct world *w = self->w;
	char pid[16];
	int i;

	if (variant->writes)
		parents_by_session(_metadata, self);

	/* Half of them are there before, half are not. */
	for (i = 0; i < self->places; i++)
		parents(w, self->place[i].path);
	for (i = self->places; i-- > 0;)
		if (!is_below_other(self, self->place[i].path))
			make(w, &self->place[i], i % 2 ? A_FILE : ABSENT);
	ASSERT_EQ(0, session_start(&self->s, w, "s", NULL));
	/* Who writes the records comes first: none is lost for want of time. */
	snprintf(pid, sizeof(pid), "%d", self->s.probe);
	ASSERT_EQ(0, ask(&self->s, "nice", pid));
	all_out_of_reach(_metadata, self, "at the start");
	all_beside(_metadata, self, variant->reads, variant->writes);
	/* The host makes what was absent, and takes what was there. */
	for (i = 0; i < self->places; i++)
		if (!is_below_other(self, self->place[i].path))
			make(w, &self->place[i], i % 2 ? ABSENT : A_FILE);
	all_out_of_reach(_metadata, self, "since");
	for (i = 0; i < self->places; i++)
		if (!is_below_other(self, self->place[i].path))
			make(w, &self->place[i], A_DIRECTORY);
	all_out_of_reach(_metadata, self, "directories");
	ASSERT_EQ(0, session_end(&self->s));
	read_records(self);
	for (i = 0; i < self->places; i++) {
		if (!strncmp(self->place[i].path, "/var/run/", 9) ||
		    is_below_other(self, self->place[i].path))
			continue;
		EXPECT_EQ(1, recorded(self, self->place[i].path))
			TH_LOG("%s", self->place[i].path);
	}
}

TEST_HARNESS_MAIN
