// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mounts below, over and beside roots, made before a session and during it, and
 * trees that are mounted nowhere. What is mounted inside a root is of the root;
 * what is shown elsewhere is granted by where it is shown, and denied by where
 * it lies.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "pair.h"

/*
 *   ws/nested	a file system of its own
 *   ws/bound	outside/sub, shown
 *   ws/twice	ws/sub, shown again
 *   ws/part	ro/sub, of a read-only root, shown
 *   shown	ws/sub, shown outside of any root
 *   all	ws, shown outside of any root
 */
#define BEFORE								\
	"cd $DIR && mkdir ws/nested ws/bound ws/twice ws/part shown all "	\
	"&& mount -t tmpfs lh-test ws/nested && "			\
	"chown $OWNER ws/nested outside/sub && "			\
	"mount --bind outside/sub ws/bound && "				\
	"mount --bind ws/sub ws/twice && mount --bind ws/sub shown && "	\
	"mount --bind ws all && mount --bind ro/sub ws/part"

FIXTURE(mounts) {
	struct world *w;
	struct session s, twin;
};

FIXTURE_VARIANT(mounts) {
	bool unshare;		/* the supervisor's mounts are its own */
};

FIXTURE_VARIANT_ADD(mounts, hosts) {
	.unshare = false,
};

FIXTURE_VARIANT_ADD(mounts, own_namespace) {
	.unshare = true,
};

FIXTURE_SETUP(mounts)
{
	struct policy p = { 0 };
	struct world *w;
	char more[1024];

	if (variant->unshare) {
		ASSERT_EQ(0, unshare(CLONE_NEWNS));
		ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE,
				   NULL));
	}
	self->w = w = world_make_on(TEST_USER, NULL, BEFORE);
	ASSERT_NE(NULL, w);
	ASSERT_EQ(0, world_file(w, at(w, "ws/nested/secret"), "TEXT"));
	ASSERT_EQ(0, world_file(w, at(w, "ws/nested/file"), "TEXT"));
	ASSERT_EQ(0, world_file(w, at(w, "ws/sub/file"), "TEXT"));
	ASSERT_EQ(0, world_file(w, at(w, "ws/sub/token"), "TEXT"));
	ASSERT_EQ(0, world_file(w, at(w, "ws/bound/token"), "TEXT"));
	ASSERT_EQ(0, world_file(w, at(w, "ro/sub/file"), "TEXT"));
	ASSERT_EQ(0, world_dir(w, at(w, "ws/sub/keys")));
	snprintf(more, sizeof(more),
		 ",\"%s/ws/nested/secret\",\"%s/ws/nested/absent\","
		 "\"%s/ws/sub/token\",\"%s/ws/sub/keys/a/b\","
		 "\"%s/ws/bound/token\",\"%s/ws/bound/absent/x\"", w->dir,
		 w->dir, w->dir, w->dir, w->dir, w->dir);
	p.deny = more;
	ASSERT_EQ(0, policy_write(w, &p));
	ASSERT_EQ(0, session_start(&self->s, w, "s", NULL));
	ASSERT_EQ(0, twin_start(&self->twin, w));
}

PAIR_TEARDOWN(mounts)

TEST_F(mounts, a_file_system_inside_a_root_is_of_the_root)
{
	DONE("open", "nested/file", "+");
	DONE("write", "nested/new", "x");
	DONE("mkdir", "nested/d");
	DONE("rename", "nested/new", "nested/d/new");
	DONE("tmpfile", "nested", "nested/named");
	REFUSED("open", "nested/secret", "r");
	REFUSED("stat", "nested/secret");
	REFUSED("rename", "nested/secret", "nested/s2");
	REFUSED("write", "nested/absent", "x");
	REFUSED("link", "nested/file", "nested/absent");
	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/nested/absent"),
				"TEXT"));
	REFUSED("open", "nested/absent", "r");
	/* a mount point does not move, whoever moves it */
	EXPECT_EQ(EBUSY, ask(&self->twin, "rename", "nested", "n2"));
	EXPECT_NE(0, ask(&self->s, "rename", "nested", "n2"));
}

