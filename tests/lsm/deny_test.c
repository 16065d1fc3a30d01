// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ways around a deny, a read-only root or a protected name: other names of
 * the same object, new objects under the same name, and names carried away.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "session.h"

FIXTURE(deny) {
	struct world *w;
	struct session s, twin;
	char secret[128], key[128];
};

FIXTURE_VARIANT(deny) {
	const char *user;
};

FIXTURE_VARIANT_ADD(deny, user) {
	.user = TEST_USER,
};

FIXTURE_VARIANT_ADD(deny, root) {
	.user = "root",
};

FIXTURE_SETUP(deny)
{
	struct policy p = { 0 };
	struct world *w = world_make(variant->user);
	char more[512];

	self->w = w;
	ASSERT_NE(NULL, w);
	/*
	 * ws/a/b/deep	denied; its parents may not be carried away
	 * ws/absent	denied; not there
	 * ws/link	denied; a link to ws/target
	 * ws/secret2	a name that only begins like a denied one
	 */
	snprintf(more, sizeof(more),
		 ",\"%s/ws/a/b/deep\",\"%s/ws/absent\",\"%s/ws/link\"",
		 w->dir, w->dir, w->dir);
	p.deny = more;
	ASSERT_EQ(0, world_file(w, at(w, "ws/a/b/deep/key"), "TEXT"));
	ASSERT_EQ(0, world_file(w, at(w, "ws/secret2/key"), "TEXT"));
	ASSERT_EQ(0, world_file(w, at(w, "ws/target/key"), "TEXT"));
	ASSERT_EQ(0, world_dir(w, at(w, "ws/al")));
	ASSERT_EQ(0, symlink("target", at(w, "ws/link")));
	ASSERT_EQ(0, mount(at(w, "ws/secret"), at(w, "ws/al"), NULL, MS_BIND,
			   NULL));
	ASSERT_EQ(0, policy_write(w, &p));
	ASSERT_EQ(0, session_start(&self->s, w, "s", NULL));
	ASSERT_EQ(0, twin_start(&self->twin, w));
	snprintf(self->secret, sizeof(self->secret), "%s/ws/secret", w->dir);
	snprintf(self->key, sizeof(self->key), "%s/ws/secret/key", w->dir);
}

FIXTURE_TEARDOWN(deny)
{
	session_end(&self->twin);
	EXPECT_EQ(0, session_end(&self->s));
	umount2(at(self->w, "ws/al"), MNT_DETACH);
	world_remove(self->w);
}

#define REFUSED(op, path, rule, ...) do {				\
	EXPECT_EQ(EACCES, ask(&self->s, __VA_ARGS__));			\
	EXPECT_TRUE(denied(&self->s, op, path, rule));			\
} while (0)

/* FS-01, FS-02 */
TEST_F(deny, reading_through_links_is_refused_and_names_the_target)
{
	EXPECT_EQ(0, ask(&self->s, "symlink", "../secret", "sub/one"));
	EXPECT_EQ(0, ask(&self->s, "symlink", "sub/one", "two"));
	REFUSED("open", self->key, "read_deny_roots/0", "open", "two/key", "r");
	EXPECT_EQ(0, ask(&self->twin, "open", "two/key", "r"));
	EXPECT_EQ(0, ask(&self->s, "symlink", at(self->w, "outside/file"),
			 "three"));
	REFUSED("open", at(self->w, "outside/file"), "default", "open",
		"three", "r");
}

/* FS-16, FS-17: by what is reached, not by how */
TEST_F(deny, reading_through_proc_is_refused)
{
	char root[256];

	snprintf(root, sizeof(root), "/proc/self/root%s", self->key);
	REFUSED("open", self->key, NULL, "open", root, "r");
	REFUSED("open", self->key, NULL, "open", "/proc/self/cwd/secret/key",
		"r");
	REFUSED("open", self->key, NULL, "reopen", self->key, "r");
	REFUSED("open", self->key, NULL, "openat", self->secret, "key", "r");
	REFUSED("open", self->key, NULL, "fchdir", self->secret, "key", "r");
	REFUSED("open", self->key, NULL, "openat2", "secret/key", "r", "8");
	REFUSED("open", self->key, NULL, "openat2", "secret/key", "r", "16");
	EXPECT_EQ(0, ask(&self->twin, "openat2", "secret/key", "r", "8"));
}

