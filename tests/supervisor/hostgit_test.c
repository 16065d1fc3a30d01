// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the host's git would obey: told wherever it lies and however it came
 * there; what git itself changes every day is not.
 */
#define _GNU_SOURCE
#include "hostexec.h"

/* What makes a directory one of git's, with a configuration. */
static void repository(const char *root, const char *dir)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/HEAD", dir);
	put(root, path, "ref: refs/heads/main\n");
	snprintf(path, sizeof(path), "%s/config", dir);
	put(root, path, "[core]\n");
	snprintf(path, sizeof(path), "%s/objects/pack/x", dir);
	put(root, path, "");
	snprintf(path, sizeof(path), "%s/refs/heads/main", dir);
	put(root, path, "0");
}

/* A repository wherever it lies, and whatever makes it one. */
TEST_F(hostexec, what_git_obeys_anywhere_is_told)
{
	const char *r = self->root;

	repository(r, "sub/.git");
	repository(r, "deep/a/b/c/old/.git");
	put(r, "sub/.git/hooks/old", "x");
	put(r, "tree/.git", "gitdir: ../sub/.git/worktrees/tree\n");
	put(r, "sub/.git/worktrees/tree/HEAD", "x");
	put(r, "sub/.git/worktrees/tree/commondir", "../..\n");
	put(r, "parts/config", "[core]\nfsmonitor = evil\n");
	put(r, "parts/objects/x", "");
	tick();
	begin(self);
	tick();
	put(r, "sub/.git/config", "[core]\n\tfsmonitor = evil\n");
	put(r, "sub/.git/hooks/post-checkout", "x");
	put(r, "sub/.git/hooks/x.sample", "x");
	put(r, "sub/.git/worktrees/tree/config.worktree", "[core]\n");
	put(r, "tree/.git", "gitdir: ../elsewhere\n");
	repository(r, "made/.git");
	repository(r, ".git/modules/new");
	put(r, "HEAD", "ref: refs/heads/main\n");
	put(r, "config", "[core]\n");
	put(r, "refs/x", "");
	put(r, "parts/HEAD", "ref: refs/heads/main\n");
	put(r, "parts/refs/x", "");
	end(self);
	EXPECT_TRUE(tells(self, "config", "created", "git") ||
		    strstr(self->json, "/ws/config\",\"change\":\"modified\""));
	EXPECT_TRUE(tells(self, "sub/.git/config", "modified", "git"));
	EXPECT_TRUE(tells(self, "sub/.git/hooks/post-checkout", "modified",
			  "hooks"));
	EXPECT_TRUE(tells(self, "sub/.git/worktrees/tree/config.worktree",
			  "modified", "git"));
	EXPECT_TRUE(tells(self, "tree/.git", "modified", "git"));
	EXPECT_NE(NULL, strstr(self->json, "/ws/made/.git/config"));
	EXPECT_NE(NULL, strstr(self->json, "/ws/.git/modules/new/config"));
	EXPECT_NE(NULL, strstr(self->json, "/ws/parts/config"));
	EXPECT_EQ(NULL, strstr(self->json, "/old/.git"));
	EXPECT_EQ(NULL, strstr(self->json, "sample"));
	EXPECT_EQ(NULL, strstr(self->json, "commondir"));
	EXPECT_EQ(NULL, strstr(self->json, "hooks/old"));
	EXPECT_NE(NULL, strstr(self->json, "\"host_exec_not_compared\":[]"));
}

TEST_F(hostexec, work_in_a_repository_is_none_of_it)
{
	const char *r = self->root;

	repository(r, ".git");
	repository(r, "sub/.git");
	put(r, "objects/config", "a file like any other");
	tick();
	begin(self);
	tick();
	put(r, ".git/HEAD", "ref: refs/heads/other\n");
	put(r, ".git/refs/stash", "0");
	put(r, ".git/objects/aa/bb", "0");
	put(r, ".git/index", "0");
	put(r, "sub/.git/HEAD", "ref: refs/heads/other\n");
	put(r, "sub/.git/objects/aa/bb", "0");
	put(r, "sub/.git/refs/heads/main", "1");
	put(r, "HEAD", "no repository");
	put(r, "doc/config", "nor here");
	put(r, "objects/config", "a file like any other, changed");
	put(r, "sub/.gitignore", "x");
	end(self);
	EXPECT_TRUE(silent(self)) TH_LOG("%s", self->json);
}

