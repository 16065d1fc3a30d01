// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk over a tree that is only written down, and what explain says of
 * paths.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../policy-compiler/build.h"
#include "../../policy-compiler/entry.h"
#include "../../policy-compiler/trail.h"
#include "kselftest_harness.h"

/* One step of a way. */
#define AT(name_, object_) { .name = (name_), .object = (object_) }

#define RW (LH_ROOT_READ | LH_ROOT_WRITE)
#define DENY LH_ROOT_DENY

/* --- a tree that is only written down */

/* /ws/a/b with one table; object i has descriptor 100 + i. */
struct paper {
	struct lh_item items[16];
	struct table_object objects[8];
	struct table t;
};

static void paper_init(struct paper *p)
{
	memset(p, 0, sizeof(*p));
	p->t.items = p->items;
	p->t.objects = p->objects;
}

static size_t paper_root(struct paper *p, uint32_t flags, uint32_t self,
			 uint64_t lens, uint16_t rule)
{
	size_t i = p->t.object_count++;

	p->objects[i].fd = 100 + i;
	p->items[p->t.count++] = (struct lh_item){
		.kind = LH_ITEM_ROOT, .fd = 100 + i,
		.root = {
			.flags = flags, .self = self, .name_lens = lens,
			.rule_read = rule, .rule_write = rule,
			.rule_deny = rule, .rule_self = rule,
		},
	};
	return i;
}

static void paper_name(struct paper *p, size_t object, uint64_t parent,
		       const char *name, struct lh_name n)
{
	p->items[p->t.count++] = (struct lh_item){
		.kind = LH_ITEM_NAME, .parent = parent,
		.fd = object == TRAIL_NO_OBJECT ? -1 : (int)(100 + object),
		.hash = entry_name_hash(name, strlen(name)), .name = n,
	};
}

static uint64_t len_of(const char *name)
{
	return lh_len_bit(strlen(name));
}

TEST(an_empty_way_grants_nothing)
{
	struct paper p;
	struct trail_result r;
	struct trail_step top = AT("", TRAIL_NO_OBJECT);

	paper_init(&p);
	r = trail_walk(&p.t, &top, 1, LH_READ, false);
	EXPECT_EQ(LH_WHY_NOT_GRANTED, r.verdict.why);
	EXPECT_FALSE(r.met);
	r = trail_walk(&p.t, &top, 0, LH_READ, false);
	EXPECT_EQ(LH_WHY_NOT_GRANTED, r.verdict.why);
}

/* Of devices and of the kernel's own file systems, see look.c. */
TEST(beyond_the_steps_that_can_grant_only_denies_hold)
{
	struct paper p;
	size_t top, dir, no = TRAIL_NO_OBJECT;

	paper_init(&p);
	top = paper_root(&p, LH_ROOT_READ, 0, 0, 1);
	dir = paper_root(&p, LH_ROOT_READ, 0, 0, 2);
	{
		struct trail_step s[] = { AT("f", no), AT("dir", dir),
					  AT("", top) };

		EXPECT_EQ(2, trail_walk_part(&p.t, s, 3, 2, LH_READ,
					     false).verdict.rule);
		EXPECT_EQ(LH_WHY_NOT_GRANTED,
			  trail_walk_part(&p.t, s, 3, 1, LH_READ,
					  false).verdict.why);
		p.t.items[0].root.flags |= LH_ROOT_DENY;
		EXPECT_EQ(LH_WHY_DENIED,
			  trail_walk_part(&p.t, s, 3, 1, LH_READ,
					  false).verdict.why);
	}
}