/* FS-18 */
TEST_F(deny, a_file_handle_opens_nothing)
{
	int err = ask(&self->s, "handle", self->key, ".");

	EXPECT_TRUE(err == EPERM || err == EACCES);
}

TEST_F(deny, a_bind_mount_made_before_the_start_is_no_way_in)
{
	EXPECT_EQ(EACCES, ask(&self->s, "open", "al/key", "r"));
	EXPECT_TRUE(denied(&self->s, "open", NULL, "read_deny_roots/0"));
	EXPECT_EQ(0, ask(&self->twin, "open", "al/key", "r"));
}

TEST_F(deny, a_mount_made_inside_a_denied_root_later_is_denied)
{
	ASSERT_EQ(0, mount("none", at(self->w, "ws/secret/deep"), "tmpfs", 0,
			   NULL));
	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/secret/deep/new"),
				"TEXT"));
	EXPECT_EQ(EACCES, ask(&self->s, "open", "secret/deep/new", "r"));
	EXPECT_TRUE(denied(&self->s, "open", NULL, "read_deny_roots/0"));
	ASSERT_EQ(0, umount2(at(self->w, "ws/secret/deep"), MNT_DETACH));
}

TEST_F(deny, a_mount_made_inside_a_workspace_is_of_the_workspace)
{
	ASSERT_EQ(0, mount("none", at(self->w, "ws/sub"), "tmpfs", 0, NULL));
	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/sub/new"), "TEXT"));
	ASSERT_EQ(0, chown(at(self->w, "ws/sub"), self->w->uid, self->w->gid));
	EXPECT_EQ(0, ask(&self->s, "open", "sub/new", "r"));
	EXPECT_EQ(0, ask(&self->s, "write", "sub/mine", "x"));
	ASSERT_EQ(0, umount2(at(self->w, "ws/sub"), MNT_DETACH));
}

/* FS-03, FS-05 */
TEST_F(deny, hard_links_carry_nothing_out)
{
	REFUSED("link", self->key, "read_deny_roots/0", "link", "secret/key",
		"alias");
	REFUSED("link", at(self->w, "ws/lib/file"), "read_only_roots/1",
		"link", "lib/file", "alias");
	EXPECT_EQ(EACCES, ask(&self->s, "link", at(self->w, "ro/file"),
			      "alias"));
	EXPECT_EQ(EACCES, ask(&self->s, "link", at(self->w, "outside/file"),
			      "alias"));
	EXPECT_FALSE(exists(at(self->w, "ws/alias")));
	EXPECT_EQ(0, ask(&self->s, "link", "file", "alias"));
}

/* FS-06, FS-08 */
TEST_F(deny, renames_carry_nothing_out)
{
	REFUSED("rename", self->key, "read_deny_roots/0", "rename",
		"secret/key", "k2");
	REFUSED("rename", NULL, NULL, "rename", "secret", "elsewhere");
	REFUSED("rename", NULL, NULL, "rename", "lib", "elsewhere");
	REFUSED("rename", NULL, NULL, "rename", "sub", "secret", "x");
	REFUSED("rename", NULL, NULL, "rename", "secret", "sub", "x");
	REFUSED("rename", NULL, NULL, "rename", "secret2/key", "secret/key");
	EXPECT_TRUE(holds(self->key, "TEXT"));
	EXPECT_TRUE(exists(at(self->w, "ws/lib/file")));
	EXPECT_TRUE(exists(at(self->w, "ws/sub")));
}

/* FS-07 */
TEST_F(deny, an_ancestor_of_a_root_stays_where_it_is)
{
	REFUSED("rename", at(self->w, "ws/a"), NULL, "rename", "a", "moved");
	REFUSED("rename", at(self->w, "ws/a/b"), NULL, "rename", "a/b", "b");
	REFUSED("rename", NULL, NULL, "rename", "sub", "a", "x");
	EXPECT_EQ(0, ask(&self->s, "mkdir", "a/other"));
	EXPECT_EQ(0, ask(&self->s, "rename", "a/other", "a/moved"));
	EXPECT_EQ(EACCES, ask(&self->s, "open", "a/b/deep/key", "r"));
}