TEST_F(mounts, what_is_shown_elsewhere_is_granted_by_where)
{
	const struct world *w = self->w;

	/* of the workspace, wherever else it lies */
	DONE("open", "bound/file2", "wc");
	DONE("unlink", "bound/file2");
	DONE("open", "twice/file", "+");
	DONE("write", "twice/new", "x");
	REFUSED("open", "bound/token", "r");
	DONE("mkdir", "bound/absent");
	REFUSED("mkdir", "bound/absent/x");
	/* the root itself is the root, wherever it is met */
	DONE("open", at(w, "all/file"), "+");
	REFUSED("open", at(w, "all/secret/key"), "r");
	/* the same files, outside of it */
	REFUSED("open", at(w, "shown/file"), "r");
	REFUSED("write", at(w, "shown/new2"), "x");
	REFUSED("list", at(w, "shown"));
	DONE("stat", at(w, "shown/file"));
	EXPECT_EQ(0, ask(&self->twin, "open", at(w, "shown/file"), "+"));
	/* what is read-only there, below a root or above it */
	DONE("open", "part/file", "r");
	REFUSED("write", "part/file", "x");
	REFUSED("write", "part/new", "x");
	REFUSED("unlink", "part/file");
	EXPECT_EQ(0, ask(&self->twin, "write", "part/file", "x"));
}

TEST_F(mounts, what_is_shown_elsewhere_is_denied_by_what_it_is)
{
	const struct world *w = self->w;

	REFUSED("open", "twice/token", "r");
	REFUSED("stat", "twice/token");
	REFUSED("stat", at(w, "all/secret/key"));
	REFUSED("stat", at(w, "shown/token"));
	EXPECT_EQ(0, ask(&self->twin, "open", "twice/token", "r"));
	/* by name, and with parents that are not there, through the other */
	DONE("mkdir", "twice/keys/a");
	REFUSED("write", "twice/keys/a/b", "x");
	REFUSED("rename", "twice/file", "twice/keys/a/b");
	ASSERT_EQ(0, world_file(w, at(w, "ws/twice/keys/a/b"), "TEXT"));
	REFUSED("open", "twice/keys/a/b", "r");
	REFUSED("open", "sub/keys/a/b", "r");
	DONE("open", "twice/keys/a", "rd");
	/* where outside/sub lies is nobody's root, but the file is denied */
	REFUSED("stat", at(w, "outside/sub/token"));
}

TEST_F(mounts, what_is_mounted_later_is_of_where_it_is)
{
	const struct world *w = self->w;

	/* beside: work goes on */
	ASSERT_EQ(0, mount("none", at(w, "ws/sub"), "tmpfs", 0, NULL));
	ASSERT_EQ(0, chown(at(w, "ws/sub"), w->uid, w->gid));
	DONE("write", "sub/new", "x");
	REFUSED("write", "sub/token", "x");	/* by name */
	/* over what is denied, read-only, protected */
	for (const char *const *p = (const char *const[]){
		     "ws/secret", "ws/lib", "ws/.git/hooks", "ro", NULL }; *p;
	     p++) {
		ASSERT_EQ(0, mount("none", at(w, "%s", *p), "tmpfs", 0, NULL));
		ASSERT_EQ(0, chown(at(w, "%s", *p), w->uid, w->gid));
		ASSERT_EQ(0, world_file(w, at(w, "%s/f", *p), "TEXT"));
		REFUSED("write", at(w, "%s/f", *p), "x");
		REFUSED("write", at(w, "%s/n", *p), "x");
		EXPECT_EQ(strcmp(*p, "ws/secret") ? 0 : EACCES,
			  ask(&self->s, "open", at(w, "%s/f", *p), "r")) {
			TH_LOG("%s", *p);
		}
	}
	/* what is denied, shown under another name */
	ASSERT_EQ(0, umount2(at(w, "ws/secret"), MNT_DETACH));
	ASSERT_EQ(0, mount(at(w, "ws/secret"), at(w, "ws/bound"), NULL,
			   MS_BIND, NULL));
	REFUSED("open", "bound/key", "r");
	REFUSED("list", "bound");
	EXPECT_EQ(0, ask(&self->twin, "open", "bound/key", "r"));
	/* a file over a file */
	ASSERT_EQ(0, mount(at(w, "outside/file"), at(w, "ws/file"), NULL,
			   MS_BIND, NULL));
	DONE("open", "file", "+");
}

