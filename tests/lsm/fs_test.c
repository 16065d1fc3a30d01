// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every operation against every kind of place. A place is a directory with the
 * same things in it; a session acts there, then its twin outside does the same
 * beside the live session. What differs may only be what the policy says.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "twins.h"

/*
 *   DIR/ws/sub      workspace             read, write, exec
 *   DIR/ws/lib/sub  read-only in it       read
 *   DIR/ro/sub      read-only root        read
 *   DIR/outside/sub no root               stat alone
 *   DIR/ws/secret   denied in it          nothing
 *
 * In each: f (a file), f2, f3, d (an empty directory), l -> f, tool (a program)
 */
enum want { READ, LOOK, RUN, CHANGE, CHANGE_OUT };

struct act {
	const char *op;
	const char *a, *b;	/* "P/x" is in the place, "W/x" in ws */
	const char *more;
	enum want want;
	const char *record;	/* operation of the refusal's record */
};

static const struct act acts[] = {
	{ "open", "P/f", "r", NULL, READ, "open" },
	{ "openat2", "P/f", "r", "0", READ, "open" },
	{ "openat2", "P/f", "r", "8", READ, NULL },	/* BENEATH: EXDEV */
	{ "reopen", "P/f", "r", NULL, READ, "open" },
	{ "openat", "P", "f", "r", READ, "open" },
	{ "fchdir", "P", "f", "r", READ, "open" },
	{ "open", "P", "rd", NULL, READ, "open" },
	{ "list", "P", NULL, NULL, READ, "open" },
	{ "mmap", "P/f", "r", NULL, READ, "open" },
	{ "copy", "P/f", "W/copied", NULL, READ, "open" },
	{ "stat", "P/f", NULL, NULL, LOOK, "stat" },
	{ "lstat", "P/l", NULL, NULL, LOOK, "stat" },
	{ "fstat", "P/f", NULL, NULL, LOOK, "stat" },
	{ "exec", "P/tool", "pid", NULL, RUN, "exec" },
	{ "open", "P/f", "w", NULL, CHANGE, "open" },
	{ "open", "P/f", "+", NULL, CHANGE, "open" },
	{ "open", "P/f", "wa", NULL, CHANGE, "open" },
	{ "open", "P/f", "rt", NULL, CHANGE, "open" },	/* empties it */
	{ "inotify", "P", NULL, NULL, READ, "watch" },
	{ "mmap", "P/f", "w", NULL, CHANGE, "open" },
	{ "ftruncate", "P/f", NULL, NULL, CHANGE, "open" },
	{ "truncate", "P/f", NULL, NULL, CHANGE, "truncate" },
	{ "chmod", "P/f", "600", NULL, CHANGE, "chmod" },
	{ "chmod", "P/d", "700", NULL, CHANGE, "chmod" },
	{ "chown", "P/f", NULL, NULL, CHANGE, "chown" },
	{ "open", "P/n1", "wc", NULL, CHANGE, "create" },
	{ "open", "P/n2", "wcx", NULL, CHANGE, "create" },
	{ "write", "P/n3", "x", NULL, CHANGE, "create" },
	{ "copy", "W/file", "P/n4", NULL, CHANGE, "create" },
	{ "mkdir", "P/n5", NULL, NULL, CHANGE, "mkdir" },
	{ "mknod", "P/n6", "f", NULL, CHANGE, "mknod" },
	{ "mknod", "P/n7", "s", NULL, CHANGE, "mknod" },
	{ "mknod", "P/n8", "r", NULL, CHANGE, "create" },
	{ "symlink", "f", "P/n9", NULL, CHANGE, "symlink" },
	{ "tmpfile", "P", NULL, NULL, CHANGE, "open" },
	{ "link", "W/file", "P/n10", NULL, CHANGE, "link" },
	{ "rename", "W/x1", "P/n11", NULL, CHANGE, "rename" },
	{ "rename", "W/x2", "P/f", NULL, CHANGE, "rename" },
	{ "rename", "W/x3", "P/f", "x", CHANGE, "rename" },
	{ "rename", "W/x4d", "P/n12", NULL, CHANGE, "rename" },
	{ "unixfile", "P/n13", NULL, NULL, CHANGE, "mknod" },
	{ "link", "P/f", "W/n14", NULL, CHANGE_OUT, "link" },
	{ "linkfd", "P/f", "W/n15", NULL, CHANGE_OUT, "link" },
	{ "rename", "P/f2", "W/n16", NULL, CHANGE_OUT, "rename" },
	{ "rename", "P/d", "W/n17", NULL, CHANGE_OUT, "rename" },
	{ "rename", "P/d2", "W/file", "x", CHANGE_OUT, "rename" },
	{ "unlink", "P/f3", NULL, NULL, CHANGE, "unlink" },
	{ "unlink", "P/l", NULL, NULL, CHANGE, "unlink" },
	{ "rmdir", "P/d3", NULL, NULL, CHANGE, "rmdir" },
};

