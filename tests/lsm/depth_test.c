// SPDX-License-Identifier: GPL-2.0-only
/*
 * Depth: what a rule says at the top of a tree holds at its bottom, a rule at
 * the bottom holds there, and where a walk does not come to its end the answer
 * is a refusal that says so. FS-24.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "../../bpf/abi.h"
#include "kselftest_harness.h"
#include "session.h"

/* Each directory is called "d": PATH_MAX holds 2,000 of them. */
struct trees {
	struct world *w;
	struct session s, twin;
	char n[16];		/* how deep, for the probe */
	char down[2 * 2000 + 1];	/* "/d/d/d…" */
};

FIXTURE(depth) {
	struct trees t;
};

FIXTURE_VARIANT(depth) {
	int depth;
};

#define DEPTH(n) FIXTURE_VARIANT_ADD(depth, at_##n) { .depth = n }

DEPTH(1);
DEPTH(21);
DEPTH(64);
DEPTH(513);
DEPTH(2000);

/*
 * N directories "d" below @top, by descriptors, and files at the bottom. They
 * lie on a file system of the test's own, which takes them away.
 */
static int dig(const struct world *w, const char *top, int n)
{
	static const char *const files[] = { "f", "gone", "deny/f", "ro/f",
					     "rw/f" };
	static const char *const dirs[] = { "deny", "ro", "rw", "sub" };
	int fd = open(top, O_PATH | O_CLOEXEC), err = fd < 0 ? -errno : 0;

	for (int i = 0; i < n && !err; i++) {
		int next;

		if (mkdirat(fd, "d", 0755) && errno != EEXIST)
			err = -errno;
		next = openat(fd, "d", O_PATH | O_CLOEXEC);
		if (next < 0)
			err = -errno;
		close(fd);
		fd = next;
	}
	if (!err && fchownat(fd, "", w->uid, w->gid, AT_EMPTY_PATH))
		err = -errno;
	for (size_t i = 0; i < ARRAY_SIZE(dirs) && !err; i++)
		if (mkdirat(fd, dirs[i], 0755) ||
		    fchownat(fd, dirs[i], w->uid, w->gid, 0))
			err = -errno;
	for (size_t i = 0; i < ARRAY_SIZE(files) && !err; i++) {
		int f = openat(fd, files[i], O_WRONLY | O_CREAT | O_CLOEXEC,
			       0644);

		if (f < 0 || write(f, "TEXT", 4) != 4 ||
		    fchown(f, w->uid, w->gid))
			err = -errno;
		close(f);
	}
	close(fd);
	return err;
}

/* A file system for @path, whose tree no path can name to remove it. */
static int mounted(const struct world *w, const char *path)
{
	if (mount("none", path, "tmpfs", 0, NULL) ||
	    chown(path, w->uid, w->gid))
		return -errno;
	return 0;
}

static const char *const tops[] = { "ws/secret", "ws/lib", "ws/sub", "ro",
				    "outside" };

/*
 * At the top: ws granted, ws/secret denied in it, ws/lib and ro read-only,
 * outside no root. At the bottom: of ws/sub deny, absent (not there) and ro; of
 * outside rw, which may be written.
 */
static int write_policy(const struct world *w, const char *down)
{
	char *text;
	int err;

	if (asprintf(&text,
		     "{\"version\":1,\"sandbox_profile\":\"os_hardened\","
		     "\"workspace_roots\":[\"%s/ws\"],\"read_only_roots\":"
		     "[\"%s/ro\",\"%s/ws/lib\",\"%s/ws/sub%s/ro\"],"
		     "\"process_sandbox\":{\"presets\":[\"system_runtime\"],"
		     "\"write_roots\":[\"%s/outside%s/rw\"],"
		     "\"read_deny_roots\":[\"%s/ws/secret\","
		     "\"%s/ws/sub%s/deny\",\"%s/ws/sub%s/absent\"]}}\n",
		     w->dir, w->dir, w->dir, w->dir, down, w->dir, down,
		     w->dir, w->dir, down, w->dir, down) < 0)
		return -ENOMEM;
	err = world_file(w, at(w, "log/policy.json"), text);
	free(text);
	return err;
}

/*
 * Trees of @n levels, and the session. @count: of tops; only with them all are
 * there rules at the bottom.
 */
