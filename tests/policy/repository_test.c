// SPDX-License-Identifier: GPL-2.0-only
/*
 * Repositories around writable roots: what the host would run stays as it is,
 * git works, and nothing that a session may have left opens more.
 */
#define _GNU_SOURCE
#include "world.h"

FIXTURE(repository) {
	struct world w;
};

FIXTURE_SETUP(repository)
{
	ASSERT_EQ(0, world_begin(&self->w));
	protect_all(&self->w);
}

FIXTURE_TEARDOWN(repository)
{
	EXPECT_EQ(0, world_end(&self->w));
}

/* A git directory as git makes one, without hooks. */
static void git_dir(struct world *w, const char *path)
{
	char sub[PATH_MAX];

	snprintf(sub, sizeof(sub), "%s/HEAD", path);
	file(w, sub, "ref: refs/heads/main\n");
	snprintf(sub, sizeof(sub), "%s/config", path);
	file(w, sub, "[core]\n");
	snprintf(sub, sizeof(sub), "%s/objects/info", path);
	dir(w, sub);
	snprintf(sub, sizeof(sub), "%s/refs/heads", path);
	dir(w, sub);
}

/* A worktree at @top of the repository @git, linked both ways. */
static void worktree(struct world *w, const char *git, const char *id,
		     const char *top)
{
	char sub[PATH_MAX];

	snprintf(sub, sizeof(sub), "%s/worktrees/%s/HEAD", git, id);
	file(w, sub, "ref: refs/heads/x\n");
	snprintf(sub, sizeof(sub), "%s/worktrees/%s/commondir", git, id);
	file(w, sub, "../..\n");
	snprintf(sub, sizeof(sub), "%s/worktrees/%s/gitdir", git, id);
	file(w, sub, "%s/%s/.git\n", w->dir, top);
	snprintf(sub, sizeof(sub), "%s/.git", top);
	file(w, sub, "gitdir: %s/%s/worktrees/%s\n", w->dir, git, id);
}

/* The names that the host acts on, below git directory @git. */
static int names_protected(struct world *w, const char *git)
{
	static const char *const all[] = {
		"hooks", "hooks/pre-commit", "config", "config.worktree",
		"info/attributes", "commondir",
	};
	char path[PATH_MAX];
	size_t i;
	int n = 0;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		snprintf(path, sizeof(path), "%s/%s", git, all[i]);
		n += why(w, path, LH_WRITE) == LH_WHY_PROTECTED &&
		     why(w, path, LH_REMOVE) == LH_WHY_PROTECTED;
	}
	return n == (int)ARRAY_SIZE(all) ? 1 : n ? -n : 0;
}

TEST_F(repository, hooks_and_config_are_protected_and_the_rest_is_not)
{
	struct world *w = &self->w;

	git_dir(w, "ws/.git");
	file(w, "ws/.git/hooks/pre-commit", "x");
	root(w, "ws", RW);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(0, well_formed(w));
	EXPECT_EQ(1, names_protected(w, "ws/.git"));
	EXPECT_EQ(LH_WHY_PROTECTED, why(w, "ws/.git/hooks/new", LH_WRITE));
	EXPECT_STREQ("protect:hooks", rule_of(w, "ws/.git/hooks/x", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/.git/hooks/pre-commit", LH_READ));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/.git/index", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/.git/HEAD", LH_WRITE | LH_REMOVE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/.git/objects/aa/bb", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/.git/info/exclude", LH_WRITE));
	/* Carried away, it would make room for another. */
	EXPECT_EQ(LH_WHY_PINNED, why(w, "ws/.git", LH_MOVE));
	EXPECT_EQ(LH_WHY_PINNED, why(w, "ws/.git", LH_REMOVE));
}

TEST_F(repository, without_one_git_init_works)
{
	struct world *w = &self->w;

	root(w, "ws", RW);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/.git", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/.git/config", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/.git/info/exclude", LH_WRITE));
	/* The pair at any depth holds here too. */
	EXPECT_EQ(LH_WHY_PROTECTED, why(w, "ws/.git/hooks/h", LH_WRITE));
}

TEST_F(repository, the_enclosing_one_is_found_from_below)
{
	struct world *w = &self->w;

	git_dir(w, "ws/.git");
	dir(w, "ws/deep/er");
	root(w, "ws/deep/er", RW);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	/* It lies outside: nothing there is granted, nothing to protect. */
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "ws/.git/config", LH_WRITE));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "ws/.git/index", LH_READ));
	root(w, "ws/.git", RW);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(1, names_protected(w, "ws/.git"));
}