TEST_F(deny, the_workspace_itself_stays_where_it_is)
{
	EXPECT_NE(0, ask(&self->s, "rename", at(self->w, "ws"),
			 at(self->w, "ws2")));
	EXPECT_NE(0, ask(&self->s, "rename", at(self->w, "ws"),
			 at(self->w, "ws/sub/ws")));
	EXPECT_NE(0, ask(&self->s, "rmdir", at(self->w, "ws")));
	EXPECT_TRUE(exists(at(self->w, "ws/file")));
}

/* FS-10 */
TEST_F(deny, an_absent_name_is_neither_made_nor_read)
{
	REFUSED("create", at(self->w, "ws/absent"), "read_deny_roots/3",
		"write", "absent", "x");
	REFUSED("mkdir", at(self->w, "ws/absent"), NULL, "mkdir", "absent");
	REFUSED("symlink", NULL, NULL, "symlink", "file", "absent");
	REFUSED("link", NULL, NULL, "link", "file", "absent");
	REFUSED("rename", NULL, NULL, "rename", "file", "absent");
	EXPECT_FALSE(exists(at(self->w, "ws/absent")));
	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/absent"), "TEXT"));
	REFUSED("open", at(self->w, "ws/absent"), "read_deny_roots/3", "open",
		"absent", "r");
	REFUSED("rename", NULL, NULL, "rename", "absent", "mine");
	/* made again: another inode, the same name */
	ASSERT_EQ(0, unlink(at(self->w, "ws/absent")));
	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/absent/in"), "TEXT"));
	REFUSED("open", at(self->w, "ws/absent/in"), NULL, "open",
		"absent/in", "r");
	EXPECT_EQ(0, ask(&self->twin, "open", "absent/in", "r"));
}

TEST_F(deny, a_directory_does_not_become_the_parent_of_an_absent_name)
{
	/* late/secret is denied and late is not there */
	EXPECT_EQ(0, ask(&self->s, "mkdir", "mine"));
	EXPECT_EQ(0, ask(&self->s, "mkdir", "mine/secret"));
	EXPECT_EQ(0, ask(&self->s, "write", "mine/secret/key", "x"));
	REFUSED("rename", NULL, NULL, "rename", "mine", "late");
	/* nor does a link to one, by any road */
	EXPECT_EQ(0, ask(&self->s, "symlink", "mine", "to-mine"));
	REFUSED("symlink", NULL, NULL, "symlink", "mine", "late");
	REFUSED("rename", NULL, NULL, "rename", "to-mine", "late");
	REFUSED("link", NULL, NULL, "link", "to-mine", "late");
	EXPECT_EQ(0, ask(&self->s, "rename", "to-mine", "elsewhere"));
	EXPECT_EQ(0, ask(&self->s, "link", "elsewhere", "to-mine"));
	/* but one may be made there, and then holds nothing of that name */
	EXPECT_EQ(0, ask(&self->s, "mkdir", "late"));
	REFUSED("mkdir", NULL, NULL, "mkdir", "late/secret");
	EXPECT_EQ(0, ask(&self->s, "mkdir", "late/other"));
}

/* FS-12 */
TEST_F(deny, a_file_that_is_replaced_stays_denied)
{
	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/secret/t"), "NEW"));
	ASSERT_EQ(0, rename(at(self->w, "ws/secret/t"), self->key));
	REFUSED("open", self->key, NULL, "open", "secret/key", "r");
	ASSERT_EQ(0, rename(self->secret, at(self->w, "ws/kept")));
	ASSERT_EQ(0, world_file(self->w, self->key, "AGAIN"));
	REFUSED("open", self->key, NULL, "open", "secret/key", "r");
}