static int set_up(struct trees *t, int n, size_t count)
{
	/* a descriptor for each root and each place above one that stays */
	const struct rlimit many = { 65536, 65536 };
	struct world *w = world_make(TEST_USER);
	int err = w ? 0 : -ENOMEM;

	t->w = w;
	if (!err && setrlimit(RLIMIT_NOFILE, &many))
		err = -errno;
	snprintf(t->n, sizeof(t->n), "%d", n);
	if (count == ARRAY_SIZE(tops))
		for (int i = 0; i < n; i++)
			memcpy(t->down + 2 * i, "/d", 2);
	for (size_t i = 0; i < count && !err; i++) {
		err = mounted(w, at(w, "%s", tops[i]));
		if (!err)
			err = dig(w, at(w, "%s", tops[i]), n);
	}
	if (!err && *t->down)
		err = write_policy(w, t->down);
	else if (!err)
		err = policy_write(w, &(struct policy){ 0 });
	if (!err)
		err = session_start(&t->s, w, "s", NULL);
	return err ? err : twin_start(&t->twin, w);
}

static void tear_down(struct trees *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(tops); i++)
		umount2(at(t->w, "%s", tops[i]), MNT_DETACH);
	world_remove(t->w);
}

FIXTURE_SETUP(depth)
{
	ASSERT_EQ(0, set_up(&self->t, variant->depth, ARRAY_SIZE(tops)));
}

FIXTURE_TEARDOWN(depth)
{
	session_end(&self->t.twin);
	EXPECT_EQ(0, session_end(&self->t.s));
	tear_down(&self->t);
}

/* At the bottom of @top, in the session and, where it must be let, outside. */
#define BELOW(top, ...) ask(&self->t.s, "below", top, self->t.n, __VA_ARGS__)
#define TWIN(top, ...) ask(&self->t.twin, "below", top, self->t.n, __VA_ARGS__)

/* The path of @name at the bottom of @top, in a buffer of one's own. */
static const char *bottom(const struct world *w, const char *top,
			  const char *down, const char *name)
{
	static char path[2][5000];
	static int turn;

	turn ^= 1;
	snprintf(path[turn], sizeof(path[0]), "%s/%s%s/%s", w->dir, top, down,
		 name);
	return path[turn];
}

#define BOTTOM(top, name) bottom(self->t.w, top, self->t.down, name)

TEST_F(depth, a_rule_at_the_top_decides_at_the_bottom)
{
	static const char *const roots[] = { "lib", "../ro" };

	EXPECT_EQ(0, BELOW("sub", "open", "f", "+"));
	EXPECT_EQ(0, BELOW("sub", "write", "new", "x"));
	EXPECT_EQ(0, BELOW("sub", "mkdir", "made"));
	EXPECT_EQ(0, BELOW("sub", "rename", "new", "made/new"));
	EXPECT_EQ(0, BELOW("sub", "unlink", "gone"));
	EXPECT_TRUE(quiet(&self->t.s));
	EXPECT_EQ(EACCES, BELOW("secret", "open", "f", "r"));
	EXPECT_TRUE(denied(&self->t.s, "open", BOTTOM("ws/secret", "f"),
			   "read_deny_roots/0"));
	EXPECT_EQ(EACCES, BELOW("secret", "stat", "f"));
	EXPECT_EQ(EACCES, BELOW("secret", "list", "."));
	EXPECT_EQ(EACCES, BELOW("secret", "write", "new", "x"));
	EXPECT_EQ(EACCES, BELOW("secret", "rename", "f", "g"));
	EXPECT_EQ(0, TWIN("secret", "open", "f", "r"));
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		EXPECT_EQ(0, BELOW(roots[i], "open", "f", "r"));
		EXPECT_EQ(0, BELOW(roots[i], "list", "."));
		EXPECT_EQ(EACCES, BELOW(roots[i], "open", "f", "w"));
		EXPECT_EQ(EACCES, BELOW(roots[i], "mkdir", "made"));
		EXPECT_TRUE(denied(&self->t.s, "mkdir", NULL,
				   "read_only_roots"));
		EXPECT_EQ(EACCES, BELOW(roots[i], "unlink", "gone"));
		EXPECT_EQ(EACCES, BELOW(roots[i], "rename", "f", "g"));
		EXPECT_EQ(0, TWIN(roots[i], "unlink", "gone"));
	}
	EXPECT_EQ(EACCES, BELOW("../outside", "open", "f", "r"));
	EXPECT_TRUE(denied(&self->t.s, "open", BOTTOM("outside", "f"),
			   "default"));
	EXPECT_EQ(0, BELOW("../outside", "stat", "f"));
	EXPECT_EQ(EACCES, BELOW("../outside", "write", "new", "x"));
}

