// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tree, and what the host does to it during a game: it makes, moves, links
 * and takes away whatever it likes, and mounts over it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "game.h"

/* Few names, so that they meet. */
static const char *const names[] = {
	"a", "b", "c", "d", ".git", "hooks", "config", "p", "q", "secret",
	"late", "lib", "m1", "keys", "info",
};

/* Below the world: what the roots of a policy are taken from. */
static const char *const places[] = {
	"ws", "ws", "ws", "ws", "w2", "ro", "rd", "out",
};

const char *tree_name(struct game *g)
{
	return ONE_OF(g, names);
}

/* An entry of @dir that is there, or "". */
static void any_entry(struct game *g, const char *dir, char out[256])
{
	char all[32][256];
	unsigned int n = 0;
	struct dirent *e;
	DIR *d = opendir(dir);

	out[0] = 0;
	while (d && n < 32 && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    strcmp(e->d_name, ".lh-toolchain-cache"))
			snprintf(all[n++], 256, "%s", e->d_name);
	if (d)
		closedir(d);
	if (n)
		snprintf(out, 256, "%s", all[roll(g, n)]);
}

void tree_path(struct game *g, const char *dir, char out[TEXT])
{
	char name[256], host[TEXT];
	size_t len = snprintf(out, TEXT, "%s", dir);

	for (int depth = 0; depth < 7 && (!depth || roll(g, 4)); depth++) {
		unsigned int what = roll(g, 20);

		spot_for_host(g, *out ? out : ".", host);
		if (what < 18)
			any_entry(g, host, name);
		else
			snprintf(name, sizeof(name), "%s",
				 what == 18 && depth ? ".." : tree_name(g));
		/* No directory, or an empty one: seldom further. */
		if (!*name && depth && roll(g, 4))
			return;
		if (!*name)
			snprintf(name, sizeof(name), "%s", tree_name(g));
		if (len + strlen(name) + 2 > TEXT / 4)
			return;
		len += snprintf(out + len, TEXT - len, "%s%s",
				len && out[len - 1] != '/' ? "/" : "", name);
	}
}

/* The same, as the host alone would go; without . and .. */
static void host_path(struct game *g, char out[TEXT])
{
	do
		tree_path(g, at(g->w, "%s", ONE_OF(g, places)), out);
	while (strstr(out, "/.."));
}

static void own(struct game *g, const char *path)
{
	(void)!lchown(path, g->w->uid, g->w->gid);
}

static void put_file(struct game *g, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC |
		      O_NOFOLLOW, 0755);

	if (fd < 0)
		return;
	(void)!write(fd, "TEXT", 4);
	close(fd);
	own(g, path);
}

static void put_dir(struct game *g, const char *path)
{
	if (!mkdir(path, 0755))
		own(g, path);
}

