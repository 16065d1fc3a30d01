// SPDX-License-Identifier: GPL-2.0-only
/*
 * What overlayfs answers without opening anything in a layer: what a file is,
 * what a directory holds, pipes, sockets, and files that somebody else opened.
 * A layer's denials hold for these too, also where it is an overlay itself.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "local.h"
#include "pair.h"

/*
 * $DIR.l and $DIR.u are the layers, and an overlay of them lies at $OVER. In
 * each of a layer's directories: file, pipe. Denied are $DIR.l/ws/kept, $DIR.u/
 * ws/shut and $DIR.l/ws/mix, which is in both; open, of the lower one, and
 * above, of the upper one, are not. Below the lower one is $DIR.k, of which
 * ws/far is denied; the lower one has it too.
 */
#define STACK								\
	"mkdir $DIR.l $DIR.u $DIR.w && cp -a $DIR/. $DIR.l && "		\
	"for d in l/ws/kept l/ws/mix l/ws/open u/ws/shut u/ws/mix "	\
	"u/ws/above; do mkdir -p $DIR.$d && echo TEXT >$DIR.$d/file && "\
	"mkfifo $DIR.$d/pipe && chmod 666 $DIR.$d/pipe; done && "	\
	"mkdir -p $DIR.l/ws/far $DIR.k/ws/far/key && "			\
	"chown -R $OWNER $DIR.k $DIR.l $DIR.u && mkdir -p $OVER && "	\
	"mount -t overlay -o lowerdir=$DIR.l:$DIR.k,upperdir=$DIR.u,"	\
	"workdir=$DIR.w overlay $OVER"

FIXTURE(stacked) {
	struct world *w;
	struct session s, twin;
};

FIXTURE_VARIANT(stacked) {
	const char *after;
	bool twice;
};

FIXTURE_VARIANT_ADD(stacked, once) {
	.after = "OVER=$DIR; " STACK,
};

FIXTURE_VARIANT_ADD(stacked, twice) {
	.after = "OVER=$DIR.m; " STACK " && mkdir $DIR.n $DIR.x && "
		 "chown $OWNER $DIR.n && mount -t overlay -o lowerdir="
		 "$DIR.m,upperdir=$DIR.n,workdir=$DIR.x overlay $DIR",
	.twice = true,
};

/* Each directory is of both overlays' layers. */
FIXTURE_VARIANT_ADD(stacked, twice_and_merged) {
	.after = "OVER=$DIR.m; " STACK " && mkdir $DIR.n $DIR.x && "
		 "(cd $DIR.m && find . -type d) | (cd $DIR.n && "
		 "xargs mkdir -p) && chown -R $OWNER $DIR.n && mount -t "
		 "overlay -o lowerdir=$DIR.m,upperdir=$DIR.n,workdir=$DIR.x "
		 "overlay $DIR",
	.twice = true,
};

FIXTURE_SETUP(stacked)
{
	struct world *w = world_make_on(TEST_USER, NULL, variant->after);
	struct policy p = { 0 };
	char more[320], sockets[192], dir[96];

	self->w = w;
	ASSERT_NE(NULL, w);
	snprintf(more, sizeof(more), ",\"%s.l/ws/kept\",\"%s.u/ws/shut\","
		 "\"%s.l/ws/mix\",\"%s.k/ws/far\"", w->dir, w->dir, w->dir,
		 w->dir);
	snprintf(sockets, sizeof(sockets), "\"%s/ws\",\"%s.s\"", w->dir,
		 w->dir);
	p.deny = more;
	p.sockets = sockets;
	snprintf(dir, sizeof(dir), "%s.s", w->dir);
	ASSERT_EQ(0, mkdir(dir, 0755));
	ASSERT_EQ(0, policy_write(w, &p));
	ASSERT_EQ(0, session_start(&self->s, w, "s", NULL));
	ASSERT_EQ(0, twin_start(&self->twin, w));
}

PAIR_TEARDOWN(stacked)

static const char *const hidden[] = { "kept", "shut", "mix" };
static const char *const plain[] = { "open", "above" };

