// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same work and the same ways around a rule on each file system that people
 * use. A row is a file system: how it comes about and what it can do. What it
 * cannot, it must not be able to do outside of a session either.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "pair.h"

/* What the row's file system can do. */
#define LINKS 0x1	/* hard and symbolic links */
#define MODES 0x2	/* keeps a file's mode */
#define TMPFILE 0x4	/* unnamed files */
#define EXCHANGE 0x8	/* two names changed at once */
#define REFLINK 0x10
#define FALLOCATE 0x20
#define FOLDS 0x40	/* names are the same in either case */
#define RUNS 0x80	/* programs that are run from there */
#define NOREPLACE 0x100	/* renames that replace nothing */
#define SAME 0x200	/* all names of a file lead to one inode */
#define MOVES 0x400	/* directories may be renamed */
#define SNAPSHOTS 0x800	/* copies of a tree, made by who owns it */
#define MOST (LINKS | MODES | TMPFILE | EXCHANGE | FALLOCATE | RUNS | \
	      NOREPLACE | SAME | MOVES)

FIXTURE(filesystem) {
	struct world *w;
	struct session s, twin;
};

FIXTURE_VARIANT(filesystem) {
	unsigned int can;
	const char *before, *after;	/* of world_make_on() */
};

#define FILESYSTEM(name, ...)						\
	FIXTURE_VARIANT_ADD(filesystem, name) { __VA_ARGS__ }

/* An image, made once a boot, of SIZE by the command MKFS. */
#define IMAGE(name, size, mkfs)						\
	"I=/tmp/lh-fs." name "; [ -e $I ] || { truncate -s " size " $I && "\
	mkfs " $I >$I.log 2>&1; } && mount -o loop $I $DIR && "		\
	"chown $OWNER $DIR"

FILESYSTEM(tmpfs,
	.can = MOST,
	.before = "mount -t tmpfs lh-test $DIR && chown $OWNER $DIR",
);

FILESYSTEM(ext4,
	.can = MOST,
	.before = IMAGE("ext4", "64M", "mkfs.ext4 -q"),
);

FILESYSTEM(ext4_casefold,
	.can = MOST | FOLDS,
	.before = IMAGE("ext4c", "64M",
			"mkfs.ext4 -q -O casefold -E encoding=utf8") " && "
		  "mkdir $DIR/ws && chattr +F $DIR/ws && chown $OWNER $DIR/ws",
);

FILESYSTEM(xfs,
	.can = MOST | REFLINK,
	.before = IMAGE("xfs", "300M", "mkfs.xfs -q"),
);

/* The workspace and what is denied in it: subvolumes, each with its st_dev. */
FILESYSTEM(btrfs,
	.can = MOST | REFLINK | SNAPSHOTS,
	.before = IMAGE("btrfs", "128M", "mkfs.btrfs -q") " && cd $DIR && "
		  "for v in ws ws/secret ws/sub ro; do "
		  "btrfs -q subvolume create $v && chown $OWNER $v || exit; "
		  "done",
);

/* Mounted so that the root of the mount is not that of the file system. */
FILESYSTEM(btrfs_subvolume,
	.can = MOST | REFLINK,
	.before = IMAGE("btrfs", "128M", "mkfs.btrfs -q") " && "
		  "{ [ -e $DIR/vol ] || btrfs -q subvolume create $DIR/vol; } "
		  "&& umount $DIR && mount -o loop,subvol=vol $I $DIR && "
		  "chown $OWNER $DIR",
);

/* Everything of the world lies in the lower layer when the session starts. */
#define OVERLAY(options)						\
	"mkdir $DIR.u $DIR.w && chown $OWNER $DIR.u && mount -t overlay "\
	"-o lowerdir=$DIR,upperdir=$DIR.u,workdir=$DIR.w" options	\
	" overlay $DIR"