TEST_F(repository, an_emptied_one_hides_neither_itself_nor_the_next)
{
	struct world *w = &self->w;

	git_dir(w, "ws/.git");
	dir(w, "ws/sub/.git");
	root(w, "ws", RW);
	root(w, "ws/sub", RW);
	ASSERT_EQ(0, unlink(at(w, "ws/.git/HEAD")));
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(1, names_protected(w, "ws/.git"));
	EXPECT_EQ(1, names_protected(w, "ws/sub/.git"));
}

TEST_F(repository, modules_and_worktrees_have_the_same_names)
{
	struct world *w = &self->w;

	git_dir(w, "ws/.git");
	git_dir(w, "ws/.git/modules/lib");
	git_dir(w, "ws/.git/modules/lib/modules/inner");
	git_dir(w, "ws/.git/modules/third/party/x");
	worktree(w, "ws/.git", "other", "elsewhere");
	root(w, "ws", RW);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(0, well_formed(w));
	EXPECT_EQ(1, names_protected(w, "ws/.git/modules/lib"));
	EXPECT_EQ(1, names_protected(w, "ws/.git/modules/lib/modules/inner"));
	EXPECT_EQ(1, names_protected(w, "ws/.git/modules/third/party/x"));
	EXPECT_EQ(1, names_protected(w, "ws/.git/worktrees/other"));
	EXPECT_EQ(LH_WHY_PINNED, why(w, "ws/.git/modules/third", LH_MOVE));
	EXPECT_EQ(LH_WHY_PINNED, why(w, "ws/.git/modules", LH_MOVE));
	/* git writes the back link anew once a day, and makes new ones. */
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/.git/worktrees/other/gitdir",
				    LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/.git/worktrees/new/gitdir",
				    LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/.git/modules/new/config",
				    LH_WRITE));
}

TEST_F(repository, what_a_session_did_to_hide_a_module)
{
	struct world *w = &self->w;

	if (geteuid())
		SKIP(return, "only root reads what its user has closed");
	git_dir(w, "ws/.git");
	git_dir(w, "ws/.git/modules/a");
	git_dir(w, "ws/.git/modules/b/c");
	/* No HEAD; a config that makes the way there look like a module;
	 * a directory that the user may not read; links in a ring. */
	unlink(at(w, "ws/.git/modules/a/HEAD"));
	unlink(at(w, "ws/.git/modules/b/c/HEAD"));
	file(w, "ws/.git/modules/b/config", "x");
	file(w, "ws/.git/modules/b/HEAD", "x");
	dir(w, "ws/.git/modules/b/objects");
	sym(w, "..", "ws/.git/modules/b/l1");
	sym(w, "..", "ws/.git/modules/b/l2");
	root(w, "ws", RW);
	ASSERT_EQ(0, chmod(at(w, "ws/.git/modules"), 0311));
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(1, names_protected(w, "ws/.git/modules/a"));
	EXPECT_EQ(1, names_protected(w, "ws/.git/modules/b/c"));
}

TEST_F(repository, too_much_to_look_through_is_an_error)
{
	struct world *w = &self->w;
	char path[64];
	int i;

	git_dir(w, "ws/.git");
	for (i = 0; i < 1100; i++) {
		snprintf(path, sizeof(path), "ws/.git/modules/%d", i);
		dir(w, path);
	}
	root(w, "ws", RW);
	EXPECT_EQ(-E2BIG, resolve(w));
	EXPECT_NE(NULL, strstr(w->e.msg, ".git/modules"));
}

