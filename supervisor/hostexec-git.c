// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the host's git would obey: the configuration and the hooks of any
 * repository below a writable root, bare ones too, wherever a session made or
 * found one, and the .git files that lead to them. There is no picture of them
 * from before, which would be a walk over all of the tree at each start: what
 * changed since is known by the time that the kernel stamps on it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cleanup.h"
#include "hostexec-inner.h"

#define ENTRIES_MAX (1u << 20)	/* below all roots together */
#define PATHS_MAX (64u << 20)	/* bytes of paths of directories */
#define CLOCK_SLACK 100000000	/* two clocks are not read at once */

/* A walk over one root: directories that are to come, shallow ones first. */
struct git_walk {
	struct hostexec *h;
	const struct place *top;
	struct timespec since;
	struct arena mem;
	char **dir;
	size_t count, room, bytes;
	unsigned int entries;
	dev_t dev;		/* of the directory that is looked into */
	bool inside;		/* LH_TOUCHED_INSIDE */
	bool untimed;		/* there may be a change that no time tells */
	bool full;
};

/* What a directory has of what makes it git's. */
struct git_signs {
	bool head, config, common, refs, objects, hooks, info;
	bool wide;		/* or something that may fold to these */
};

static bool older(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec ||
	       (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

static int look_at(const struct place *top, const char *path, int flags,
		   struct statx *x)
{
	_cleanup_close_ int fd = look_open(top->fd, path, O_PATH | flags);

	if (fd < 0)
		return fd;
	return statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT,
		     STATX_BASIC_STATS | STATX_BTIME, x) ? -errno : 0;
}

int hostexec_open(const struct place *top, const char *path, uint64_t most)
{
	struct statx x;
	int r = look_at(top, path, 0, &x);

	if (!r && (!S_ISREG(x.stx_mode) || x.stx_size > most))
		r = -EFBIG;
	return r ? r : look_open(top->fd, path,
				  O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

static bool stamped(const struct git_walk *w, const struct statx_timestamp *t)
{
	struct timespec at = { t->tv_sec, t->tv_nsec };

	/* Some file systems know whole seconds alone. */
	return !older(&at, &w->since) ||
	       (!at.tv_nsec && at.tv_sec == w->since.tv_sec);
}

static bool is_new(const struct git_walk *w, const struct statx *x)
{
	return (x->stx_mask & STATX_BTIME) && stamped(w, &x->stx_btime);
}

/* It is there, and it or what it leads to was changed. */
static bool changed(const struct git_walk *w, const char *path)
{
	struct statx x;

	if (look_at(w->top, path, O_NOFOLLOW, &x))
		return false;
	if (stamped(w, &x.stx_ctime))
		return true;
	return S_ISLNK(x.stx_mode) && !look_at(w->top, path, 0, &x) &&
	       stamped(w, &x.stx_ctime);
}

static const char *absolute(struct git_walk *w, const char *path)
{
	const char *top = strcmp(w->top->path, "/") ? w->top->path : "";
	char *s = *path ? arena_print(&w->h->mem, "%s/%s", top, path) :
		arena_print(&w->h->mem, "%s", w->top->path);

	if (!s)
		w->h->error = -ENOMEM;
	return s ? s : "";
}

static const char *below(struct git_walk *w, const char *dir, const char *name)
{
	char *s = arena_print(&w->mem, "%s%s%s", dir, *dir ? "/" : "", name);

	if (!s)
		w->h->error = -ENOMEM;
	return s ? s : "";
}

static void unseen(struct git_walk *w, const char *dir)
{
	if (w->h->unseen_count < UNSEEN_MAX)
		hostexec_unseen(w->h, absolute(w, dir));
}

static void tell(struct git_walk *w, const char *path, const char *kind,
		 bool made)
{
	if (w->h->change_count == CHANGES_MAX) {
		w->h->more++;
		return;
	}
	hostexec_change(w->h, (struct change){
		.path = absolute(w, path), .kind = kind, .by_time = true,
		.change = made ? CREATED : MODIFIED, .count = 1,
	});
}

/* "../..", as each worktree of a repository has it in worktrees/NAME. */
static bool is_plain_common(const struct git_walk *w, const char *dir,
			    const char *path)
{
	static const char above[] = "/worktrees";
	const char *name = strrchr(dir, '/');
	_cleanup_close_ int fd = -1;
	char text[8];

	/* What is named .git is found from beside it. */
	if (!name || name - dir < (ptrdiff_t)sizeof(above) - 1 ||
	    strncmp(name - sizeof(above) + 1, above, sizeof(above) - 1) ||
	    !strcasecmp(name + 1, ".git"))
		return false;
	fd = hostexec_open(w->top, path, 6);
	return fd >= 0 && read(fd, text, sizeof(text)) == 6 &&
	       !memcmp(text, "../..\n", 6);
}

static bool ends(const char *name, const char *tail)
{
	size_t n = strlen(name), k = strlen(tail);

	return n >= k && !strcmp(name + n - k, tail);
}

/* It may not be listed; what lies in it may be run or written all the same. */
static void closed(struct git_walk *w, const char *dir)
{
	struct statx x;

	if ((!look_at(w->top, dir, O_NOFOLLOW, &x) &&
	     stamped(w, &x.stx_ctime)) ||
	    !look_at(w->top, below(w, dir, "."), 0, &x))
		unseen(w, dir);
}

/*
 * Hooks that changed; or the directory itself, where it was put there, or with
 * @given was made that of a repository.
 */
static void look_at_hooks(struct git_walk *w, const char *dir, bool made,
			  bool given)
{
	const char *hooks = below(w, dir, "hooks");
	int fd = look_open(w->top->fd, hooks, O_RDONLY | O_DIRECTORY);
	_cleanup_dir_ DIR *d = fd < 0 ? NULL : fdopendir(fd);
	unsigned int told = 0, any = 0;
	char path[PATH_MAX + NAME_MAX];
	struct dirent *ent;

	if (fd == -EACCES)
		closed(w, hooks);
	if (fd >= 0 && !d)
		close(fd);
	while (d && !w->full && !w->h->error && (ent = readdir(d))) {
		/* A link may lead many repositories to the same ones. */
		w->full = ++w->entries > ENTRIES_MAX;
		if (*ent->d_name == '.' || ends(ent->d_name, ".sample"))
			continue;
		any++;
		snprintf(path, sizeof(path), "%s/%s", hooks, ent->d_name);
		if (!changed(w, path))
			continue;
		tell(w, path, "hooks", made);
		told++;
	}
	if (any && !told && (given || changed(w, hooks)))
		tell(w, hooks, "hooks", made);
}

/*
 * It looks like a git directory. What lay there before, and is now made that
 * of a repository by what else is new, counts as changed.
 */
static void look_at_git(struct git_walk *w, const char *dir,
			const struct statx *x, const struct git_signs *s)
{
	static const char *const names[] = {
		"config", "config.worktree", "info/attributes", "commondir",
	};
	bool held = w->top->repository && !strcmp(dir, ".git");
	bool made = is_new(w, x), given;
	size_t i;

	if (w->untimed && !held)
		unseen(w, dir);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *path = below(w, dir, names[i]);

		if (!changed(w, path))
			continue;
		if (!strcmp(names[i], "commondir") &&
		    is_plain_common(w, dir, path))
			continue;
		tell(w, path, "git", made);
	}
	/* One without a HEAD is that of others, which lead to it. */
	given = !held && changed(w, below(w, dir, "refs")) &&
		(s->head ? changed(w, below(w, dir, "HEAD")) : s->objects);
	if (s->config && given)
		tell(w, below(w, dir, "config"), "git", made);
	if (s->hooks)
		look_at_hooks(w, dir, made, given);
}

static void push(struct git_walk *w, const char *dir, const char *name)
{
	size_t len = strlen(dir) + strlen(name) + 2;
	size_t room = w->room ? w->room * 2 : 256;
	char **list;

	if (len >= PATH_MAX) {	/* there git does not get either */
		unseen(w, dir);
		return;
	}
	if (w->bytes + len > PATHS_MAX) {
		w->full = true;
		return;
	}
	w->bytes += len;
	if (w->count == w->room) {
		list = realloc(w->dir, room * sizeof(*list));
		if (!list) {
			w->h->error = -ENOMEM;
			return;
		}
		w->dir = list;
		w->room = room;
	}
	w->dir[w->count++] = (char *)below(w, dir, name);
}

static bool is_directory(int fd, const struct dirent *ent)
{
	struct stat st;

	if (ent->d_type != DT_UNKNOWN)
		return ent->d_type == DT_DIR;
	return !fstatat(fd, ent->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
	       S_ISDIR(st.st_mode);
}

/* In either case: the directory may fold names. */
static void sign(struct git_signs *s, const char *name)
{
	s->head |= !strcasecmp(name, "HEAD");
	s->config |= !strcasecmp(name, "config");
	s->common |= !strcasecmp(name, "commondir") ||
		     !strcasecmp(name, "config.worktree");
	s->refs |= !strcasecmp(name, "refs");
	s->objects |= !strcasecmp(name, "objects");
	s->hooks |= !strcasecmp(name, "hooks");
	s->info |= !strcasecmp(name, "info");
	for (; *name && !s->wide; name++)
		s->wide = (unsigned char)*name >= 0x80;
}

/* What a directory that folds names has by them, however they are spelt. */
static void sign_folded(struct git_walk *w, const char *dir,
			struct git_signs *s)
{
	static const char *const names[] = {
		"HEAD", "config", "commondir", "refs", "objects", "hooks",
		"info",
	};
	struct statx x;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!look_at(w->top, below(w, dir, names[i]), O_NOFOLLOW, &x))
			sign(s, names[i]);
}

/* A file that leads to a repository. */
static void look_at_link(struct git_walk *w, const char *path)
{
	struct statx x;

	if (!look_at(w->top, path, O_NOFOLLOW, &x) &&
	    !S_ISDIR(x.stx_mode) && changed(w, path))
		tell(w, path, "git", is_new(w, &x));
}

/* Or half of one. It needs no configuration to have hooks. */
static bool is_git(const struct git_signs *s)
{
	if (s->config || s->common)
		return s->head || s->refs;
	return (s->hooks || s->info) && s->refs && s->objects;
}

static int64_t nanoseconds(const struct timespec *to,
			   const struct timespec *from)
{
	return (to->tv_sec - from->tv_sec) * INT64_C(1000000000) +
	       to->tv_nsec - from->tv_nsec;
}

/*
 * When the session began, as the file system stamps it: its clock may not be
 * ours, or be coarse. A clock that was set back meanwhile says less.
 */
static struct timespec started(const struct hostexec *h,
			       const struct statfs *fs)
{
	struct timespec now, boot, since = h->real;
	int64_t back;

	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	back = nanoseconds(&boot, &h->boot) - nanoseconds(&now, &h->real);
	if (back > CLOCK_SLACK)
		since.tv_sec -= back / 1000000000 + 1;
	switch ((unsigned int)fs->f_type) {
	case FUSE_SUPER_MAGIC:
	case V9FS_MAGIC:
	case NFS_SUPER_MAGIC:
	case SMB2_SUPER_MAGIC:
	case CEPH_SUPER_MAGIC:
	case CIFS_SUPER_MAGIC:
		since.tv_sec -= 60;
		break;
	case MSDOS_SUPER_MAGIC:
	case EXFAT_SUPER_MAGIC:
		since.tv_sec -= 2;
		break;
	}
	return since;
}

/*
 * On FAT and exFAT whoever writes sets the time of a change; what is written
 * into a map of a file that lies in memory alone, or in an overlay of such,
 * leaves none.
 */
static bool is_untimed(const struct statfs *fs, bool inside)
{
	switch ((unsigned int)fs->f_type) {
	case MSDOS_SUPER_MAGIC:
	case EXFAT_SUPER_MAGIC:
		return true;
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
		return inside;
	}
	return false;
}

/*
 * Is it of those that are no files, or where a look may mount something? Each
 * file system has a clock of its own.
 */
static bool is_foreign(struct git_walk *w, int fd)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st))
		return true;
	if (st.st_dev == w->dev)
		return false;
	if (fstatfs(fd, &fs) || fs.f_type == PROC_SUPER_MAGIC ||
	    fs.f_type == SYSFS_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC ||
	    fs.f_type == AUTOFS_SUPER_MAGIC)
		return true;
	w->dev = st.st_dev;
	w->since = started(w->h, &fs);
	w->untimed = is_untimed(&fs, w->inside);
	return false;
}