FILESYSTEM(overlay,
	.can = MOST & ~(TMPFILE | MOVES),
	.after = OVERLAY(""),
);

FILESYSTEM(overlay_metacopy,
	.can = MOST & ~TMPFILE,
	.after = OVERLAY(",metacopy=on,redirect_dir=on,index=on"),
);

/* Nothing of it lies in the lower layer. */
FILESYSTEM(overlay_upper,
	.can = MOST & ~TMPFILE,
	.before = OVERLAY(""),
);

/* The host's own file system, as a guest sees it. */
FILESYSTEM(virtiofs,
	.can = MOST & ~(TMPFILE | EXCHANGE),
	.before = "mountpoint -q $SHARE || "
		  "{ echo \"# no $SHARE: start lh-vm with --rw\"; exit 1; }; "
		  "mount --bind $SHARE $DIR && chown $OWNER $DIR",
);

FILESYSTEM(fuse,
	.can = LINKS | MODES | RUNS | MOVES,
	.before = "mkdir $DIR.src && bindfs -o allow_other $DIR.src $DIR && "
		  "chown $OWNER $DIR",
);

FILESYSTEM(vfat,
	.can = FOLDS | RUNS | MOVES | NOREPLACE,
	.before = "I=/tmp/lh-fs.vfat; [ -e $I ] || { truncate -s 32M $I && "
		  "mkfs.vfat $I >$I.log; } && "
		  "mount -o loop,uid=$OWNER,gid=$OWNER $I $DIR",
);

FIXTURE_SETUP(filesystem)
{
	struct policy p = { 0 };
	char more[512];
	struct world *w = world_make_on(TEST_USER, variant->before,
					variant->after);

	self->w = w;
	ASSERT_NE(NULL, w);
	/*
	 * ws/token	denied, a file
	 * ws/absent	denied; not there
	 * ws/p/q/r	denied; its parents are not there
	 * ws/vendor	read-only; not there
	 */
	snprintf(more, sizeof(more),
		 ",\"%s/ws/token\",\"%s/ws/absent\",\"%s/ws/p/q/r\"",
		 w->dir, w->dir, w->dir);
	p.deny = more;
	ASSERT_EQ(0, world_file(w, at(w, "ws/token"), "TEXT"));
	ASSERT_EQ(0, policy_write(w, &p));
	ASSERT_EQ(0, session_start(&self->s, w, "s", NULL));
	ASSERT_EQ(0, twin_start(&self->twin, w));
}

PAIR_TEARDOWN(filesystem)