TEST_F(depth, a_rule_at_the_bottom_decides_there)
{
	char pinned[128];

	EXPECT_EQ(EACCES, BELOW("sub", "open", "deny/f", "r"));
	EXPECT_TRUE(denied(&self->t.s, "open", BOTTOM("ws/sub", "deny/f"),
			   "read_deny_roots/1"));
	EXPECT_EQ(EACCES, BELOW("sub", "rename", "deny", "sub/deny"));
	EXPECT_EQ(0, TWIN("sub", "open", "deny/f", "r"));
	EXPECT_EQ(0, BELOW("sub", "open", "ro/f", "r"));
	EXPECT_EQ(EACCES, BELOW("sub", "open", "ro/f", "w"));
	EXPECT_EQ(EACCES, BELOW("sub", "write", "ro/new", "x"));
	EXPECT_TRUE(denied(&self->t.s, "create", BOTTOM("ws/sub", "ro/new"),
			   "read_only_roots/2"));
	/* not there: by its name */
	EXPECT_EQ(EACCES, BELOW("sub", "write", "absent", "x"));
	EXPECT_TRUE(denied(&self->t.s, "create", BOTTOM("ws/sub", "absent"),
			   "read_deny_roots/2"));
	EXPECT_EQ(EACCES, BELOW("sub", "rename", "f", "absent"));
	EXPECT_EQ(0, TWIN("sub", "write", "absent", "TEXT"));
	EXPECT_EQ(EACCES, BELOW("sub", "open", "absent", "r"));
	EXPECT_EQ(0, BELOW("sub", "write", "absent2", "x"));
	EXPECT_EQ(0, BELOW("../outside", "write", "rw/new", "x"));
	EXPECT_EQ(0, BELOW("../outside", "open", "rw/f", "+"));
	EXPECT_EQ(EACCES, BELOW("../outside", "open", "f", "r"));
	/* what leads there stays; what lies beside it does not matter */
	snprintf(pinned, sizeof(pinned), "%s", at(self->t.w, "ws/sub/d"));
	EXPECT_EQ(EACCES, ask(&self->t.s, "rename", "sub/d", "sub/e"));
	EXPECT_TRUE(denied(&self->t.s, "rename", pinned, NULL));
	EXPECT_EQ(0, ask(&self->t.s, "mkdir", "sub/e"));
	EXPECT_EQ(0, BELOW("sub", "rename", "sub", "made"));
}

/* The whole path is still one that a call takes. */
TEST_F(depth, by_its_path_it_is_the_same)
{
	EXPECT_EQ(EACCES, ask(&self->t.s, "open", BOTTOM("ws/secret", "f"), "r"));
	EXPECT_TRUE(denied(&self->t.s, "open", BOTTOM("ws/secret", "f"), NULL));
	EXPECT_EQ(EACCES, ask(&self->t.s, "open", BOTTOM("ws/sub", "deny/f"),
			      "r"));
	EXPECT_EQ(0, ask(&self->t.s, "open", BOTTOM("ws/sub", "f"), "+"));
	EXPECT_EQ(0, ask(&self->t.s, "open", BOTTOM("ro", "f"), "r"));
	EXPECT_EQ(EACCES, ask(&self->t.s, "open", BOTTOM("ro", "f"), "w"));
	EXPECT_EQ(EACCES, ask(&self->t.s, "rename", BOTTOM("ws/sub", "f"),
			      BOTTOM("ws/sub", "absent")));
	EXPECT_EQ(0, ask(&self->t.s, "rename", BOTTOM("ws/sub", "f"),
			 BOTTOM("ws/sub", "g")));
	EXPECT_EQ(0, ask(&self->t.twin, "open", BOTTOM("ws/secret", "f"), "r"));
}

/* Beyond PATH_MAX: no path reaches it, a descriptor does. */
FIXTURE(abyss) {
	struct trees t;
};

FIXTURE_VARIANT(abyss) {
	int depth;
	bool walked;		/* a walk comes to its end */
};

FIXTURE_VARIANT_ADD(abyss, beyond_a_path) {
	.depth = 5000, .walked = true,
};

FIXTURE_VARIANT_ADD(abyss, beyond_a_walk) {
	.depth = LH_WALK_MAX + 100,
};