TEST(names_are_met_along_the_way_and_nowhere_else)
{
	struct paper p;
	size_t ws, no = TRAIL_NO_OBJECT;
	struct trail_result r;

	paper_init(&p);
	ws = paper_root(&p, RW | LH_ROOT_ANCHOR, 0, len_of("sec"), 1);
	paper_name(&p, ws, 0, "sec", (struct lh_name){
		.flags = LH_NAME_PARTIAL, .rule = 2, .node = 1,
		.name_lens = len_of("key"),
	});
	paper_name(&p, no, 1, "key", (struct lh_name){
		.flags = LH_NAME_DENY, .rule = 3,
	});
	{
		struct trail_step s[] = { AT("f", no), AT("key", no),
					  AT("sec", no), AT("ws", ws),
					  AT("", no) };

		r = trail_walk(&p.t, s, 5, LH_READ, false);
		EXPECT_EQ(LH_WHY_DENIED, r.verdict.why);
		EXPECT_EQ(3, r.verdict.rule);
		EXPECT_EQ(1, r.step);
		/* the directory on the way, as an object */
		r = trail_walk(&p.t, s + 2, 3, LH_MOVE, false);
		EXPECT_EQ(LH_WHY_PINNED, r.verdict.why);
		EXPECT_EQ(2, r.verdict.rule);
		r = trail_walk(&p.t, s + 2, 3, LH_WRITE, false);
		EXPECT_EQ(LH_WHY_ALLOW, r.verdict.why);
	}
	{
		/* not below the anchor, not in this order, not as long */
		struct trail_step a[] = { AT("key", no), AT("ws", ws),
					  AT("", no) };
		struct trail_step b[] = { AT("sec", no), AT("key", no),
					  AT("ws", ws), AT("", no) };
		struct trail_step c[] = { AT("keys", no), AT("sec", no),
					  AT("ws", ws), AT("", no) };
		struct trail_step d[] = { AT("key", no), AT("x", no),
					  AT("sec", no), AT("ws", ws) };

		EXPECT_EQ(LH_WHY_ALLOW, trail_walk(&p.t, a, 3, LH_READ,
				     false).verdict.why);
		EXPECT_EQ(LH_WHY_ALLOW, trail_walk(&p.t, b, 4, LH_READ,
				     false).verdict.why);
		EXPECT_EQ(LH_WHY_ALLOW, trail_walk(&p.t, c, 4, LH_READ,
				     false).verdict.why);
		EXPECT_EQ(LH_WHY_ALLOW, trail_walk(&p.t, d, 4, LH_READ,
				     false).verdict.why);
	}
}

/* al shows sec, which is denied by its name below ws: denies hold there too. */
TEST(beside_a_bind_mount_denies_hold_and_grants_do_not)
{
	struct paper p;
	size_t ws, other, no = TRAIL_NO_OBJECT;

	paper_init(&p);
	ws = paper_root(&p, RW | LH_ROOT_ANCHOR, 0, len_of("sec"), 1);
	other = paper_root(&p, RW, 0, 0, 2);
	paper_name(&p, ws, 0, "sec", (struct lh_name){
		.flags = LH_NAME_DENY, .rule = 3,
	});
	{
		struct trail_step s[] = {
			AT("f", no),
			{ .name = "sec", .object = no, .mounted = true },
			{ .name = "ws", .object = ws, .aside = true },
			AT("al", no), AT("x", other), AT("", no),
		};

		EXPECT_EQ(LH_WHY_DENIED, trail_walk(&p.t, s, 6, LH_READ,
				     false).verdict.why);
		s[1].name = "sac";
		EXPECT_EQ(LH_WHY_ALLOW, trail_walk(&p.t, s, 6, LH_READ,
				     false).verdict.why);
		s[4].object = no;
		EXPECT_EQ(LH_WHY_NOT_GRANTED, trail_walk(&p.t, s, 6, LH_READ,
				     false).verdict.why);
	}
}

TEST(a_name_lies_deeper_than_its_anchor)
{
	struct paper p;
	size_t ws, no = TRAIL_NO_OBJECT;
	struct trail_result r;

	paper_init(&p);
	ws = paper_root(&p, RW | LH_ROOT_ANCHOR, 0, len_of("ro"), 1);
	paper_name(&p, ws, 0, "ro", (struct lh_name){
		.flags = LH_NAME_RDONLY, .rule = 2,
	});
	{
		struct trail_step s[] = { AT("f", no), AT("ro", no),
					  AT("ws", ws), AT("", no) };

		r = trail_walk(&p.t, s, 4, LH_WRITE, false);
		EXPECT_EQ(LH_WHY_READ_ONLY, r.verdict.why);
		EXPECT_EQ(2, r.verdict.rule);
		EXPECT_EQ(LH_WHY_ALLOW, trail_walk(&p.t, s, 4, LH_READ,
				     false).verdict.why);
	}
}

TEST(the_object_alone_has_rights_of_its_own_and_pins)
{
	struct paper p;
	size_t d, no = TRAIL_NO_OBJECT;

	paper_init(&p);
	d = paper_root(&p, LH_ROOT_PIN, RW, 0, 1);
	{
		struct trail_step s[] = { AT("f", no), AT("d", d), AT("", no) };

		EXPECT_EQ(LH_WHY_ALLOW, trail_walk(&p.t, s + 1, 2, LH_WRITE,
				     false).verdict.why);
		EXPECT_EQ(LH_WHY_PINNED, trail_walk(&p.t, s + 1, 2, LH_REMOVE,
				     false).verdict.why);
		EXPECT_EQ(LH_WHY_NOT_GRANTED, trail_walk(&p.t, s, 3, LH_READ,
				     false).verdict.why);
	}
}