TEST_F(repository, a_git_file_or_link_is_not_written)
{
	struct world *w = &self->w;

	git_dir(w, "ws/store");
	dir(w, "ws/wt");
	file(w, "ws/wt/.git", "gitdir: ../store\n");
	root(w, "ws/wt", RW);
	root(w, "ws", RW);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_PROTECTED, why(w, "ws/wt/.git", LH_WRITE));
	EXPECT_EQ(LH_WHY_PROTECTED, why(w, "ws/wt/.git", LH_REMOVE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/wt/.git", LH_READ));
	EXPECT_EQ(1, names_protected(w, "ws/store"));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/store/index", LH_WRITE));

	ASSERT_EQ(0, unlink(at(w, "ws/wt/.git")));
	sym(w, "../store", "ws/wt/.git");
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_PROTECTED, why(w, "ws/wt/.git", LH_REMOVE));
	EXPECT_EQ(1, names_protected(w, "ws/store"));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/wt/.git/index", LH_WRITE));
	EXPECT_EQ(LH_WHY_PINNED, why(w, "ws/store", LH_MOVE));
}

TEST_F(repository, a_bare_one_is_one_too)
{
	struct world *w = &self->w;

	git_dir(w, "ws/r.git");
	root(w, "ws/r.git", RW);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(1, names_protected(w, "ws/r.git"));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "ws/r.git/refs/heads/x", LH_WRITE));
	EXPECT_EQ(LH_WHY_PINNED, why(w, "ws/r.git/objects", LH_MOVE));
	EXPECT_EQ(LH_WHY_PINNED, why(w, "ws/r.git/refs", LH_REMOVE));
}

TEST_F(repository, a_linked_worktree_gets_what_it_needs)
{
	struct world *w = &self->w;

	git_dir(w, "main/.git");
	file(w, "main/.git/hooks/h", "x");
	dir(w, "main/.git/logs");
	worktree(w, "main/.git", "id", "ws");
	worktree(w, "main/.git", "id2", "ws2");
	root(w, "ws", RW);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(0, well_formed(w));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "main/.git/worktrees/id/index.lock",
				    LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "main/.git/worktrees/id/gitdir",
				    LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "main/.git/objects/aa/x", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "main/.git/refs/heads/x", LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "main/.git/logs/HEAD", LH_WRITE));
	EXPECT_STREQ("builtin:worktree",
		     rule_of(w, "main/.git/objects/aa", LH_WRITE));
	/* Written as another file, and renamed over the old one. */
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "main/.git/packed-refs.lock",
				    LH_WRITE | LH_REMOVE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "main/.git/packed-refs",
				    LH_WRITE | LH_REMOVE));
	EXPECT_EQ(LH_WHY_PINNED, why(w, "main/.git/packed-refs",
				     LH_WRITE | LH_BECOME));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "main/.git/packed-refs.new/x",
					  LH_WRITE));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "main/.git/packed-refs.x",
					  LH_WRITE));
	/* The rest is read, and run, and no more; other worktrees too. */
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "main/.git/config", LH_READ));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "main/.git/hooks/h", LH_EXEC));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "main/.git/config", LH_WRITE));
	EXPECT_EQ(LH_WHY_PROTECTED, why(w, "main/.git/hooks/n", LH_WRITE));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "main/.git/info/x", LH_WRITE));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "main/.git/HEAD", LH_WRITE));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "main/.git/worktrees/id2/HEAD",
					  LH_WRITE));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "main/file", LH_READ));
	EXPECT_EQ(LH_WHY_PROTECTED, why(w, "ws/.git", LH_WRITE));
	EXPECT_EQ(1, names_protected(w, "main/.git/worktrees/id"));
	EXPECT_EQ(LH_WHY_PINNED, why(w, "main/.git/objects", LH_MOVE));
}

TEST_F(repository, only_if_the_common_directory_names_it)
{
	struct world *w = &self->w;

	git_dir(w, "main/.git");
	worktree(w, "main/.git", "id", "other");
	file(w, "ws/.git", "gitdir: %s/main/.git/worktrees/id\n", w->dir);
	root(w, "ws", RW);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "main/.git/objects/x", LH_WRITE));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "main/.git/HEAD", LH_READ));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "main/.git/worktrees/id/HEAD",
					  LH_WRITE));
	/* The twin: it does. */
	file(w, "main/.git/worktrees/id/gitdir", "%s/ws/.git\n", w->dir);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "main/.git/objects/x", LH_WRITE));
}

