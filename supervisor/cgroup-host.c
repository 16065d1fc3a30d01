// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where this host has which controller. cgroup v2 comes first; on a hybrid
 * host what it lacks may be in a v1 hierarchy that is mounted and can be
 * written to.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "cleanup.h"

static const struct {
	const char *v1, *v2;
} names[CGROUP_CONTROLS] = {
	[CGROUP_MEMORY] = { "memory", "memory" },
	[CGROUP_PIDS] = { "pids", "pids" },
	[CGROUP_CPU] = { "cpu", "cpu" },
	[CGROUP_IO] = { "blkio", "io" },
};

const char *cgroup_control_name(enum cgroup_control c, enum cgroup_home home)
{
	return home == CGROUP_V1 ? names[c].v1 : names[c].v2;
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);
	const char *p = words;

	while ((p = strstr(p, word))) {
		char end = p[len];

		if ((p == words || p[-1] == ' ') &&
		    (end == ' ' || end == '\n' || !end))
			return true;
		p += len;
	}
	return false;
}

/* The words of @file, or "" and false. */
static bool read_words(const char *root, const char *file, char *words,
		       size_t size)
{
	_cleanup_close_ int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int fd = dir < 0 ? -1 :
		openat(dir, file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, words, size - 1);

	words[n > 0 ? n : 0] = 0;
	return n > 0;
}

static bool read_controllers(const char *root, char *words, size_t size)
{
	return read_words(root, "cgroup.controllers", words, size);
}

/*
 * Of cgroup v2's, those that groups below @root can have. A group which has
 * processes gives none to those below it, but for the first of all, which has
 * no events.
 */
static bool read_given(const char *root, char *words, size_t size)
{
	char text[32];

	return read_words(root, "cgroup.events", text, sizeof(text)) &&
	       read_words(root, "cgroup.procs", text, sizeof(text)) ?
	       read_words(root, "cgroup.subtree_control", words, size) :
	       read_controllers(root, words, size);
}

bool cgroup_has(const char *root, const char *controller)
{
	char words[1024];

	return read_controllers(root, words, sizeof(words)) &&
	       has_word(words, controller);
}

bool cgroup_any(const char *root, char *name, size_t size)
{
	char words[1024];

	if (!read_given(root, words, sizeof(words)))
		return false;
	snprintf(name, size, "%.*s", (int)strcspn(words, " \n"), words);
	return name[0];
}

/* Others than root see by this too what root could do. */
static bool read_only(const char *dir)
{
	return access(dir, W_OK) && errno == EROFS;
}

/* A v1 hierarchy: of which of those that are still missing? */
static void take_v1(const struct mntent *m, struct cgroup_host *h)
{
	int c;

	for (c = 0; c < CGROUP_CONTROLS; c++) {
		struct cgroup_place *at = &h->at[c];

		if (at->home != CGROUP_NOWHERE ||
		    !hasmntopt(m, names[c].v1) || read_only(m->mnt_dir) ||
		    strlen(m->mnt_dir) >= sizeof(at->dir))
			continue;
		at->home = CGROUP_V1;
		strcpy(at->dir, m->mnt_dir);
	}
}

void cgroup_look(const char *root, struct cgroup_host *h)
{
	_cleanup_file_ FILE *f = NULL;
	char words[1024], given[1024], buf[8192];
	bool all = true;
	struct mntent m;
	int c;

	*h = (struct cgroup_host){};
	read_controllers(root, words, sizeof(words));
	read_given(root, given, sizeof(given));
	for (c = 0; c < CGROUP_CONTROLS; c++) {
		h->at[c].busy = has_word(words, names[c].v2);
		if (has_word(given, names[c].v2)) {
			h->at[c].home = CGROUP_V2;
			snprintf(h->at[c].dir, sizeof(h->at[c].dir), "%s",
				 root);
		} else {
			all = false;
		}
	}
	if (all)
		return;
	f = setmntent("/proc/self/mounts", "re");
	while (f && getmntent_r(f, &m, buf, sizeof(buf)))
		if (!strcmp(m.mnt_type, "cgroup"))
			take_v1(&m, h);
}

bool cgroup_place_has(const struct cgroup_place *at, const char *below,
		      const char *file)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s/%s", at->dir, below, file);
	return !access(path, F_OK);
}

/* "8:0" of each disk, as many as fit; partitions are their disk's. */
size_t cgroup_disks(char (*disk)[CGROUP_DISK], size_t max)
{
	DIR *d = opendir("/sys/block");
	struct dirent *ent;
	size_t n = 0;

	while (d && n < max && (ent = readdir(d))) {
		_cleanup_close_ int dir = -1;
		char size[32] = "";
		int fd;

		if (ent->d_name[0] == '.')
			continue;
		dir = openat(dirfd(d), ent->d_name, O_PATH | O_DIRECTORY |
			     O_CLOEXEC);
		fd = openat(dir, "size", O_RDONLY | O_CLOEXEC);
		if (fd < 0 || read(fd, size, sizeof(size) - 1) <= 0 ||
		    !strcmp(size, "0\n"))
			size[0] = 0;	/* nothing in it */
		close_fd(&fd);
		fd = openat(dir, "dev", O_RDONLY | O_CLOEXEC);
		memset(disk[n], 0, CGROUP_DISK);
		if (size[0] && fd >= 0 &&
		    read(fd, disk[n], CGROUP_DISK - 1) > 0) {
			disk[n][strcspn(disk[n], "\n")] = 0;
			n++;
		}
		close_fd(&fd);
	}
	if (d)
		closedir(d);
	return n;
}