FIXTURE_SETUP(abyss)
{
	ASSERT_EQ(0, set_up(&self->t, variant->depth, 3));
}

FIXTURE_TEARDOWN(abyss)
{
	session_end(&self->t.twin);
	EXPECT_EQ(0, session_end(&self->t.s));
	tear_down(&self->t);
}

/* The next record: whose path is cut, and ends in @name. */
static void told(struct __test_metadata *_metadata, struct session *s,
		 const char *operation, const char *reason, const char *name)
{
	struct denial d;
	size_t len;

	ASSERT_EQ(0, denial_next(s, &d));
	len = strlen(d.path);
	EXPECT_STREQ(operation, d.operation);
	EXPECT_STREQ(reason, d.reason);
	EXPECT_TRUE(d.cut);
	EXPECT_EQ(0, strncmp(d.path, "/.../d/d/", 9));
	ASSERT_LT(strlen(name), len);
	EXPECT_STREQ(name, d.path + len - strlen(name));
	EXPECT_NE(NULL, strstr(d.exe, "/tests/lsm/probe"));
}

TEST_F(abyss, is_judged_or_refused_with_its_reason)
{
	bool walked = variant->walked;
	struct session *s = &self->t.s;

	EXPECT_EQ(EACCES, BELOW("secret", "open", "f", "r"));
	told(_metadata, s, "open", walked ? "denied" : "unfinished", "/d/d/f");
	EXPECT_EQ(EACCES, BELOW("secret", "stat", "f"));
	told(_metadata, s, "stat", walked ? "denied" : "unfinished", "/d/d/f");
	EXPECT_EQ(EACCES, BELOW("lib", "write", "new", "x"));
	told(_metadata, s, "create", walked ? "read_only" : "unfinished",
	     "/d/d/new");
	EXPECT_EQ(walked ? 0 : EACCES, BELOW("lib", "open", "f", "r"));
	if (!walked)
		told(_metadata, s, "open", "unfinished", "/d/d/f");
	EXPECT_EQ(walked ? 0 : EACCES, BELOW("sub", "write", "new", "x"));
	if (!walked)
		told(_metadata, s, "create", "unfinished", "/d/d/new");
	EXPECT_EQ(walked ? 0 : EACCES, BELOW("sub", "mkdir", "made"));
	if (!walked)
		told(_metadata, s, "mkdir", "unfinished", "/d/d/made");
	/* and up there all goes on */
	EXPECT_EQ(0, ask(s, "write", "sub/new", "x"));
	EXPECT_EQ(0, ask(s, "list", "lib"));
	EXPECT_EQ(EACCES, ask(s, "list", "secret"));
	EXPECT_EQ(0, TWIN("secret", "open", "f", "r"));
	EXPECT_EQ(0, TWIN("lib", "write", "new", "x"));
}

/* Components as long as there are: 14 of them, and what a path still holds. */
FIXTURE(longest) {
	struct trees t;
	char a[14 * 256 + 1];	/* "/aaa…/aaa…" */
};

static int make_path(const struct world *w, const char *top, const char *down)
{
	char path[4400];
	size_t n = snprintf(path, sizeof(path), "%s/%s%s/", w->dir, top, down);

	for (char *p = path + strlen(w->dir) + 1; p < path + n; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		if (mkdir(path, 0755) && errno != EEXIST)
			return -errno;
		if (chown(path, w->uid, w->gid))
			return -errno;
		*p = '/';
	}
	return 0;
}

FIXTURE_SETUP(longest)
{
	struct world *w = world_make(TEST_USER);
	struct policy p = { 0 };
	char deny[8400];

	self->t.w = w;
	ASSERT_NE(NULL, w);
	for (int i = 0; i < 14; i++) {
		self->a[256 * i] = '/';
		memset(self->a + 256 * i + 1, 'a', 255);
	}
	ASSERT_EQ(0, make_path(w, "ws/sub", self->a));
	ASSERT_EQ(0, make_path(w, "outside", self->a));
	ASSERT_EQ(0, world_file(w, bottom(w, "ws/sub", self->a, "deny/f"),
				"TEXT"));
	/* one that is there, and one of which eight components are not */
	snprintf(deny, sizeof(deny), ",\"%s/ws/sub%s/deny\",\"%s/ws/x%s\"",
		 w->dir, self->a, w->dir, self->a + 7 * 256);
	p.deny = deny;
	ASSERT_EQ(0, policy_write(w, &p));
	ASSERT_EQ(0, session_start(&self->t.s, w, "s", NULL));
	ASSERT_EQ(0, twin_start(&self->t.twin, w));
}