TEST_F(stacked, what_a_layer_denies_is_not_seen)
{
	for (int i = 0; i < 2; i++) {
		for (size_t n = 0; n < ARRAY_SIZE(hidden); n++) {
			char file[32];

			snprintf(file, sizeof(file), "%s/file", hidden[n]);
			REFUSED("stat", hidden[n]);
			REFUSED("inotify", hidden[n]);
			REFUSED("list", hidden[n]);
			EXPECT_EQ(0, ask(&self->twin, "list", hidden[n]));
			/* this one lies in the upper layer */
			if (n == 2)
				continue;
			REFUSED("stat", file);
			REFUSED("inotify", file);
			REFUSED("open", file, "r");
			EXPECT_EQ(0, ask(&self->twin, "open", file, "r"));
		}
		for (size_t n = 0; n < ARRAY_SIZE(plain); n++) {
			DONE("stat", plain[n]);
			DONE("inotify", plain[n]);
			DONE("list", plain[n]);
		}
		DONE("stat", "open/file");
		DONE("open", "above/file", "r");
		DONE("stat", "mix/file");
		DONE("list", ".");
	}
	EXPECT_TRUE(denied(&self->s, "stat", at(self->w, "ws/kept"), NULL));
}

/* The host lists it meanwhile, so overlayfs has its names in memory. */
TEST_F(stacked, a_denied_layer_below_the_first_is_not_listed)
{
	DIR *held = opendir(at(self->w, "ws/far"));
	int n = 0;

	ASSERT_NE(NULL, held);
	while (readdir(held))
		n++;
	EXPECT_EQ(3, n);
	REFUSED("list", "far");
	REFUSED("stat", "far");
	REFUSED("inotify", "far");
	REFUSED("stat", "far/key");
	EXPECT_EQ(0, ask(&self->twin, "list", "far"));
	closedir(held);
}

TEST_F(stacked, a_pipe_of_a_denied_layer_is_shut)
{
	static const struct {
		const char *path;
		int want;
	} pipes[] = {
		{ "kept/pipe", EACCES }, { "shut/pipe", EACCES },
		{ "open/pipe", 0 }, { "above/pipe", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pipes); i++) {
		const char *path = pipes[i].path;
		int fd = open(at(self->w, "ws/%s", path), O_RDWR | O_CLOEXEC);

		ASSERT_LE(0, fd);
		for (const char *how = "r\0w\0+\0"; *how; how += 2) {
			EXPECT_EQ(5, write(fd, "TEXT\n", 5));
			EXPECT_EQ(pipes[i].want,
				  ask(&self->s, "open", path, how)) {
				TH_LOG("%s %s", path, how);
			}
			EXPECT_EQ(0, ask(&self->twin, "open", path, how));
		}
		close(fd);
	}
}

TEST_F(stacked, what_the_host_opened_does_not_arrive)
{
	static const struct {
		const char *path;
		int want;
	} given[] = {
		{ "kept/file", EACCES }, { "shut/file", EACCES },
		{ "kept", EACCES }, { "shut", EACCES }, { "mix", EACCES },
		{ "open/file", 0 }, { "above/file", 0 }, { "open", 0 },
	};
	char name[128];
	int status;

	snprintf(name, sizeof(name), "%s.s/giver", self->w->dir);
	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		int fd = open(at(self->w, "ws/%s", given[i].path),
			      O_RDONLY | O_CLOEXEC);

		ASSERT_LE(0, fd);
		ASSERT_LT(0, local_give(name, fd));
		EXPECT_EQ(given[i].want, ask(&self->s, "ureceive", name)) {
			TH_LOG("%s", given[i].path);
		}
		wait(&status);
		unlink(name);
		ASSERT_LT(0, local_give(name, fd));
		EXPECT_EQ(0, ask(&self->twin, "ureceive", name));
		wait(&status);
		unlink(name);
		close(fd);
	}
}

/* It lies in the layer that its name was made in: of two overlays the upper. */
TEST_F(stacked, a_socket_of_a_denied_layer_is_shut)
{
	char name[128];
	int fd;

	fd = local_listen(strcpy(name, at(self->w, "ws/shut/sock")), 's');
	ASSERT_LE(0, fd);
	EXPECT_EQ(variant->twice ? 0 : EACCES,
		  ask(&self->s, "uconnect", name, "s"));
	EXPECT_EQ(variant->twice, local_heard(fd, 's'));
	EXPECT_EQ(0, ask(&self->twin, "uconnect", name, "s"));
	close(fd);
	fd = local_listen(strcpy(name, at(self->w, "ws/above/sock")), 's');
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, ask(&self->s, "uconnect", name, "s"));
	close(fd);
}

TEST_HARNESS_MAIN