/* Work in the directory W, made by who does it. */
static const struct work {
	unsigned int needs;
	const char *arg[5];
} works[] = {
	{ 0, { "mkdir", "W" } },
	{ 0, { "write", "W/f", "text" } },
	{ 0, { "open", "W/f", "+" } },
	{ 0, { "open", "W/f", "wa" } },
	{ 0, { "open", "W/f", "wt" } },
	{ 0, { "open", "W/new", "wcx" } },
	{ 0, { "stat", "W/f" } },
	{ 0, { "list", "W" } },
	{ 0, { "list", "." } },
	{ 0, { "reopen", "W/f", "+" } },
	{ 0, { "truncate", "W/f" } },
	{ 0, { "ftruncate", "W/f" } },
	{ 0, { "mmap", "W/f", "w" } },
	{ 0, { "replace", "W/f", "again" } },
	{ 0, { "copy", "W/f", "W/copied" } },
	{ 0, { "rename", "W/copied", "W/renamed" } },
	{ NOREPLACE, { "rename", "W/renamed", "W/fresh", "n" } },
	{ 0, { "utimes", "W/f" } },
	{ 0, { "lock", "W/db" } },
	{ 0, { "inotify", "W" } },
	{ 0, { "mkdir", "W/d" } },
	{ 0, { "write", "W/d/f", "text" } },
	{ 0, { "rename", "W/d", "W/e" } },
	{ 0, { "open", "W/e/f", "+" } },
	{ 0, { "unlink", "W/e/f" } },
	{ 0, { "rmdir", "W/e" } },
	{ 0, { "replace", "file", "again" } },
	{ FALLOCATE, { "fallocate", "W/f" } },
	{ EXCHANGE, { "rename", "W/f", "W/new", "x" } },
	{ MODES, { "chmod", "W/f", "600" } },
	{ MODES, { "chmod", "file", "644" } },
	{ MODES, { "chown", "W/f" } },
	{ LINKS, { "link", "W/f", "W/hard" } },
	{ LINKS, { "symlink", "f", "W/soft" } },
	{ LINKS, { "open", "W/soft", "r" } },
	{ LINKS, { "readlink", "W/soft" } },
	{ LINKS, { "rename", "W/soft", "W/soft2" } },
	{ LINKS, { "linkfd", "W/f", "W/hard2" } },
	{ LINKS, { "mknod", "W/p", "f" } },
	{ LINKS, { "unixfile", "W/s" } },
	{ TMPFILE, { "tmpfile", "W" } },
	{ TMPFILE | LINKS, { "tmpfile", "W", "W/named" } },
	{ REFLINK, { "reflink", "W/f", "W/shared" } },
	{ FOLDS, { "open", "W/F", "r" } },
	{ FOLDS, { "open", "FILE", "+" } },
	{ 0, { "open", "lib/file", "r" } },
	{ 0, { "list", "lib" } },
	{ 0, { "stat", "lib/file" } },
	{ 0, { "open", ".git/hooks/pre-commit", "r" } },
	{ 0, { "mkdir", "W/clone" } },
	{ 0, { "mkdir", "W/clone/.git" } },
	{ 0, { "write", "W/clone/.git/config", "x" } },
	{ RUNS, { "exec", "sub/tool", "pid" } },
};

static int work(struct session *s, const struct work *k, const char *dir)
{
	const char *arg[5] = { NULL };
	char text[5][64];

	for (int i = 0; k->arg[i]; i++) {
		arg[i] = k->arg[i];
		if (*arg[i] != 'W')
			continue;
		snprintf(text[i], sizeof(text[i]), "%s%s", dir, arg[i] + 1);
		arg[i] = text[i];
	}
	return session_ask(s, arg);
}

TEST_F(filesystem, work_is_done_as_it_is_outside)
{
	char copy[1024];

	snprintf(copy, sizeof(copy), "cp %s/tests/lsm/probe %s/ws/sub/tool && "
		 "chmod 755 %s/ws/sub/tool", getenv("B") ? getenv("B") :
		 "build", self->w->dir, self->w->dir);
	ASSERT_EQ(0, system(copy));
	for (size_t i = 0; i < ARRAY_SIZE(works); i++) {
		const struct work *k = &works[i];
		int err = work(&self->s, k, "inside");
		int out = work(&self->twin, k, "outside");

		EXPECT_EQ(out, err) {
			TH_LOG("%s %s", k->arg[0], k->arg[1]);
		}
		if ((variant->can & k->needs) == k->needs) {
			EXPECT_EQ(0, out) {
				TH_LOG("%s %s", k->arg[0], k->arg[1]);
			}
		}
	}
	EXPECT_TRUE(quiet(&self->s));
}

/* No way to its content, its metadata or its name; outside, there is. */
#define HIDDEN(path) do {						\
	REFUSED("open", path, "r");					\
	REFUSED("open", path, "w");					\
	REFUSED("reopen", path, "r");					\
	REFUSED("stat", path);						\
	REFUSED("truncate", path);					\
	REFUSED("rename", path, "stolen");				\
	REFUSED("rename", "file", path);				\
	REFUSED("unlink", path);					\
	if (variant->can & LINKS)					\
		REFUSED("link", path, "stolen");			\
	if (variant->can & EXCHANGE)					\
		REFUSED("rename", path, "file", "x");			\
	EXPECT_EQ(0, ask(&self->twin, "open", path, "r"));		\
} while (0)

