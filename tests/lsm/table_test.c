// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each tests/policy/tables/NAME.table, asked of the kernel: over the files of
 * NAME.setup, in a session under NAME.json, a row is refused or let through as
 * it says, with the rule and the reason that `lh-policy test` gave. Outside of
 * the session nothing of it is refused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <glob.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <yajl/yajl_tree.h>

#include "kselftest_harness.h"
#include "session.h"

#define TABLES "tests/policy/tables"
#define ROWS_MAX 128

/* What lh-policy said of one row, and what the kernel did. */
struct row {
	const char *operation, *path, *other, *object, *other_object;
	const char *verdict, *rule, *reason;
	bool passed;
	long long line;
	int err;
};

FIXTURE(table) {
	struct world w;
	const char *name;
	yajl_val said;
	struct row row[ROWS_MAX];
	size_t count;
};

FIXTURE_VARIANT(table) {
	const char *name;
};

#define TABLE(name_) FIXTURE_VARIANT_ADD(table, name_) { .name = #name_ }

TABLE(basic);
TABLE(credentials);
TABLE(delete);
TABLE(deny);
TABLE(links);
TABLE(noexec);
TABLE(none);
TABLE(optional);
TABLE(presets);
TABLE(protect);
TABLE(read_only);
TABLE(readonly);
TABLE(worktree);

static const char *home(void)
{
	return getpwnam(TEST_USER)->pw_dir;
}

static const char *build(void)
{
	return getenv("B") ? getenv("B") : "build";
}