static void look_into(struct git_walk *w, const char *dir)
{
	int fd = look_open(w->top->fd, dir,
			   O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	struct git_signs s = { 0 };
	_cleanup_dir_ DIR *d = NULL;
	struct dirent *ent;
	struct statx x;

	if (fd == -EACCES)
		closed(w, dir);
	if (fd < 0)
		return;
	d = is_foreign(w, fd) ? NULL : fdopendir(fd);
	if (!d) {
		close(fd);
		return;
	}
	while (!w->full && !w->h->error && (ent = readdir(d))) {
		if (!strcmp(ent->d_name, ".") || !strcmp(ent->d_name, ".."))
			continue;
		w->full = w->full || ++w->entries > ENTRIES_MAX;
		sign(&s, ent->d_name);
		if (is_directory(fd, ent))
			push(w, dir, ent->d_name);
		else if (!strcasecmp(ent->d_name, ".git"))
			look_at_link(w, below(w, dir, ent->d_name));
	}
	if (s.wide) {
		sign_folded(w, dir, &s);
		look_at_link(w, below(w, dir, ".git"));
	}
	if (!is_git(&s) || look_at(w->top, dir, 0, &x))
		return;
	if (look_at(w->top, below(w, dir, "."), 0, &x) == -EACCES)
		unseen(w, dir);	/* it may be listed, and no more */
	else
		look_at_git(w, dir, &x, &s);
}

static unsigned int look_below(struct hostexec *h, const struct place *top,
			       bool inside, unsigned int entries)
{
	struct git_walk w = {
		.h = h, .top = top, .inside = inside, .entries = entries,
	};
	size_t i;

	push(&w, "", "");
	for (i = 0; i < w.count && !w.full && !h->error; i++)
		look_into(&w, w.dir[i]);
	if (w.full)
		hostexec_unseen(h, top->path);
	free(w.dir);
	arena_free(&w.mem);
	return w.entries;
}

void hostexec_git_end(struct hostexec *h, bool inside)
{
	unsigned int entries = 0;
	uint32_t i;

	for (i = 0; i < h->place_count && !h->error; i++)
		if (h->place[i].root)
			entries = look_below(h, &h->place[i], inside, entries);
}

void hostexec_git_begin(struct hostexec *h)
{
	struct statx x;
	uint32_t i;

	clock_gettime(CLOCK_REALTIME_COARSE, &h->real);
	clock_gettime(CLOCK_BOOTTIME, &h->boot);
	for (i = 0; i < h->place_count; i++)
		h->place[i].repository = h->place[i].root &&
			!look_at(&h->place[i], ".git/HEAD", O_NOFOLLOW, &x);
}