/* One session for all of it: to start one takes its time here. */
#define PART(name)							\
static void name(struct __test_metadata *_metadata,			\
		 FIXTURE_DATA(filesystem) *self,			\
		 const FIXTURE_VARIANT(filesystem) *variant)

PART(denied_under_any_name)
{
	const struct world *w = self->w;

	HIDDEN("secret/key");
	HIDDEN("token");
	REFUSED("list", "secret");
	REFUSED("write", "secret/new", "x");
	REFUSED("rename", "secret", "stolen");
	EXPECT_EQ(EACCES, ask(&self->s, "stat", "secret"));
	if (variant->can & FOLDS) {
		HIDDEN("SECRET/key");
		HIDDEN("Token");
		REFUSED("list", "SecreT");
	}
	/* moved by the host: the file is what it was */
	ASSERT_EQ(0, rename(at(w, "ws/token"), at(w, "ws/moved")));
	HIDDEN("moved");
	if (variant->can & SAME) {
		ASSERT_EQ(0, link(at(w, "ws/moved"), at(w, "ws/hard")));
		HIDDEN("hard");
	}
	if ((variant->can & LINKS) && !(variant->can & SAME)) {
		/* the kernel's limit: it is not the same file to it */
		ASSERT_EQ(0, link(at(w, "ws/moved"), at(w, "ws/hard")));
		EXPECT_EQ(0, ask(&self->s, "open", "hard", "r"));
	}
	/* made again: another file under the same name */
	ASSERT_EQ(0, world_file(w, at(w, "ws/token"), "TEXT"));
	HIDDEN("token");
	ASSERT_EQ(0, world_file(w, at(w, "ws/other"), "TEXT"));
	ASSERT_EQ(0, rename(at(w, "ws/other"), at(w, "ws/token")));
	HIDDEN("token");
	if (variant->can & EXCHANGE) {
		ASSERT_EQ(0, world_file(w, at(w, "ws/other"), "TEXT"));
		ASSERT_EQ(0, renameat2(AT_FDCWD, at(w, "ws/moved"), AT_FDCWD,
				       at(w, "ws/other"), RENAME_EXCHANGE));
		HIDDEN("other");
		EXPECT_EQ(0, ask(&self->s, "open", "moved", "+"));
	}
	if (variant->can & MOVES) {
		ASSERT_EQ(0, rename(at(w, "ws/secret"),
				    at(w, "ws/elsewhere")));
		HIDDEN("elsewhere/key");
	}
	ASSERT_EQ(0, world_file(w, at(w, "ws/secret/key"), "TEXT"));
	HIDDEN("secret/key");
	EXPECT_EQ(0, ask(&self->s, "open", "file", "+"));
	EXPECT_EQ(0, ask(&self->s, "write", "secret2", "x"));
}

PART(denied_when_it_comes)
{
	const struct world *w = self->w;

	REFUSED("write", "absent", "x");
	REFUSED("mkdir", "absent");
	REFUSED("rename", "file", "absent");
	REFUSED("open", "absent", "wcx");
	if (variant->can & LINKS) {
		REFUSED("link", "file", "absent");
		REFUSED("symlink", "file", "absent");
	}
	if (variant->can & TMPFILE && variant->can & LINKS)
		REFUSED("tmpfile", ".", "absent");
	EXPECT_FALSE(exists(at(w, "ws/absent")));
	/* parents: made by the session, as anything else may be */
	EXPECT_EQ(0, ask(&self->s, "mkdir", "p"));
	EXPECT_EQ(0, ask(&self->s, "mkdir", "p/q"));
	EXPECT_EQ(0, ask(&self->s, "write", "p/q/r2", "x"));
	REFUSED("write", "p/q/r", "x");
	REFUSED("rename", "p/q/r2", "p/q/r");
	ASSERT_EQ(0, world_file(w, at(w, "ws/p/q/r"), "TEXT"));
	HIDDEN("p/q/r");
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, world_file(w, at(w, "ws/absent"), "TEXT"));
		HIDDEN("absent");
		ASSERT_EQ(0, unlink(at(w, "ws/absent")));
	}
	ASSERT_EQ(0, world_file(w, at(w, "ws/absent/in"), "TEXT"));
	HIDDEN("absent/in");
	ASSERT_EQ(0, world_file(w, at(w, "ws/late/secret/in"), "TEXT"));
	HIDDEN("late/secret/in");
	EXPECT_EQ(0, ask(&self->s, "write", "late/secret2", "x"));
}