TEST(a_protected_pair_is_met_at_any_level_by_changes_alone)
{
	struct paper p;
	size_t ws, no = TRAIL_NO_OBJECT;
	struct trail_result r;

	paper_init(&p);
	ws = paper_root(&p, RW, 0, 0, 1);
	p.t.wild[0] = (struct lh_wild){
		.parent_hash = entry_name_hash(".git", 4),
		.name_hash = entry_name_hash("hooks", 5), .rule = 9,
	};
	p.t.wild_count = 1;
	p.t.wild_lens = len_of("hooks");
	{
		struct trail_step s[] = { AT("pre", no), AT("hooks", no),
					  AT(".git", no), AT("r", no),
					  AT("ws", ws), AT("", no) };
		struct trail_step x[] = { AT("hooks", no), AT("git", no),
					  AT("ws", ws), AT("", no) };

		r = trail_walk(&p.t, s, 6, LH_WRITE, false);
		EXPECT_EQ(LH_WHY_PROTECTED, r.verdict.why);
		EXPECT_EQ(9, r.verdict.rule);
		EXPECT_EQ(1, r.step);
		EXPECT_EQ(LH_WHY_ALLOW, trail_walk(&p.t, s, 6, LH_REMOVE,
				     false).verdict.why);
		EXPECT_EQ(LH_WHY_ALLOW, trail_walk(&p.t, s, 6, LH_READ,
				     false).verdict.why);
		EXPECT_EQ(LH_WHY_PINNED, trail_walk(&p.t, s + 2, 4, LH_BECOME,
				     false).verdict.why);
		EXPECT_EQ(LH_WHY_ALLOW, trail_walk(&p.t, s + 2, 4, LH_WRITE,
				     false).verdict.why);
		EXPECT_EQ(LH_WHY_ALLOW, trail_walk(&p.t, x, 4, LH_WRITE,
				     false).verdict.why);
	}
}

/* --- what is said of paths */

FIXTURE(explain) {
	char dir[64];
	char path[PATH_MAX];
	struct build b;
	struct image *im;
	struct table t;
	struct err e;
};

FIXTURE_SETUP(explain)
{
	memset(self, 0, sizeof(*self));
	strcpy(self->dir, "/tmp/lh-explain.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	build_begin(&self->b);
}

FIXTURE_TEARDOWN(explain)
{
	char command[128];

	table_free(&self->t);
	free(self->im);
	build_free(&self->b);
	snprintf(command, sizeof(command), "rm -rf %s", self->dir);
	EXPECT_EQ(0, system(command));
}

static const char *at(FIXTURE_DATA(explain) *s, const char *path)
{
	snprintf(s->path, sizeof(s->path), "%s/%s", s->dir, path);
	return s->path;
}

static int resolve(FIXTURE_DATA(explain) *s, uint32_t flags)
{
	struct image head = { .flags = flags };
	static const uint64_t no_filter;

	free(s->im);
	s->im = NULL;
	table_free(&s->t);
	s->e = (struct err){ 0 };
	head.home = build_string(&s->b, "/nonexistent");
	head.workspace = build_string(&s->b, s->dir);
	if (build_finish(&s->b, &head, &no_filter, 1, "{}", 2, &s->im))
		return -1;
	return table_resolve(s->im, NULL, &s->t, &s->e);
}

static int why(FIXTURE_DATA(explain) *s, const char *path, uint32_t access)
{
	struct explain x;

	if (table_explain(s->im, &s->t, path, access, &x, &s->e))
		return -1;
	free(x.object);
	free(x.root);
	return x.verdict.why;
}

TEST_F(explain, says_what_was_found_and_what_decided)
{
	struct explain x;
	char want[128];

	mkdir(at(self, "ws"), 0755);
	mkdir(at(self, "ws/d"), 0755);
	ASSERT_EQ(0, symlink("ws/d", at(self, "link")));
	build_root(&self->b, at(self, "ws"), RW, ROOT_WORKSPACE, "/rw");
	build_root(&self->b, at(self, "ws/no/key"), DENY, ROOT_PLAIN, "/deny");
	ASSERT_EQ(0, resolve(self, 0)) TH_LOG("%s", self->e.msg);

	ASSERT_EQ(0, table_explain(self->im, &self->t, at(self, "link/new/x"),
				   LH_WRITE, &x, &self->e));
	EXPECT_EQ(LH_WHY_ALLOW, x.verdict.why);
	EXPECT_TRUE(x.absent);
	snprintf(want, sizeof(want), "%s/ws/d/new/x", self->dir);
	EXPECT_STREQ(want, x.object);
	snprintf(want, sizeof(want), "%s/ws", self->dir);
	EXPECT_STREQ(want, x.root);
	EXPECT_STREQ("/rw", table_rule(self->im, &self->t, x.verdict.rule));
	free(x.object);
	free(x.root);

	ASSERT_EQ(0, table_explain(self->im, &self->t, at(self, "ws/no/key/f"),
				   LH_READ, &x, &self->e));
	EXPECT_EQ(LH_WHY_DENIED, x.verdict.why);
	snprintf(want, sizeof(want), "%s/ws/no/key", self->dir);
	EXPECT_STREQ(want, x.root);
	free(x.object);
	free(x.root);

	ASSERT_EQ(0, table_explain(self->im, &self->t, "/", LH_READ, &x,
				   &self->e));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, x.verdict.why);
	EXPECT_STREQ("/", x.object);
	EXPECT_EQ(NULL, x.root);
	EXPECT_FALSE(x.absent);
	free(x.object);
	EXPECT_STREQ("default", table_rule(self->im, &self->t, 0));
	EXPECT_STREQ("default", table_rule(self->im, &self->t, 65535));
}