TEST_F(deny, a_denied_directory_that_the_host_moves_stays_denied)
{
	ASSERT_EQ(0, rename(self->secret, at(self->w, "ws/kept")));
	REFUSED("open", at(self->w, "ws/kept/key"), NULL, "open", "kept/key",
		"r");
	EXPECT_EQ(0, ask(&self->twin, "open", "kept/key", "r"));
}

TEST_F(deny, a_freed_inode_number_denies_nobody)
{
	ASSERT_EQ(0, unlink(self->key));
	for (int i = 0; i < 200; i++) {
		char name[32];

		snprintf(name, sizeof(name), "sub/n%d", i);
		ASSERT_EQ(0, ask(&self->s, "write", name, "ok"));
		ASSERT_EQ(0, ask(&self->s, "open", name, "r"));
	}
}

TEST_F(deny, a_deny_holds_for_a_links_name_and_its_target)
{
	REFUSED("open", at(self->w, "ws/target/key"), NULL, "open",
		"target/key", "r");
	EXPECT_EQ(EACCES, ask(&self->s, "open", "link/key", "r"));
	REFUSED("unlink", at(self->w, "ws/link"), NULL, "unlink", "link");
	EXPECT_TRUE(exists(at(self->w, "ws/link")));
}

/* FS-44 */
TEST_F(deny, a_name_that_begins_like_a_denied_one_is_not)
{
	EXPECT_EQ(0, ask(&self->s, "open", "secret2/key", "r"));
	EXPECT_EQ(0, ask(&self->s, "write", "secret2/key", "x"));
	EXPECT_EQ(0, ask(&self->s, "mkdir", "absent2"));
	EXPECT_EQ(0, ask(&self->s, "write", "secret (deleted)", "x"));
	EXPECT_TRUE(quiet(&self->s));
}

/* FS-24; see depth_test.c */
TEST_F(deny, forty_levels_down_is_denied_and_forty_elsewhere_is_not)
{
	char down[512] = "";

	for (int i = 0; i < 40; i++)
		snprintf(down + strlen(down), sizeof(down) - strlen(down),
			 "/d%d", i);
	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/secret%s/k", down),
				"TEXT"));
	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/sub%s/k", down),
				"TEXT"));
	ASSERT_EQ(0, world_file(self->w, at(self->w, "ro%s/k", down), "TEXT"));
	EXPECT_EQ(EACCES, ask(&self->s, "open",
			      at(self->w, "ws/secret%s/k", down), "r"));
	EXPECT_EQ(0, ask(&self->s, "open", at(self->w, "ws/sub%s/k", down),
			 "+"));
	EXPECT_EQ(0, ask(&self->s, "open", at(self->w, "ro%s/k", down), "r"));
	EXPECT_EQ(EACCES, ask(&self->s, "open", at(self->w, "ro%s/k", down),
			      "+"));
}

/* FS-33; see ways_test.c */
TEST_F(deny, running_what_is_denied_is_refused_in_each_way)
{
	char copy[1024];

	snprintf(copy, sizeof(copy), "cp /bin/true %s/tool; chmod 755 %s/tool;"
		 "echo 'exit 0' >%s/script; cp %s/tool %s/ws/tool",
		 self->secret, self->secret, self->secret, self->secret,
		 self->w->dir);
	ASSERT_EQ(0, system(copy));
	EXPECT_EQ(0, ask(&self->s, "exec", "/bin/true"));
	EXPECT_EQ(0, ask(&self->s, "exec", at(self->w, "ws/tool")));
	REFUSED("exec", NULL, NULL, "exec", at(self->w, "ws/secret/tool"));
	EXPECT_EQ(0, ask(&self->s, "exec", "/bin/sh",
			 at(self->w, "ws/secret/script")));
	EXPECT_NE(0, self->s.reply.value);
	EXPECT_EQ(0, ask(&self->s, "exec", "/lib64/ld-linux-x86-64.so.2",
			 at(self->w, "ws/secret/tool")));
	EXPECT_NE(0, self->s.reply.value);
	EXPECT_EQ(0, ask(&self->twin, "exec", "/lib64/ld-linux-x86-64.so.2",
			 at(self->w, "ws/secret/tool")));
	EXPECT_EQ(0, self->twin.reply.value);
}