__attribute__((format(printf, 1, 2)))
static int run(const char *fmt, ...)
{
	char command[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	return system(command);
}

/* The files, as the session's user would have made them. */
static int make_world(struct world *w, const char *name)
{
	const struct passwd *pw = getpwnam(TEST_USER);

	if (!pw)
		return -1;
	snprintf(w->dir, sizeof(w->dir), "/tmp/table.XXXXXX");
	snprintf(w->user, sizeof(w->user), "%s", TEST_USER);
	w->uid = pw->pw_uid;
	w->gid = pw->pw_gid;
	if (!mkdtemp(w->dir) || chmod(w->dir, 0755) ||
	    chown(w->dir, w->uid, w->gid) || world_dir(w, at(w, "log")))
		return -1;
	return run("cd %s && umask 022 && HOME=%s TOOL=%s/tests/lsm/probe "
		   "setpriv --reuid %u --regid %u --init-groups "
		   "sh -eu \"$OLDPWD/" TABLES "/%s.setup\" && "
		   "cp \"$OLDPWD/" TABLES "/%s.json\" log/policy.json",
		   w->dir, home(), build(), w->uid, w->gid, name, name);
}

static const char *text(yajl_val v, const char *key)
{
	const char *path[] = { key, NULL };
	yajl_val m = yajl_tree_get(v, path, yajl_t_string);

	return m ? YAJL_GET_STRING(m) : NULL;
}

/* lh-policy test, over the same files. */
static int predict(FIXTURE_DATA(table) *s)
{
	const char *rows[] = { "rows", NULL }, *line[] = { "line", NULL },
		*passed[] = { "passed", NULL };
	static char all[1 << 18];
	char why[256];
	yajl_val list, v;
	FILE *f;
	size_t n;

	if (run("%s/lh-policy test --json %s " TABLES "/%s.table -C %s "
		"--user %s >%s 2>%s", build(), at(&s->w, "log/policy.json"),
		s->name, at(&s->w, "ws"), TEST_USER, at(&s->w, "log/said"),
		at(&s->w, "log/wrong")) == -1)
		return -1;
	f = fopen(at(&s->w, "log/said"), "re");
	n = f ? fread(all, 1, sizeof(all) - 1, f) : 0;
	if (f)
		fclose(f);
	all[n] = 0;
	s->said = yajl_tree_parse(all, why, sizeof(why));
	list = s->said ? yajl_tree_get(s->said, rows, yajl_t_array) : NULL;
	if (!list || !YAJL_GET_ARRAY(list)->len ||
	    YAJL_GET_ARRAY(list)->len > ROWS_MAX)
		return -1;
	for (n = 0; n < YAJL_GET_ARRAY(list)->len; n++) {
		v = YAJL_GET_ARRAY(list)->values[n];
		s->row[n] = (struct row){
			.operation = text(v, "operation"),
			.path = text(v, "path"),
			.other = text(v, "other_path"),
			.object = text(v, "object"),
			.other_object = text(v, "other_object"),
			.verdict = text(v, "verdict"),
			.rule = text(v, "rule"), .reason = text(v, "reason"),
			.line = YAJL_GET_INTEGER(yajl_tree_get(v, line,
							yajl_t_number)),
			.passed = yajl_tree_get(v, passed, yajl_t_true),
		};
	}
	s->count = n;
	return 0;
}

FIXTURE_SETUP(table)
{
	struct stat st;

	self->name = variant->name;
	/* A home of its own, that no other test sees. */
	ASSERT_EQ(0, stat(home(), &st));
	ASSERT_EQ(0, mount("home", home(), "tmpfs", 0, "mode=755"));
	ASSERT_EQ(0, chown(home(), st.st_uid, st.st_gid));
	ASSERT_EQ(0, make_world(&self->w, variant->name));
	ASSERT_EQ(0, predict(self)) {
		run("cat %s >&2", at(&self->w, "log/wrong"));
	}
}

FIXTURE_TEARDOWN(table)
{
	yajl_tree_free(self->said);
	umount2(home(), MNT_DETACH);
	run("rm -rf %s", self->w.dir);
}

/* --- a row, and all as it was before */

/* A name that may go or be replaced: another one keeps what it names. */
struct keep {
	const char *path;
	char spare[128];
	struct stat st;
	bool there;
};

static void keep(const struct world *w, struct keep *k, const char *path,
		 const char *spare)
{
	*k = (struct keep){ .path = path };
	snprintf(k->spare, sizeof(k->spare), "%s", at(w, "log/%s", spare));
	k->there = path && !lstat(path, &k->st);
	if (!k->there || S_ISDIR(k->st.st_mode) || !link(path, k->spare))
		return;
	/* The home is a file system of its own. */
	snprintf(k->spare, sizeof(k->spare), "%s/spare-%s", home(), spare);
	if (link(path, k->spare))
		*k->spare = 0;
}

static void restore(const struct world *w, const struct keep *k)
{
	struct stat st;
	bool same;

	if (!k->path)
		return;
	same = k->there && !lstat(k->path, &st) && st.st_ino == k->st.st_ino &&
	       st.st_dev == k->st.st_dev;
	if (!same && !k->there) {
		remove(k->path);
	} else if (!same && S_ISDIR(k->st.st_mode)) {
		remove(k->path);
		if (!mkdir(k->path, 0755))
			same = !chown(k->path, w->uid, w->gid);
	} else if (!same) {
		remove(k->path);
		same = !rename(k->spare, k->path);
	}
	if (*k->spare)
		unlink(k->spare);
}

static int act(struct session *s, const struct row *row)
{
	bool moves = !strcmp(row->operation, "rename");
	const char *path = row->path;
	struct keep one, two;
	int err;

	if (!strncmp(path, "unix:", 5))
		path = row->object;
	/* A create makes what the last link leads to. */
	keep(s->w, &one, *path != '/' ? NULL :
	     !strcmp(row->operation, "create") ? row->object : path, "one");
	keep(s->w, &two, row->other, "two");
	err = row->other ? ask(s, "table", row->operation, row->path,
			       row->other) :
		ask(s, "table", row->operation, row->path);
	if (moves && !err)
		err = rename(row->other, row->path) ? -2 : 0;
	restore(s->w, &one);
	restore(s->w, &two);
	return err;
}

/* Not a refusal, but what the file itself answers later. */
static bool let_through(int err)
{
	return err == 0 || err == ENXIO || err == ENOTEMPTY || err == ENOEXEC;
}

static bool is_allowed(const struct row *row)
{
	return !strcmp(row->verdict, "allow");
}

/* The records are those of the refused rows, in their order. */
static void check_records(struct __test_metadata *_metadata,
			  FIXTURE_DATA(table) *self, struct session *s)
{
	struct denial d = { 0 };
	long long left = 0;
	size_t i;

	for (i = 0; i < self->count; i++) {
		const struct row *row = &self->row[i];
		bool no_exec = !strcmp(row->reason, "no_exec");

		if (is_allowed(row))
			continue;
		/* Alike in all, they are one with a count. */
		if (!left) {
			ASSERT_EQ(0, denial_now(s, &d)) {
				TH_LOG("%s.table:%lld: no record", self->name,
				       row->line);
			}
			left = d.count;
		}
		left--;
		EXPECT_STREQ(row->reason, d.reason) {
			TH_LOG("%s.table:%lld: %s %s", self->name, row->line,
			       row->operation, row->path);
		}
		/* That is a switch of the session, and no rule of a place. */
		EXPECT_STREQ(no_exec ? "default" : row->rule, d.rule) {
			TH_LOG("%s.table:%lld: %s %s: record of %s %s",
			       self->name, row->line, row->operation,
			       row->path, d.operation, d.path);
		}
	}
	EXPECT_EQ(0, left);
	EXPECT_TRUE(quiet(s));
}

TEST_F(table, the_kernel_does_what_lh_policy_test_says)
{
	struct session s, twin;
	size_t i;

	ASSERT_EQ(0, session_start(&s, &self->w, "s", NULL));
	ASSERT_EQ(0, twin_start(&twin, &self->w));
	for (i = 0; i < self->count; i++) {
		struct row *row = &self->row[i];
		int outside;

		EXPECT_TRUE(row->passed) {
			TH_LOG("%s.table:%lld: lh-policy: %s by %s",
			       self->name, row->line, row->verdict, row->rule);
		}
		row->err = act(&s, row);
		outside = act(&twin, row);
		EXPECT_EQ(is_allowed(row), let_through(row->err)) {
			TH_LOG("%s.table:%lld: %s %s %s: lh-policy says %s, the kernel %s",
			       self->name, row->line, row->operation,
			       row->path, row->other ? row->other : "",
			       row->verdict, strerror(row->err));
		}
		if (!is_allowed(row))
			EXPECT_TRUE(row->err == EACCES || row->err == EPERM) {
				TH_LOG("%s.table:%lld: %s", self->name,
				       row->line, strerror(row->err));
			}
		EXPECT_TRUE(let_through(outside)) {
			TH_LOG("%s.table:%lld: %s %s outside: %s", self->name,
			       row->line, row->operation, row->path,
			       strerror(outside));
		}
	}
	session_end(&twin);
	EXPECT_EQ(0, session_end(&s));
	check_records(_metadata, self, &s);
}

/* Whoever adds a table has it asked here too. */
TEST(no_table_is_left_out)
{
	size_t i, tables = 0;
	glob_t all;

	for (struct __fixture_variant_metadata *v =
	     _table_fixture_object.variant; v; v = v->next)
		tables++;
	ASSERT_EQ(0, glob(TABLES "/*.table", 0, NULL, &all));
	EXPECT_EQ(tables, all.gl_pathc) {
		for (i = 0; i < all.gl_pathc; i++)
			TH_LOG("%s", all.gl_pathv[i]);
	}
	globfree(&all);
}

TEST_HARNESS_MAIN