TEST_F(repository, what_a_session_wrote_opens_nothing_for_the_next)
{
	struct world *w = &self->w;
	static const char *const forged[] = {
		/* straight at the common directory, or a root of all */
		"gitdir: ../victim/.git\n", "gitdir: /\n", "gitdir: ..\n",
		/* a directory of the session's own, with all it may write */
		"gitdir: fake/worktrees/id\n", "gitdir: link\n",
		"gitdir: \n", "gitdir:\n", "", "gitdir: nowhere\n",
	};
	size_t i;

	git_dir(w, "victim/.git");
	git_dir(w, "ws/fake");
	worktree(w, "ws/fake", "id", "ws");
	file(w, "ws/fake/worktrees/id/commondir", "%s/victim/.git\n", w->dir);
	sym(w, "../victim/.git", "ws/link");
	root(w, "ws", RW);
	for (i = 0; i < ARRAY_SIZE(forged); i++) {
		file(w, "ws/.git", "%s", forged[i]);
		ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
		EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "victim/.git/config",
						  LH_READ))
			TH_LOG("%s", forged[i]);
		EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "victim/.git/objects/x",
						  LH_WRITE))
			TH_LOG("%s", forged[i]);
		EXPECT_EQ(LH_WHY_PROTECTED, why(w, "ws/.git", LH_WRITE))
			TH_LOG("%s", forged[i]);
	}
}

TEST_F(repository, links_in_the_common_directory_are_not_granted)
{
	struct world *w = &self->w;

	git_dir(w, "main/.git");
	dir(w, "victim");
	sym(w, "../../victim", "main/.git/logs");
	worktree(w, "main/.git", "id", "ws");
	root(w, "ws", RW);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "main/.git/objects/x", LH_WRITE));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "victim/x", LH_WRITE));
}

TEST_F(repository, files_that_would_block_do_not)
{
	struct world *w = &self->w;

	git_dir(w, "main/.git");
	worktree(w, "main/.git", "id", "ws");
	root(w, "ws", RW);
	unlink(at(w, "ws/.git"));
	ASSERT_EQ(0, mkfifo(at(w, "ws/.git"), 0600));
	alarm(5);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	unlink(at(w, "ws/.git"));
	git_dir(w, "ws/.git");
	ASSERT_EQ(0, mkfifo(at(w, "ws/.git/commondir"), 0600));
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	alarm(0);
	EXPECT_EQ(1, names_protected(w, "ws/.git"));
}

TEST_F(repository, read_only_and_deleting_roots_are_granted_no_repository)
{
	struct world *w = &self->w;

	git_dir(w, "main/.git");
	worktree(w, "main/.git", "id", "ws");
	root(w, "ws", R);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "main/.git/HEAD", LH_READ));
	build_root(&w->b, at(w, "ws"), R | LH_ROOT_DELETE, ROOT_WORKSPACE, "d");
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "main/.git/objects/x", LH_REMOVE));
}

TEST_F(repository, real_git_agrees)
{
	struct world *w = &self->w;
	char command[1024];

	if (system("git --version >/dev/null 2>&1"))
		SKIP(return, "no git here");
	snprintf(command, sizeof(command),
		 "cd %s && export GIT_CONFIG_GLOBAL=/dev/null "
		 "GIT_CONFIG_NOSYSTEM=1 && git init -q main && cd main && "
		 "git -c user.name=a -c user.email=a@b commit -q "
		 "--allow-empty -m x && rmdir ../ws && "
		 "git worktree add -q ../ws 2>/dev/null", w->dir);
	ASSERT_EQ(0, system(command));
	root(w, "ws", RW);
	ASSERT_EQ(0, resolve(w)) TH_LOG("%s", w->e.msg);
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "main/.git/worktrees/ws/index",
				    LH_WRITE));
	EXPECT_EQ(LH_WHY_ALLOW, why(w, "main/.git/objects/x", LH_WRITE));
	EXPECT_EQ(LH_WHY_NOT_GRANTED, why(w, "main/.git/config", LH_WRITE));
}

TEST_HARNESS_MAIN
