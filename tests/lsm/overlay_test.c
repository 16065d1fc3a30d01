// SPDX-License-Identifier: GPL-2.0-only
/*
 * overlayfs: a file lies in a layer below until somebody changes it, and is
 * then another one; what is removed is covered by a mark; the layers can be
 * reached beside it. Rules hold through all of that, and work goes on.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "pair.h"

/*
 * DIR is the overlay; $DIR.l its layer below, where everything lies when the
 * session starts, $DIR.u the one above. $DIR.l/ws/kept, $DIR.l/ws/alone and
 * $DIR.u/ws/shut are denied as that alone, and $DIR.u/ws/ro is read-only.
 * $DIR/ws/mix is of both layers, and denied in the one below.
 */
#define OVER(options)							\
	"mkdir $DIR.l $DIR.u $DIR.w && cp -a $DIR/. $DIR.l && "		\
	"mkdir $DIR.l/ws/kept && echo TEXT >$DIR.l/ws/kept/key && "	\
	"echo TEXT >$DIR.l/ws/one && ln $DIR.l/ws/one $DIR.l/ws/two && "\
	"echo TEXT >$DIR.l/ws/alone && "				\
	"mkdir $DIR.l/ws/mix && echo TEXT >$DIR.l/ws/mix/low && "	\
	"for i in ro shut mix; do mkdir -p $DIR.u/ws/$i && "		\
	"echo TEXT >$DIR.u/ws/$i/file; done && "			\
	"chown -R $OWNER $DIR.l $DIR.u && mount -t overlay -o "		\
	"lowerdir=$DIR.l,upperdir=$DIR.u,workdir=$DIR.w" options	\
	" overlay $DIR"

FIXTURE(overlay) {
	struct world *w;
	struct session s, twin;
	char low[128];
};

FIXTURE_VARIANT(overlay) {
	const char *after;
	bool one_inode;		/* of a file with two names */
};

FIXTURE_VARIANT_ADD(overlay, plain) {
	.after = OVER(""),
};

FIXTURE_VARIANT_ADD(overlay, metacopy_and_redirects) {
	.after = OVER(",metacopy=on,redirect_dir=on,index=on"),
	.one_inode = true,
};

FIXTURE_SETUP(overlay)
{
	struct policy p = { 0 };
	struct world *w = world_make_on(TEST_USER, NULL, variant->after);
	char more[720], ro[160];

	self->w = w;
	ASSERT_NE(NULL, w);
	snprintf(self->low, sizeof(self->low), "%s.l", w->dir);
	snprintf(more, sizeof(more), ",\"%s/ws/kept\",\"%s/ws/one\","
		 "\"%s.u/ws/shut\",\"%s/ws/mix\",\"%s/ws/alone\"",
		 self->low, w->dir, w->dir, self->low, self->low);
	snprintf(ro, sizeof(ro), ",\"%s.u/ws/ro\"", w->dir);
	p.deny = more;
	p.ro = ro;
	ASSERT_EQ(0, policy_write(w, &p));
	ASSERT_EQ(0, session_start(&self->s, w, "s", NULL));
	ASSERT_EQ(0, twin_start(&self->twin, w));
}

PAIR_TEARDOWN(overlay)

/* Forget what nobody holds: inodes get other addresses and numbers. */
static int forget(void)
{
	return system("echo 2 >/proc/sys/vm/drop_caches");
}

static int append(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	int err = fd < 0 || write(fd, "+", 1) != 1;

	close(fd);
	return err;
}

TEST_F(overlay, what_the_host_copies_up_stays_what_it_was)
{
	const struct world *w = self->w;

	REFUSED("open", "secret/key", "r");
	ASSERT_EQ(0, append(at(w, "ws/secret/key")));
	ASSERT_EQ(0, append(at(w, "ws/lib/file")));
	ASSERT_EQ(0, append(at(w, "ws/.git/config")));
	ASSERT_EQ(0, append(at(w, "outside/file")));
	for (int i = 0; i < 2; i++) {
		REFUSED("open", "secret/key", "r");
		REFUSED("stat", "secret/key");
		REFUSED("list", "secret");
		REFUSED("write", "lib/file", "x");
		REFUSED("write", ".git/config", "x");
		REFUSED("open", at(w, "outside/file"), "r");
		DONE("open", "lib/file", "r");
		ASSERT_EQ(0, forget());
	}
	EXPECT_EQ(0, ask(&self->twin, "open", "secret/key", "r"));
}