TEST_F(deny, a_denied_fifo_does_not_block)
{
	ASSERT_EQ(0, mkfifo(at(self->w, "ws/secret/p"), 0644));
	ASSERT_EQ(0, chown(at(self->w, "ws/secret/p"), self->w->uid,
			   self->w->gid));
	/* so that only the policy refuses */
	ASSERT_EQ(0, chmod(at(self->w, "ws/secret/p"), 0666));
	REFUSED("open", NULL, NULL, "open", "secret/p", "r");
	REFUSED("open", NULL, NULL, "open", "secret/p", "w");
}

/* FS-09 */
TEST_F(deny, the_repositorys_hooks_and_config_are_not_written)
{
	REFUSED("open", NULL, "builtin:protect", "write",
		".git/hooks/pre-commit", "x");
	REFUSED("create", NULL, "builtin:protect", "write",
		".git/hooks/post-checkout", "x");
	REFUSED("rename", NULL, "builtin:protect", "rename", "file",
		".git/hooks/pre-push");
	REFUSED("link", NULL, "builtin:protect", "link", "file",
		".git/hooks/pre-push");
	REFUSED("unlink", NULL, "builtin:protect", "unlink",
		".git/hooks/pre-commit");
	REFUSED("chmod", NULL, "builtin:protect", "chmod",
		".git/hooks/pre-commit", "755");
	REFUSED("open", NULL, "builtin:protect", "write", ".git/config", "x");
	REFUSED("rename", NULL, NULL, "rename", ".git", "git2");
	REFUSED("rename", NULL, NULL, "rename", ".git/hooks", "hooks");
	REFUSED("rename", NULL, NULL, "rename", "file", ".git/config");
	REFUSED("create", NULL, "builtin:protect", "write",
		".git/info/attributes", "x");
	REFUSED("create", NULL, "builtin:protect", "write",
		".git/config.worktree", "x");
	EXPECT_TRUE(holds(at(self->w, "ws/.git/hooks/pre-commit"), "TEXT"));
	EXPECT_TRUE(holds(at(self->w, "ws/.git/config"), "TEXT"));
	/* what honest git does there */
	EXPECT_EQ(0, ask(&self->s, "open", ".git/hooks/pre-commit", "r"));
	EXPECT_EQ(0, ask(&self->s, "open", ".git/config", "r"));
	EXPECT_EQ(0, ask(&self->s, "write", ".git/index.lock", "x"));
	EXPECT_EQ(0, ask(&self->s, "rename", ".git/index.lock", ".git/index"));
	EXPECT_EQ(0, ask(&self->s, "mkdir", ".git/objects/aa"));
	EXPECT_EQ(0, ask(&self->s, "write", ".git/HEAD", "ref: x"));
}

TEST_F(deny, a_hooks_directory_is_not_made_in_a_new_repository)
{
	EXPECT_EQ(0, ask(&self->s, "mkdir", "new"));
	EXPECT_EQ(0, ask(&self->s, "mkdir", "new/.git"));
	EXPECT_EQ(0, ask(&self->s, "write", "new/.git/config", "x"));
	REFUSED("mkdir", NULL, "builtin:protect", "mkdir", "new/.git/hooks");
	EXPECT_EQ(0, ask(&self->s, "mkdir", "new/hooks"));
	EXPECT_EQ(0, ask(&self->s, "write", "new/hooks/pre-commit", "x"));
	REFUSED("rename", NULL, "builtin:protect", "rename", "new/hooks",
		"new/.git/hooks");
	REFUSED("symlink", NULL, "builtin:protect", "symlink", "../hooks",
		"new/.git/hooks");
	/* nor by naming the parent last */
	EXPECT_EQ(0, ask(&self->s, "mkdir", "n2"));
	EXPECT_EQ(0, ask(&self->s, "mkdir", "n2/git"));
	EXPECT_EQ(0, ask(&self->s, "mkdir", "n2/git/hooks"));
	EXPECT_EQ(0, ask(&self->s, "write", "n2/git/hooks/pre-commit", "x"));
	if (!ask(&self->s, "rename", "n2/git", "n2/.git")) {
		/* if it may be named so, nothing more is written below */
		REFUSED("open", NULL, "builtin:protect", "write",
			"n2/.git/hooks/pre-commit", "evil");
		TH_LOG("a directory with hooks/ became .git");
	}
}