/* By a link, by another name of the file, by a rename of the directory. */
TEST_F(hostexec, what_git_obeys_is_told_however_it_comes)
{
	const char *r = self->root;

	repository(r, "a/.git");
	repository(r, "b/.git");
	repository(r, "c.git");
	repository(r, "d/.git");
	ASSERT_EQ(0, unlink(in(r, "a/.git/config")));
	put(r, "own/a", "[core]\n");
	put(r, "own/b", "[core]\n");
	put(r, "own/h/post-checkout", "x");
	ASSERT_EQ(0, unlink(in(r, "b/.git/config")));
	ASSERT_EQ(0, link(in(r, "own/b"), in(r, "b/.git/config")));
	ASSERT_EQ(0, unlink(in(r, "d/.git/config")));
	put(r, "own/d", "[core]\n");
	ASSERT_EQ(0, symlink("../../own/d", in(r, "d/.git/config")));
	tick();
	begin(self);
	tick();
	ASSERT_EQ(0, rename(in(r, "own/a"), in(r, "a/.git/config")));
	put(r, "own/b", "[core]\nfsmonitor = evil");
	put(r, "own/d", "[core]\nfsmonitor = evil");
	ASSERT_EQ(0, rename(in(r, "own/h"), in(r, "c.git/hooks")));
	ASSERT_EQ(0, symlink("a/.git", in(r, ".git")));
	end(self);
	EXPECT_TRUE(tells(self, "a/.git/config", "modified", "git"));
	EXPECT_TRUE(tells(self, "b/.git/config", "modified", "git"));
	EXPECT_TRUE(tells(self, "d/.git/config", "modified", "git"));
	EXPECT_TRUE(tells(self, "c.git/hooks", "modified", "hooks"));
	EXPECT_NE(NULL, strstr(self->json, "/ws/.git\""));
}

TEST_F(hostexec, where_a_repository_has_its_hooks)
{
	const char *r = self->root;

	repository(r, ".git");
	put(r, ".git/config", "[core]\n\thooksPath = scripts/hooks/\n"
	    "[a]\n\tb = hookspath\n");
	put(r, "scripts/hooks/pre-commit", "x");
	put(r, "scripts/other", "x");
	tick();
	begin(self);
	tick();
	put(r, "scripts/hooks/pre-commit", "y");
	put(r, "scripts/other", "y");
	end(self);
	EXPECT_TRUE(tells(self, "scripts/hooks/pre-commit", "modified",
			  "hooks"));
	EXPECT_EQ(NULL, strstr(self->json, "scripts/other"));
}

/* Of which git needs none to run hooks. */
TEST_F(hostexec, a_repository_without_a_configuration_has_hooks)
{
	const char *r = self->root;

	put(r, "src/hooks/a", "x");
	put(r, "src/refs/a", "x");
	tick();
	begin(self);
	tick();
	put(r, "b/HEAD", "ref: refs/heads/main\n");
	put(r, "b/objects/x", "");
	put(r, "b/refs/x", "");
	put(r, "b/hooks/update", "x");
	put(r, "c/objects/x", "");
	put(r, "c/refs/x", "");
	put(r, "c/info/attributes", "* filter=evil\n");
	/* no repository */
	put(r, "src/hooks/a", "y");
	put(r, "src/refs/a", "y");
	end(self);
	EXPECT_NE(NULL, strstr(self->json, "/ws/b/hooks/update\""));
	EXPECT_NE(NULL, strstr(self->json, "/ws/c/info/attributes\""));
	EXPECT_EQ(NULL, strstr(self->json, "/ws/src"));
}