TWINS(fs);

/* Put everything that the acts need where they need it. */
static int furnish(const struct world *w, const char *place)
{
	static const char *const in_place[] = { "f", "f2", "f3" };
	static const char *const in_ws[] = { "file", "x1", "x2", "x3" };
	static const char *const dirs[] = { "d", "d2", "d3" };
	char copy[2048];
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(in_place); i++)
		err |= world_file(w, at(w, "%s/%s", place, in_place[i]), "TEXT");
	for (size_t i = 0; i < ARRAY_SIZE(in_ws); i++)
		err |= world_file(w, at(w, "ws/%s", in_ws[i]), "TEXT");
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		err |= world_dir(w, at(w, "%s/%s", place, dirs[i]));
	err |= world_dir(w, at(w, "ws/x4d"));
	if (!exists(at(w, "%s/l", place)))
		err |= symlink("f", at(w, "%s/l", place)) ||
		       lchown(at(w, "%s/l", place), w->uid, w->gid);
	snprintf(copy, sizeof(copy), "cp %s/tests/lsm/probe %s && chmod 755 %s",
		 getenv("B") ? getenv("B") : "build", at(w, "%s/tool", place),
		 at(w, "%s/tool", place));
	return err | system(copy);
}

/* Away with what the acts made, so that they can be made again. */
static void clear_new(const struct world *w, const char *place)
{
	for (int i = 1; i < 20; i++) {
		remove(at(w, "%s/n%d", place, i));
		remove(at(w, "ws/n%d", i));
	}
	remove(at(w, "ws/copied"));
	remove(at(w, "ws/file"));	/* may be a directory by now */
}

static bool untouched(const struct world *w, const char *place)
{
	struct stat st;

	for (int i = 1; i < 20; i++)
		if (exists(at(w, "%s/n%d", place, i)))
			return false;
	return holds(at(w, "%s/f", place), "TEXT") &&
	       holds(at(w, "%s/f2", place), "TEXT") &&
	       holds(at(w, "%s/f3", place), "TEXT") &&
	       exists(at(w, "%s/l", place)) && exists(at(w, "%s/d3", place)) &&
	       !stat(at(w, "%s/f", place), &st) && (st.st_mode & 07777) == 0644 &&
	       !stat(at(w, "%s/d", place), &st) && (st.st_mode & 07777) == 0755;
}

static const char *put(const struct world *w, const char *place, const char *a)
{
	if (a && a[0] == 'P')
		return at(w, "%s%s", place, a + 1);
	if (a && a[0] == 'W' && a[1] == '/')
		return at(w, "ws%s", a + 1);
	return a;
}

static int act(struct session *s, const char *place, const struct act *a)
{
	return ask(s, a->op, put(s->w, place, a->a), put(s->w, place, a->b),
		   put(s->w, place, a->more));
}

/* What a place grants: one bit for each enum want. */
#define GRANTS(want) (1u << (want))

static void try_all(struct __test_metadata *_metadata, struct session *s,
		    struct session *twin, const char *place,
		    unsigned int grants)
{
	ASSERT_EQ(0, furnish(s->w, place));
	for (size_t i = 0; i < ARRAY_SIZE(acts); i++) {
		const struct act *a = &acts[i];
		bool granted = grants & GRANTS(a->want);
		int err = act(s, place, a);

		if (!a->record) {
			/* The call itself refuses; it must not be let in. */
			EXPECT_NE(0, err);
			continue;
		}
		EXPECT_EQ(granted ? 0 : EACCES, err) {
			TH_LOG("%s %s %s in %s", a->op, a->a,
			       a->b ? a->b : "", place);
		}
		if (!granted && err == EACCES) {
			EXPECT_TRUE(denied(s, a->record, NULL, NULL)) {
				TH_LOG("%s %s in %s", a->op, a->a, place);
			}
		}
	}
	if (!(grants & GRANTS(CHANGE))) {
		EXPECT_TRUE(untouched(s->w, place));
	}
	/* The twin: the same, outside, beside the live session. */
	clear_new(s->w, place);
	ASSERT_EQ(0, furnish(s->w, place));
	for (size_t i = 0; i < ARRAY_SIZE(acts); i++) {
		if (!acts[i].record)
			continue;
		EXPECT_EQ(0, act(twin, place, &acts[i])) {
			TH_LOG("outside: %s %s in %s", acts[i].op, acts[i].a,
			       place);
		}
	}
}