TEST_F(mounts, a_mount_over_the_workspace_is_the_workspace)
{
	const struct world *w = self->w;

	ASSERT_EQ(0, mount("none", at(w, "ws"), "tmpfs", 0, NULL));
	ASSERT_EQ(0, chown(at(w, "ws"), w->uid, w->gid));
	DONE("write", at(w, "ws/new"), "x");
	REFUSED("mkdir", at(w, "ws/secret"));
	DONE("mkdir", at(w, "ws/late"));
	REFUSED("write", at(w, "ws/late/secret"), "x");
	/* what it hides is what it was, to who is in it */
	DONE("open", "file", "+");
	REFUSED("open", "secret/key", "r");
}

TEST_F(mounts, a_mount_that_moves_is_judged_where_it_is)
{
	const struct world *w = self->w;

	ASSERT_EQ(0, world_dir(w, at(w, "ws/lib/in")));
	ASSERT_EQ(0, world_dir(w, at(w, "ws/secret/in")));
	/* Not possible where the mount above is shared: here none is. */
	ASSERT_EQ(0, mount(NULL, "/tmp", NULL, MS_PRIVATE, NULL));
	ASSERT_EQ(0, mount(at(w, "ws/nested"), at(w, "outside/sub"), NULL,
			   MS_MOVE, NULL));
	REFUSED("open", at(w, "outside/sub/file"), "r");
	ASSERT_EQ(0, mount(at(w, "outside/sub"), at(w, "ws/lib/in"), NULL,
			   MS_MOVE, NULL));
	DONE("open", "lib/in/file", "r");
	REFUSED("write", "lib/in/file", "x");
	ASSERT_EQ(0, mount(at(w, "ws/lib/in"), at(w, "ws/secret/in"), NULL,
			   MS_MOVE, NULL));
	REFUSED("open", "secret/in/file", "r");
	ASSERT_EQ(0, mount(at(w, "ws/secret/in"), at(w, "ws/nested"), NULL,
			   MS_MOVE, NULL));
	DONE("open", "nested/file", "+");
	REFUSED("open", "nested/secret", "r");
}

TEST_F(mounts, what_is_no_longer_mounted_is_nowhere)
{
	const struct world *w = self->w;

	DONE("chdir", "nested");
	DONE("open", "file", "+");
	ASSERT_EQ(0, umount2(at(w, "ws/nested"), MNT_DETACH));
	REFUSED("open", "file", "r");
	REFUSED("open", "secret", "r");
	REFUSED("write", "new", "x");
	REFUSED("list", ".");
	DONE("chdir", at(w, "ws"));
	DONE("open", "file", "+");
}

/* A tree that is mounted nowhere, given as the standard error. */
static int detached(const struct world *w, const char *name, int flags)
{
	int tree = syscall(SYS_open_tree, AT_FDCWD, w->dir,
			   1 /* OPEN_TREE_CLONE */ | O_CLOEXEC);
	int fd = tree < 0 ? -1 : openat(tree, name, flags | O_CLOEXEC);

	close(tree);
	return fd;
}