/* A repository in two places, by a commondir like that of each worktree. */
TEST_F(hostexec, what_a_git_directory_shares_is_told)
{
	const char *r = self->root;

	put(r, "x/config", "[core]\nfsmonitor = evil\n");
	put(r, "y/hooks/post-index-change", "x");
	repository(r, "z/.git");
	put(r, "z/.git/worktrees/w/HEAD", "x");
	tick();
	begin(self);
	tick();
	put(r, "x/objects/x", "");
	put(r, "x/refs/x", "");
	put(r, "x/a/.git/HEAD", "ref: refs/heads/main\n");
	put(r, "x/a/.git/commondir", "../..\n");
	put(r, "y/objects/x", "");
	put(r, "y/refs/x", "");
	put(r, "y/worktrees/.git/HEAD", "ref: refs/heads/main\n");
	put(r, "y/worktrees/.git/commondir", "../..\n");
	put(r, "z/.git/worktrees/w/commondir", "../..\n");
	end(self);
	EXPECT_NE(NULL, strstr(self->json, "/ws/x/config\""));
	EXPECT_NE(NULL, strstr(self->json, "/ws/x/a/.git/commondir\""));
	EXPECT_NE(NULL, strstr(self->json, "/ws/y/hooks\""));
	EXPECT_NE(NULL, strstr(self->json,
			       "/ws/y/worktrees/.git/commondir\""));
	EXPECT_EQ(NULL, strstr(self->json, "/ws/z"));
}

/* A session cannot write .git/hooks; what a link in there leads to it can. */
TEST_F(hostexec, a_hook_that_is_a_link_is_what_it_leads_to)
{
	const char *r = self->root;

	repository(r, ".git");
	put(r, "scripts/check", "x");
	put(r, "scripts/other", "x");
	ASSERT_EQ(0, symlink("../../scripts/check",
			     in(r, ".git/hooks/pre-commit")));
	tick();
	begin(self);
	put(r, "scripts/check", "y");
	put(r, "scripts/other", "y");
	end(self);
	EXPECT_TRUE(tells(self, ".git/hooks/pre-commit", "modified", "hooks"));
	EXPECT_EQ(NULL, strstr(self->json, "/ws/scripts"));
}

/* What nobody can look into is said, where a session had it so. */
TEST_F(hostexec, what_hides_from_the_look_is_said)
{
	const char *r = self->root;
	struct passwd *pw = getpwnam("nobody");
	char deep[256];
	gid_t none;
	int i, fd;

	if (geteuid() || !pw)
		SKIP(return, "only root can be two users");
	none = pw->pw_gid;
	self->id = (struct identity){
		.switches = true,
		.user = { pw->pw_uid, pw->pw_gid, &none, 1 },
		.self = { 0, 0, (gid_t[]){ 0 }, 1 },
	};
	ASSERT_EQ(0, mkdir(in(r, "closed"), 0700));
	ASSERT_EQ(0, mkdir(in(r, "shut"), 0755));
	/* git lists neither, to run what is in there */
	ASSERT_EQ(0, mkdir(in(r, "through"), 0711));
	repository(r, "bare.git");
	put(r, "bare.git/hooks/update", "x");
	ASSERT_EQ(0, chmod(in(r, "bare.git/hooks"), 0711));
	/* these can be listed and not looked at */
	repository(r, "list/.git");
	ASSERT_EQ(0, chmod(in(r, "list/.git"), 0744));
	memset(deep, 'd', 250);
	deep[250] = 0;
	fd = open(r, O_PATH | O_CLOEXEC);
	tick();
	begin(self);
	tick();
	ASSERT_EQ(0, chmod(in(r, "shut"), 0700));
	for (i = 0; i < 20; i++) {
		int next;

		ASSERT_EQ(0, mkdirat(fd, deep, 0755));
		next = openat(fd, deep, O_PATH | O_CLOEXEC);
		close(fd);
		fd = next;
	}
	close(fd);
	end(self);
	EXPECT_NE(NULL, strstr(self->json, "/ws/shut\""));
	EXPECT_EQ(NULL, strstr(self->json, "/ws/closed"));
	EXPECT_NE(NULL, strstr(self->json, "/ws/through\""));
	EXPECT_NE(NULL, strstr(self->json, "/ws/bare.git/hooks\""));
	EXPECT_NE(NULL, strstr(self->json, "/ws/list/.git\""));
	EXPECT_NE(NULL, strstr(strstr(self->json, "not_compared"), deep));
}

TEST_HARNESS_MAIN