static void put_link(struct game *g, const char *path)
{
	char target[TEXT];

	switch (roll(g, 3)) {
	case 0:
		snprintf(target, sizeof(target), "%s", tree_name(g));
		break;
	case 1:
		snprintf(target, sizeof(target), "../%s", tree_name(g));
		break;
	default:
		host_path(g, target);
	}
	if (!symlink(target, path))
		own(g, path);
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

/* Is it one of the places themselves, which stay? */
static bool is_place(const struct game *g, const char *path)
{
	const char *rest = path + strlen(g->w->dir) + 1;

	return !strchr(rest, '/');
}

static void put(struct game *g, const char *path)
{
	char other[TEXT];

	switch (roll(g, 8)) {
	case 0: case 1: case 2:
		put_dir(g, path);
		break;
	case 3: case 4: case 5:
		put_file(g, path);
		break;
	case 6:
		put_link(g, path);
		break;
	case 7:
		host_path(g, other);
		(void)!linkat(AT_FDCWD, other, AT_FDCWD, path, 0);
	}
}

static bool covers(const char *a, const char *b)
{
	size_t n = strlen(a);

	return !strncmp(a, b, n) && (!b[n] || b[n] == '/');
}

/*
 * No mount covers another one or the source of one: what is seen at a path
 * would be too much for a plain reference.
 */
static bool may_mount(struct game *g, const char *path)
{
	char from[TEXT], link[64];
	ssize_t n;

	for (int i = 0; i < MOUNTS; i++) {
		const struct mounted *m = &g->mount[i];

		if (!m->used)
			continue;
		if (covers(path, m->at) || covers(m->at, path))
			return false;
		snprintf(link, sizeof(link), "/proc/self/fd/%d", m->source);
		n = m->bind ? readlink(link, from, sizeof(from) - 1) : 0;
		from[n > 0 ? n : 0] = 0;
		if (n > 0 && (covers(path, from) || covers(from, path)))
			return false;
	}
	return true;
}

static void mount_one(struct game *g, struct mounted *m)
{
	char path[TEXT], from[TEXT];
	bool bind = roll(g, 3);
	struct stat st, was;
	int source = -1, r;

	host_path(g, path);
	host_path(g, from);
	/* Names that mean something to what is mounted over them. */
	if (!roll(g, 3)) {
		strcat(path, ONE_OF(g, ((const char *const[]){
			"/.git", "/p", "/late", "/.git/hooks" })));
		put_dir(g, path);
	}
	mounts_refresh(g);
	/* A link on the way would make these paths of something else. */
	if (lstat(path, &was) || !S_ISDIR(was.st_mode) || is_place(g, path) ||
	    !may_mount(g, path) || access(path, F_OK))
		return;
	if (bind) {
		char *real = realpath(from, NULL);

		if (!real || strcmp(real, from) || lstat(from, &st) ||
		    !S_ISDIR(st.st_mode) || covers(path, from) ||
		    !may_mount(g, from)) {
			free(real);
			return;
		}
		free(real);
		source = open(from, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	}
	{
		char *real = realpath(path, NULL);

		r = real && !strcmp(real, path) ?
			bind ? mount(from, path, NULL, MS_BIND, NULL) :
			       mount("none", path, "tmpfs", 0, "mode=755") : -1;
		free(real);
	}
	if (r) {
		if (source >= 0)
			close(source);
		return;
	}
	if (!bind)
		own(g, path);
	*m = (struct mounted){
		.used = true, .bind = bind, .source = source,
		.root = open(path, O_PATH | O_CLOEXEC | O_DIRECTORY),
		.covered = { was.st_dev, was.st_ino },
	};
	mounts_refresh(g);
}

static void unmount_one(struct game *g, struct mounted *m)
{
	mounts_refresh(g);
	if (umount2(m->at, MNT_DETACH))
		return;
	close(m->root);
	if (m->bind)
		close(m->source);
	m->used = false;
}

void tree_unmount(struct game *g)
{
	for (int i = 0; i < MOUNTS; i++)
		if (g->mount[i].used)
			unmount_one(g, &g->mount[i]);
}

void tree_act(struct game *g)
{
	struct mounted *m = &g->mount[roll(g, MOUNTS)];
	char path[TEXT], other[TEXT];
	struct stat st;

	host_path(g, path);
	switch (roll(g, 12)) {
	case 0: case 1: case 2: case 3: case 4:
		put(g, path);
		break;
	case 5: case 6: case 7:
		host_path(g, other);
		if (!is_place(g, path) && !is_place(g, other))
			(void)!renameat2(AT_FDCWD, path, AT_FDCWD, other,
					 roll(g, 3) ? 0 : RENAME_EXCHANGE);
		break;
	case 8:
		if (!is_place(g, path))
			remove(path);
		break;
	case 9:
		if (!is_place(g, path) && !lstat(path, &st) &&
		    S_ISDIR(st.st_mode))
			nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS |
			     FTW_MOUNT);
		break;
	default:
		if (m->used)
			unmount_one(g, m);
		else
			mount_one(g, m);
	}
}

static void repository(struct game *g, const char *dir)
{
	char path[TEXT];

	snprintf(path, sizeof(path), "%.800s/.git", dir);
	put_dir(g, path);
	if (roll(g, 4)) {
		snprintf(path, sizeof(path), "%.800s/.git/HEAD", dir);
		put_file(g, path);
	}
	if (roll(g, 2)) {
		snprintf(path, sizeof(path), "%.800s/.git/hooks", dir);
		put_dir(g, path);
	}
	if (roll(g, 2)) {
		snprintf(path, sizeof(path), "%.800s/.git/config", dir);
		put_file(g, path);
	}
	if (roll(g, 2)) {
		snprintf(path, sizeof(path), "%.800s/.git/info", dir);
		put_dir(g, path);
	}
}

int tree_make(struct game *g)
{
	static const char *const dirs[] = { "ws", "w2", "ro", "rd", "out" };
	char path[TEXT];
	size_t i;

	g->w = world_empty(roll(g, 4) ? TEST_USER : "root");
	if (!g->w)
		return -1;
	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		put_dir(g, at(g->w, "%s", dirs[i]));
	put_dir(g, at(g->w, "log"));
	if (roll(g, 2))
		repository(g, at(g->w, "ws"));
	for (i = 0; i < 90; i++) {
		host_path(g, path);
		put(g, path);
		if (!roll(g, 24))
			repository(g, path);
	}
	for (i = roll(g, 6); i < MOUNTS; i++)
		for (int try = 0; try < 8 && !g->mount[i].used; try++)
			mount_one(g, &g->mount[i]);
	return 0;
}