TEST_F(overlay, the_session_copies_up_what_it_may_change)
{
	DONE("open", "file", "wa");
	DONE("chmod", ".git/HEAD", "600");
	DONE("utimes", ".git/HEAD");
	DONE("chown", ".git/HEAD");
	DONE("mmap", "file", "w");
	DONE("lock", "file");
	DONE("mkdir", "sub/new");
	DONE("unlink", "file");
	DONE("write", "file", "x");
	DONE("rmdir", "sub/new");
	DONE("rmdir", "sub");
	DONE("mkdir", "sub");		/* opaque: what was below is not in it */
	DONE("write", "sub/f", "x");
	ASSERT_EQ(0, forget());
	DONE("open", "file", "+");
	DONE("open", "sub/f", "+");
	DONE("unlink", "sub/f");
	DONE("mkdir", ".git/refs/tags");
	DONE("write", ".git/refs/heads/main", "x");
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(overlay, what_is_covered_and_made_again_is_denied)
{
	const struct world *w = self->w;

	REFUSED("unlink", "secret/key");
	REFUSED("rename", "secret", "s2");
	ASSERT_EQ(0, unlink(at(w, "ws/secret/key")));
	ASSERT_EQ(0, forget());
	REFUSED("write", "secret/key", "x");
	ASSERT_EQ(0, world_file(w, at(w, "ws/secret/key"), "TEXT"));
	REFUSED("open", "secret/key", "r");
	ASSERT_EQ(0, world_file(w, at(w, "ws/late/secret"), "TEXT"));
	ASSERT_EQ(0, forget());
	REFUSED("open", "late/secret", "r");
}

/* By its layer, though no rule names it here. */
TEST_F(overlay, a_denied_file_of_a_layer_is_not_read_through_it)
{
	REFUSED("open", "kept/key", "r");
	REFUSED("open", "kept/key", "wa");
	REFUSED("list", "kept");
	REFUSED("copy", "kept/key", "stolen");
	EXPECT_EQ(0, ask(&self->twin, "open", "kept/key", "r"));
	EXPECT_EQ(0, ask(&self->twin, "list", "kept"));
	EXPECT_FALSE(exists(at(self->w, "ws/stolen")) &&
		     holds(at(self->w, "ws/stolen"), "TEXT"));
	REFUSED("open", "one", "r");
	/* the kernel's limit: without an index it is two files */
	EXPECT_EQ(variant->one_inode ? EACCES : 0,
		  ask(&self->s, "open", "two", "r"));
}

/* Nor looked at, whatever overlayfs has in memory of it by then. */
TEST_F(overlay, a_denied_file_of_a_layer_is_not_seen_through_it)
{
	int held = open(at(self->w, "ws/mix"), O_RDONLY | O_DIRECTORY);
	static const char *const hidden[] = {
		"kept", "kept/key", "shut", "shut/file", "mix", "mix/low",
	};

	ASSERT_LE(0, held);
	for (int i = 0; i < 2; i++) {
		for (size_t n = 0; n < ARRAY_SIZE(hidden); n++) {
			REFUSED("stat", hidden[n]);
			REFUSED("inotify", hidden[n]);
			EXPECT_EQ(0, ask(&self->twin, "stat", hidden[n]));
		}
		REFUSED("list", "mix");
		REFUSED("list", "shut");
		REFUSED("list", "kept");
		/* now it is in memory */
		ASSERT_EQ(0, ask(&self->twin, "list", "mix"));
		ASSERT_EQ(0, ask(&self->twin, "list", "kept"));
		DONE("stat", "lib/file");
		DONE("stat", "sub");
		DONE("list", "sub");
		DONE("list", "ro");
		DONE("inotify", "sub");
		DONE("open", "lib/file", "r");
	}
	close(held);
}

/* A name in the layer above, of which the overlay's own path says nothing. */
TEST_F(overlay, no_name_comes_or_goes_where_a_layer_forbids_it)
{
	static const char *const place[] = { "ro", "shut" };

	for (int i = 0; i < 2; i++) {
		const char *dir = place[i];
		char file[32], new[32];

		snprintf(file, sizeof(file), "%s/file", dir);
		snprintf(new, sizeof(new), "%s/new", dir);
		REFUSED("write", new, "x");
		REFUSED("write", file, "x");
		REFUSED("mkdir", new);
		REFUSED("symlink", "x", new);
		REFUSED("mknod", new, "f");
		REFUSED("link", "file", new);
		REFUSED("rename", "file", new);
		REFUSED("rename", file, "out");
		REFUSED("rename", dir, "moved");
		REFUSED("unlink", file);
		REFUSED("chmod", file, "600");
		REFUSED("utimes", file);
		REFUSED("setxattr", file, "user.a");
		EXPECT_FALSE(exists(at(self->w, "ws/out")));
		EXPECT_TRUE(holds(at(self->w, "ws/%s/file", dir),
				  "TEXT\n"));
	}
	DONE("open", "ro/file", "r");
	REFUSED("open", "shut/file", "r");
	/* beside them work goes on, and the layers' own names are no matter */
	DONE("mkdir", "new");
	DONE("rename", "file", "new/file");
	DONE("link", "new/file", "new/second");
	DONE("symlink", "x", "new/link");
	DONE("mknod", "new/fifo", "f");
	DONE("utimes", "new/file");
	DONE("unlink", "new/file");
	EXPECT_EQ(0, ask(&self->twin, "write", "ro/new", "x"));
	EXPECT_EQ(0, ask(&self->twin, "rename", "ro/new", "shut/new"));
	EXPECT_EQ(0, ask(&self->twin, "unlink", "shut/new"));
}

/* Nor is it covered by a mark, and another one in its place. */
TEST_F(overlay, a_denied_file_of_a_layer_is_not_replaced)
{
	/* else overlayfs looks for it in the layer, and that is refused */
	int held = open(at(self->w, "ws/alone"), O_PATH | O_CLOEXEC);

	ASSERT_LE(0, held);
	REFUSED("unlink", "alone");
	REFUSED("rename", "alone", "moved");
	REFUSED("rename", "file", "alone");
	REFUSED("rename", "file", "alone", "x");
	REFUSED("link", "alone", "moved");
	REFUSED("chmod", "alone", "600");
	REFUSED("utimes", "alone");
	REFUSED("truncate", "alone");
	REFUSED("chmod", "kept", "700");
	REFUSED("rename", "mix/low", "moved");
	DONE("rename", "mix/file", "moved");
	DONE("write", "mix/new", "x");
	DONE("unlink", "moved");
	EXPECT_TRUE(holds(at(self->w, "ws/alone"), "TEXT\n"));
	EXPECT_EQ(0, ask(&self->twin, "rename", "file", "alone"));
	DONE("open", "alone", "+");	/* it is what file was */
	close(held);
}

/* A second overlay, made during the session inside the workspace. */
TEST_F(overlay, one_that_comes_later_is_judged_alike)
{
	const struct world *w = self->w;
	char script[1024];

	snprintf(script, sizeof(script), "D=%s; mkdir $D/ws/o $D.u2 $D.w2 && "
		 "mkdir -p $D.l2/absent && echo TEXT >$D.l2/file && "
		 "chown -R %d $D.l2 $D.u2 && mount -t overlay -o lowerdir="
		 "$D.l2:$D.l/ws,upperdir=$D.u2,workdir=$D.w2 overlay $D/ws/o",
		 w->dir, (int)w->uid);
	ASSERT_EQ(0, system(script));
	DONE("open", "o/file", "+");
	DONE("write", "o/new", "x");
	DONE("unlink", "o/file");
	REFUSED("open", "o/kept/key", "r");
	EXPECT_EQ(0, ask(&self->twin, "open", "o/kept/key", "r"));
	/* and over a place that is denied by its name */
	snprintf(script, sizeof(script), "D=%s; mkdir -p $D/ws/late/secret && "
		 "mkdir $D.u3 $D.w3 && mount -t overlay -o lowerdir=$D.l2,"
		 "upperdir=$D.u3,workdir=$D.w3 overlay $D/ws/late/secret",
		 w->dir);
	ASSERT_EQ(0, system(script));
	REFUSED("open", "late/secret/absent", "rd");
	REFUSED("write", "late/secret/new", "x");
}

TEST_HARNESS_MAIN