TEST_F(mounts, a_tree_that_is_mounted_nowhere_grants_nothing)
{
	struct session s;
	int fd = detached(self->w, "ws", O_RDONLY | O_DIRECTORY);

	ASSERT_LE(0, fd);
	session_stderr = fd;
	ASSERT_EQ(0, session_start(&s, self->w, "detached", NULL));
	EXPECT_EQ(EACCES, ask(&s, "openat", "/dev/fd/2", "file", "r"));
	EXPECT_EQ(EACCES, ask(&s, "openat", "/dev/fd/2", "secret/key", "r"));
	EXPECT_EQ(EACCES, ask(&s, "openat", "/dev/fd/2", "new", "wc"));
	EXPECT_EQ(EACCES, ask(&s, "stat", "/dev/fd/2/secret/key"));
	EXPECT_EQ(0, ask(&s, "stat", "/dev/fd/2/file"));
	EXPECT_EQ(0, ask(&s, "list", "/dev/fd/2"));	/* it was given */
	EXPECT_EQ(0, session_end(&s));
	close(fd);
}

/* > /dev/stderr, where that came from another namespace or none. */
TEST_F(mounts, a_given_file_may_be_opened_again_wherever_it_lies)
{
	struct session s;
	int fd = detached(self->w, "log/policy.json", O_WRONLY | O_APPEND);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, world_file(self->w, at(self->w, "log/other"), "TEXT"));
	session_stderr = fd;
	ASSERT_EQ(0, session_start(&s, self->w, "given", NULL));
	EXPECT_EQ(0, ask(&s, "open", "/dev/stderr", "wa"));
	EXPECT_EQ(EACCES, ask(&s, "open", "/dev/stderr", "r"));
	EXPECT_EQ(EACCES, ask(&s, "open", at(self->w, "log/other"), "r"));
	EXPECT_EQ(0, session_end(&s));
	close(fd);
}

/*
 * What is shown below a denied directory is denied. The rest of its file system
 * is not, which is not below it there.
 */
TEST_F(mounts, shown_below_what_is_denied)
{
	const struct world *w = self->w;

	ASSERT_EQ(0, world_file(w, at(w, "ws/given/f"), "TEXT"));
	ASSERT_EQ(0, world_dir(w, at(w, "ws/secret/m")));
	DONE("symlink", "f", "sub/link");
	DONE("utimes", "given/f");
	ASSERT_EQ(0, mount(at(w, "ws/given"), at(w, "ws/secret/m"), NULL,
			   MS_BIND, NULL));
	REFUSED("open", "secret/m/f", "r");
	REFUSED("stat", "secret/m/f");
	REFUSED("utimes", "secret/m/f");
	DONE("readlink", "sub/link");
	DONE("utimes", "sub/file");
	DONE("utimes", "sub");
	/* Before 6.6 a tmpfs has none of these, for anybody. */
	EXPECT_EQ(ask(&self->twin, "setxattr", "sub/file", "user.lh"),
		  ask(&self->s, "setxattr", "sub/file", "user.lh"));
	DONE("listxattr", "sub/file");
	DONE("open", "given/f", "+");
	/* A question of attributes does not know by which way it came. */
	REFUSED("utimes", "given/f");
	ASSERT_EQ(0, umount2(at(w, "ws/secret/m"), MNT_DETACH));
	DONE("utimes", "given/f");
}

/* Another process, whose mounts are its own, changes what the session sees. */
TEST_F(mounts, another_namespace_changes_nothing)
{
	const struct world *w = self->w;
	int status;
	pid_t pid = fork();

	if (!pid) {
		_exit(unshare(CLONE_NEWNS) ||
		      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		      mount(at(w, "ws/secret"), at(w, "ws/bound"), NULL,
			    MS_BIND, NULL) ||
		      rename(at(w, "ws/bound/key"), at(w, "ws/bound/k2")) ||
		      umount2(at(w, "ws/nested"), MNT_DETACH) ||
		      mount("none", at(w, "ws/sub"), "tmpfs", 0, NULL) ||
		      !holds(at(w, "ws/bound/k2"), "TEXT"));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	REFUSED("open", "secret/k2", "r");
	REFUSED("open", "bound/token", "r");
	DONE("open", "nested/file", "+");
	DONE("open", "sub/file", "+");
	EXPECT_EQ(0, ask(&self->twin, "open", "secret/k2", "r"));
}

TEST_HARNESS_MAIN