PART(read_only_or_protected)
{
	const struct world *w = self->w;

	REFUSED("write", "lib/file", "x");
	REFUSED("write", "lib/new", "x");
	REFUSED("mkdir", "lib/new");
	REFUSED("rename", "lib", "lib2");
	REFUSED("rename", "lib/file", "taken");
	REFUSED("rename", "file", "lib/file");
	REFUSED("unlink", "lib/file");
	REFUSED("truncate", "lib/file");
	REFUSED("chmod", "lib/file", "600");
	REFUSED("write", at(w, "ro/file"), "x");
	REFUSED("write", at(w, "outside/file"), "x");
	REFUSED("open", at(w, "outside/file"), "r");
	if (variant->can & LINKS)
		REFUSED("link", "lib/file", "taken");
	REFUSED("write", ".git/hooks/pre-commit", "x");
	REFUSED("write", ".git/hooks/post-checkout", "x");
	REFUSED("write", ".git/config", "x");
	REFUSED("rename", "file", ".git/config");
	REFUSED("rename", ".git", "git2");
	/* in a repository that comes later */
	EXPECT_EQ(0, ask(&self->s, "mkdir", "new"));
	EXPECT_EQ(0, ask(&self->s, "mkdir", "new/.git"));
	REFUSED("mkdir", "new/.git/hooks");
	EXPECT_EQ(0, ask(&self->s, "mkdir", "new/hooks"));
	REFUSED("rename", "new/hooks", "new/.git/hooks");
	EXPECT_EQ(0, ask(&self->s, "open", "lib/file", "r"));
	EXPECT_EQ(0, ask(&self->s, "open", at(w, "ro/file"), "r"));
	EXPECT_EQ(0, ask(&self->s, "open", ".git/hooks/pre-commit", "r"));
	EXPECT_TRUE(holds(at(w, "ws/lib/file"), "TEXT"));
	EXPECT_TRUE(holds(at(w, "ws/.git/config"), "TEXT"));
	EXPECT_TRUE(holds(at(w, "outside/file"), "TEXT"));
}

/* It would have new inodes, and other names above them. */
PART(not_copied_as_a_whole)
{
	EXPECT_EQ(EPERM, ask(&self->s, "snapshot", ".", "snap"));
	EXPECT_FALSE(exists(at(self->w, "ws/snap")));
	if (variant->can & SNAPSHOTS) {
		EXPECT_EQ(0, ask(&self->twin, "snapshot", ".", "snap"));
		/* nor found by a call that opens nothing on the way to it */
		EXPECT_EQ(EPERM, ask(&self->s, "subvolumes", "."));
		EXPECT_EQ(0, ask(&self->twin, "subvolumes", "."));
		EXPECT_NE(NULL, strstr(self->twin.reply.text, "snap "));
	}
}

TEST_F(filesystem, rules_hold_whatever_a_name_leads_to)
{
	not_copied_as_a_whole(_metadata, self, variant);
	read_only_or_protected(_metadata, self, variant);
	denied_when_it_comes(_metadata, self, variant);
	denied_under_any_name(_metadata, self, variant);
}

TEST_HARNESS_MAIN