FIXTURE_TEARDOWN(longest)
{
	session_end(&self->t.twin);
	EXPECT_EQ(0, session_end(&self->t.s));
	tear_down(&self->t);
}

TEST_F(longest, names_are_judged_to_their_last_byte)
{
	struct world *w = self->t.w;
	struct session *s = &self->t.s;
	char x[8 * 256], other[8 * 256];

	EXPECT_EQ(EACCES, ask(s, "open", bottom(w, "ws/sub", self->a, "deny/f"),
			      "r"));
	EXPECT_TRUE(denied(s, "open", bottom(w, "ws/sub", self->a, "deny/f"),
			   "read_deny_roots/2"));
	EXPECT_EQ(0, ask(s, "write", bottom(w, "ws/sub", self->a, "den"), "x"));
	/* the names that are not there, one by one */
	snprintf(x, sizeof(x), "x%s", self->a + 8 * 256);
	for (int i = 0; i < 6; i++) {
		x[1 + 256 * i] = 0;
		EXPECT_EQ(0, ask(s, "mkdir", x)) {
			TH_LOG("%d", i);
		}
		x[1 + 256 * i] = '/';
	}
	strcpy(other, x);
	other[strlen(other) - 1] = 'b';
	EXPECT_EQ(0, ask(s, "mkdir", x));
	strcat(x, "/");
	strcat(x, self->a + 13 * 256 + 1);
	EXPECT_EQ(EACCES, ask(s, "mkdir", x));
	EXPECT_TRUE(denied(s, "mkdir", NULL, "read_deny_roots/3"));
	EXPECT_EQ(0, ask(s, "mkdir", other));
	x[strlen(x) - 1] = 'b';
	EXPECT_EQ(0, ask(s, "mkdir", x));
	EXPECT_EQ(0, ask(&self->t.twin, "open",
			 bottom(w, "ws/sub", self->a, "deny/f"), "r"));
}

/* A path of PATH_MAX - 1 bytes below @top. */
static const char *fill(const struct world *w, const char *top, const char *a,
			char last)
{
	static char path[2][PATH_MAX + 1];
	static int turn;
	char *p = path[turn ^= 1];
	size_t n = snprintf(p, sizeof(path[0]), "%s/%s%s/", w->dir, top, a);

	while (n < PATH_MAX - 1 - 200) {
		memset(p + n, 'c', 199);
		p[n + 199] = 0;
		if (mkdir(p, 0755) && errno != EEXIST)
			return NULL;
		if (chown(p, w->uid, w->gid))
			return NULL;
		p[n + 199] = '/';
		n += 200;
	}
	memset(p + n, last, PATH_MAX - 1 - n);
	p[PATH_MAX - 1] = 0;
	return p;
}

TEST_F(longest, the_longest_path_is_told_whole)
{
	struct world *w = self->t.w;
	struct session *s = &self->t.s;
	const char *to = fill(w, "outside", self->a, 'e');
	const char *from = fill(w, "ws/sub", self->a, 'f');
	struct denial d;

	ASSERT_NE(NULL, to);
	ASSERT_NE(NULL, from);
	EXPECT_EQ(PATH_MAX - 1, strlen(from));
	EXPECT_EQ(0, ask(s, "open", from, "wc"));
	EXPECT_EQ(EACCES, ask(s, "open", to, "wc"));
	ASSERT_EQ(0, denial_next(s, &d));
	EXPECT_STREQ("create", d.operation);
	EXPECT_STREQ(to, d.path);
	EXPECT_FALSE(d.cut);
	/* two of them are more than a record holds; who it was is told */
	EXPECT_EQ(EACCES, ask(s, "rename", from, to));
	ASSERT_EQ(0, denial_next(s, &d));
	EXPECT_STREQ("rename", d.operation);
	EXPECT_STREQ(to, d.path);
	EXPECT_TRUE(d.cut);
	EXPECT_EQ(0, strncmp(d.other, "/.../", 5));
	EXPECT_STREQ(from + strlen(from) - 200,
		     d.other + strlen(d.other) - 200);
	EXPECT_NE(NULL, strstr(d.exe, "/tests/lsm/probe"));
	EXPECT_EQ(0, ask(&self->t.twin, "rename", from, to));
	EXPECT_TRUE(quiet(s));
}

TEST_HARNESS_MAIN