TEST_F(explain, a_name_that_goes_is_the_links_own)
{
	mkdir(at(self, "ws"), 0755);
	mkdir(at(self, "out"), 0755);
	ASSERT_EQ(0, symlink("../out", at(self, "ws/link")));
	build_root(&self->b, at(self, "ws"), RW, ROOT_WORKSPACE, "/rw");
	ASSERT_EQ(0, resolve(self, 0)) TH_LOG("%s", self->e.msg);
	EXPECT_EQ(LH_WHY_ALLOW, why(self, at(self, "ws/link"), LH_REMOVE));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(self, at(self, "ws/link"), LH_READ));
}

TEST_F(explain, relative_paths_and_bad_ones)
{
	char *cwd = getcwd(NULL, 0), *deep = malloc(5000);

	mkdir(at(self, "ws"), 0755);
	build_root(&self->b, at(self, "ws"), RW, ROOT_WORKSPACE, "/rw");
	ASSERT_EQ(0, resolve(self, 0)) TH_LOG("%s", self->e.msg);
	ASSERT_EQ(0, chdir(at(self, "ws")));
	EXPECT_EQ(LH_WHY_ALLOW, why(self, "f", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(self, ".", LH_READ));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(self, "..", LH_READ));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(self, "../f", LH_WRITE));
	EXPECT_EQ(-1, why(self, "", LH_READ));
	memset(deep, 'x', 4999);
	deep[4999] = 0;
	self->e = (struct err){ 0 };
	EXPECT_EQ(-1, why(self, deep, LH_READ));
	EXPECT_EQ(-ENAMETOOLONG, self->e.num);
	/* Far too many components to exist, but each could. */
	for (int i = 0; i < 2000; i++)
		memcpy(deep + 2 * i, "a/", 3);
	EXPECT_EQ(LH_WHY_ALLOW, why(self, deep, LH_WRITE));
	ASSERT_EQ(0, chdir(cwd));
	free(cwd);
	free(deep);
}

TEST_F(explain, without_process_exec_nothing_more_is_run)
{
	mkdir(at(self, "ws"), 0755);
	build_root(&self->b, at(self, "ws"), RW | LH_ROOT_EXEC, ROOT_WORKSPACE,
		   "/rw");
	ASSERT_EQ(0, resolve(self, 0)) TH_LOG("%s", self->e.msg);
	EXPECT_EQ(LH_WHY_ALLOW, why(self, at(self, "ws/x"), LH_EXEC));
	ASSERT_EQ(0, resolve(self, IMAGE_NO_EXEC)) TH_LOG("%s", self->e.msg);
	EXPECT_EQ(LH_WHY_NO_EXEC, why(self, at(self, "ws/x"), LH_EXEC));
	EXPECT_EQ(LH_WHY_ALLOW, why(self, at(self, "ws/x"), LH_READ));
}

TEST_F(explain, processes_and_cgroups_are_not_asked_of_the_table)
{
	char path[64];

	build_root(&self->b, "/", RW, ROOT_PLAIN, "/");
	ASSERT_EQ(0, resolve(self, 0)) TH_LOG("%s", self->e.msg);
	snprintf(path, sizeof(path), "/proc/%d/environ", getpid());
	EXPECT_EQ(LH_WHY_PROCESS, why(self, path, LH_READ));
	EXPECT_EQ(LH_WHY_PROCESS, why(self, "/proc/1", LH_READ));
	EXPECT_EQ(LH_WHY_ALLOW, why(self, "/proc/self/environ", LH_READ));
	EXPECT_EQ(LH_WHY_ALLOW, why(self, "/proc/meminfo", LH_READ));
	EXPECT_EQ(LH_WHY_ALLOW, why(self, "/proc", LH_READ));
	if (access("/sys/fs/cgroup", F_OK))
		return;
	EXPECT_EQ(LH_WHY_ALLOW, why(self, "/sys/fs/cgroup", LH_READ));
	if (!access("/sys/fs/cgroup/cgroup.procs", F_OK))
		EXPECT_EQ(LH_WHY_GUARD, why(self, "/sys/fs/cgroup/cgroup.procs",
					    LH_WRITE));
}

TEST_HARNESS_MAIN