#define ALL (GRANTS(READ) | GRANTS(LOOK) | GRANTS(RUN) | GRANTS(CHANGE) | \
	     GRANTS(CHANGE_OUT))

TEST_F(fs, a_workspace_is_read_written_and_run)
{
	try_all(_metadata, &self->s, &self->twin, "ws/sub", ALL);
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(fs, a_read_only_root_is_read_and_never_written)
{
	try_all(_metadata, &self->s, &self->twin, "ro/sub",
		GRANTS(READ) | GRANTS(LOOK) | GRANTS(RUN));
}

TEST_F(fs, a_read_only_root_inside_a_workspace_is_never_written)
{
	try_all(_metadata, &self->s, &self->twin, "ws/lib/sub",
		GRANTS(READ) | GRANTS(LOOK) | GRANTS(RUN));
}

/* A memory file may be opened again; of others the kernel says what it says. */
TEST_F(fs, what_has_no_place_in_the_tree_is_the_sessions_own)
{
	static const char *const kinds[] = {
		"memfd", "pipe", "tmpfile", "pidfd", "eventfd",
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		int err = ask(&self->twin, "again", kinds[i]);

		EXPECT_EQ(err, ask(&self->s, "again", kinds[i])) {
			TH_LOG("%s: %d", kinds[i], self->s.reply.err);
		}
		EXPECT_EQ(i < 3, !err);
	}
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(fs, what_no_root_names_is_only_looked_at)
{
	try_all(_metadata, &self->s, &self->twin, "outside/sub",
		GRANTS(LOOK));
}

TEST_F(fs, a_denied_directory_inside_a_workspace_shows_nothing)
{
	try_all(_metadata, &self->s, &self->twin, "ws/secret", 0);
}

TEST_F(fs, a_place_below_a_denied_directory_shows_nothing)
{
	try_all(_metadata, &self->s, &self->twin, "ws/secret/deep", 0);
}

/* The deny names it; nothing is there when the session starts. */
TEST_F(fs, a_directory_that_the_host_makes_later_is_denied)
{
	ASSERT_EQ(0, world_dir(self->w, at(self->w, "ws/late/secret/sub")));
	try_all(_metadata, &self->s, &self->twin, "ws/late/secret/sub", 0);
}

TEST_F(fs, a_credential_that_the_host_makes_later_is_denied)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/.aws/credentials",
		 !strcmp(self->w->user, "root") ? getenv("HOME") ? getenv("HOME")
		 : "/root" : "/tmp/home-" TEST_USER);
	if (self->w->uid == 0) {
		/* root's home is read-only here: its list is checked by stat */
		EXPECT_EQ(EACCES, ask(&self->s, "open", "/etc/shadow", "r"));
		EXPECT_TRUE(denied(&self->s, "open", "/etc/shadow",
				   "builtin:credentials"));
		return;
	}
	EXPECT_EQ(ENOENT, ask(&self->s, "open", path, "r"));
	ASSERT_EQ(0, mkdir("/tmp/home-" TEST_USER "/.aws", 0755));
	ASSERT_EQ(0, system("echo KEY >/tmp/home-" TEST_USER
			    "/.aws/credentials"));
	EXPECT_EQ(EACCES, ask(&self->s, "open", path, "r"));
	EXPECT_TRUE(denied(&self->s, "open", path,
			   "builtin:credentials/.aws"));
	EXPECT_EQ(0, ask(&self->twin, "open", path, "r"));
	ASSERT_EQ(0, system("rm -r /tmp/home-" TEST_USER "/.aws"));
}

TEST_HARNESS_MAIN