TEST_F(deny, no_file_becomes_setuid)
{
	REFUSED("chmod", NULL, NULL, "chmod", "file", "4755");
	REFUSED("chmod", NULL, NULL, "chmod", "file", "2755");
	REFUSED("chmod", NULL, NULL, "fchmod", "file", "4755");
	REFUSED("open", NULL, NULL, "tmpfile", "sub", "sub/named", "4755");
	EXPECT_EQ(0, ask(&self->s, "tmpfile", "sub", "sub/named", "755"));
	EXPECT_EQ(0, ask(&self->s, "chmod", "file", "755"));
	EXPECT_EQ(0, ask(&self->s, "chmod", "sub", "2755"));
	EXPECT_EQ(0, ask(&self->twin, "chmod", "file", "4755"));
}

TEST_F(deny, no_device_is_made_and_none_but_the_harmless_is_opened)
{
	EXPECT_NE(0, ask(&self->s, "mknod", "dev", "c"));
	EXPECT_NE(0, ask(&self->s, "mknod", "dev", "b"));
	EXPECT_EQ(0, ask(&self->s, "open", "/dev/null", "+"));
	/* What it is for is granted, not what it is. */
	EXPECT_EQ(EACCES, ask(&self->s, "chmod", "/dev/null", "666"));
	EXPECT_TRUE(denied(&self->s, "chmod", "/dev/null", NULL));
	EXPECT_EQ(strcmp(variant->user, "root") ? EPERM : 0,
		  ask(&self->twin, "chmod", "/dev/null", "666"));
	EXPECT_EQ(0, ask(&self->s, "chmod", "file", "666"));
	EXPECT_EQ(0, ask(&self->s, "open", "/dev/zero", "r"));
	EXPECT_EQ(0, ask(&self->s, "open", "/dev/urandom", "r"));
	EXPECT_NE(0, ask(&self->s, "open", "/dev/kmsg", "r"));
	EXPECT_NE(0, ask(&self->s, "open", "/dev/mem", "r"));
	EXPECT_NE(0, ask(&self->s, "open", "/dev/ttyS0", "w"));
	EXPECT_NE(0, ask(&self->s, "open", "/dev/vport0p1", "w"));
}

/* FS-47: the name flips between what is granted and what is denied. */
TEST_F(deny, a_link_that_flips_leaks_nothing)
{
	pid_t pid = fork();
	int leaks = 0;

	if (!pid) {
		for (;;) {
			const char *to[] = { "secret2/key", "secret/key" };

			for (int i = 0; i < 2; i++) {
				unlink(at(self->w, "ws/t"));
				(void)!symlink(to[i], at(self->w, "ws/t"));
				rename(at(self->w, "ws/t"),
				       at(self->w, "ws/flip"));
			}
		}
	}
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/secret2/key"),
				"FINE"));
	for (int i = 0; i < 2000; i++)
		if (!ask(&self->s, "open", "flip", "r") &&
		    !strcmp(self->s.reply.text, "TEXT"))
			leaks++;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	EXPECT_EQ(0, leaks);
}

/* The denied directory moves to and fro while it is read. */
TEST_F(deny, a_directory_that_moves_leaks_nothing)
{
	pid_t pid = fork();
	int leaks = 0;

	if (!pid)
		for (;;) {
			rename(self->secret, at(self->w, "ws/sub/moved"));
			rename(at(self->w, "ws/sub/moved"), self->secret);
		}
	ASSERT_LT(0, pid);
	for (int i = 0; i < 1000; i++) {
		leaks += !ask(&self->s, "open", "secret/key", "r");
		leaks += !ask(&self->s, "open", "sub/moved/key", "r");
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	EXPECT_EQ(0, leaks);
}

TEST_HARNESS_MAIN
