// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each object is asked for its maker just before it goes: by descriptor, so
 * that a name which changes hands is not taken for what it was. What cannot be
 * removed stays; nothing here can be a reason for a session not to end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "cleanup.h"
#include "leftover.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define DEPTH_MAX 16	/* directories open at once; deeper ones move up */
#define PASSES_MAX 100000

struct sweep {
	const struct engine_made *m;
	int top;
	unsigned int serial;	/* of names for what is moved up */
	bool moved;
};

static bool is_made(const struct engine_made *m, int fd)
{
	__u64 maker = 0;

	return !bpf_map_lookup_elem(m->made, &fd, &maker) &&
	       maker == m->serial;
}

static void move_up(struct sweep *s, int dir, const char *name)
{
	char up[48];

	snprintf(up, sizeof(up), ".lh-%llx-%u",
		 (unsigned long long)s->m->serial, s->serial++);
	if (!renameat2(dir, name, s->top, up, 1 /* RENAME_NOREPLACE */))
		s->moved = true;
}

static void sweep_directory(struct sweep *s, int dir, dev_t dev, int depth);

static void sweep_entry(struct sweep *s, int dir, const char *name, dev_t dev,
			int depth)
{
	_cleanup_close_ int fd = openat(dir, name, O_PATH | O_NOFOLLOW |
					O_CLOEXEC);
	struct stat st, now;
	bool made;

	if (fd < 0 || fstat(fd, &st) || st.st_dev != dev)
		return;
	made = is_made(s->m, fd);
	if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
		_cleanup_close_ int sub = openat(dir, name, DIR_FLAGS);

		if (sub >= 0)
			sweep_directory(s, sub, dev, depth + 1);
	} else if (S_ISDIR(st.st_mode) && made) {
		move_up(s, dir, name);
		return;
	}
	if (!made || fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) ||
	    now.st_dev != dev || now.st_ino != st.st_ino)
		return;
	unlinkat(dir, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
}

static void sweep_directory(struct sweep *s, int dir, dev_t dev, int depth)
{
	int copy = openat(dir, ".", DIR_FLAGS);
	_cleanup_dir_ DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *ent;

	if (!d && copy >= 0)
		close(copy);
	while (d && (ent = readdir(d)))
		if (strcmp(ent->d_name, ".") && strcmp(ent->d_name, ".."))
			sweep_entry(s, dir, ent->d_name, dev, depth);
}

static void sweep_place(const struct engine_made *m, int dir)
{
	struct sweep s = { .m = m, .top = dir };
	struct stat st;
	int pass;

	if (dir < 0 || fstat(dir, &st))
		return;
	for (pass = 0; !pass || (s.moved && pass < PASSES_MAX); pass++) {
		s.moved = false;
		sweep_directory(&s, dir, st.st_dev, 0);
	}
}

/* A mount of our own: /dev/mqueue need not be there, nor be what it seems. */
static int open_queues(void)
{
	_cleanup_close_ int fs = syscall(SYS_fsopen, "mqueue", FSOPEN_CLOEXEC);

	if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL,
			      NULL, 0))
		return -1;
	return syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID |
		       MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
}

static void remove_object(const struct lh_ipc *o)
{
	switch (o->kind) {
	case LH_IPC_SHM:
		shmctl(o->id, IPC_RMID, NULL);
		break;
	case LH_IPC_SEM:
		semctl(o->id, 0, IPC_RMID);
		break;
	case LH_IPC_MSG:
		msgctl(o->id, IPC_RMID, NULL);
		break;
	}
}

/* All of them first: removing one while the map is walked starts it anew. */
static void sweep_objects(const struct engine_made *m)
{
	struct lh_admit c = { .serial = m->serial };
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = &c,
		    .ctx_size_in = sizeof(c));
	_cleanup_free_ struct lh_ipc *found = calloc(LH_IPC_MAX,
						     sizeof(*found));
	__u64 key, *last = NULL;
	size_t count = 0, i;
	struct lh_ipc one;

	if (!found || bpf_prog_test_run_opts(m->find, &o))
		return;
	for (i = 0; i < LH_IPC_MAX && count < LH_IPC_MAX &&
	     !bpf_map_get_next_key(m->ipc, last, &key); i++) {
		last = &key;
		if (!bpf_map_lookup_elem(m->ipc, &key, &one) &&
		    one.serial == m->serial && one.id >= 0)
			found[count++] = one;
	}
	for (i = 0; i < count; i++)
		remove_object(&found[i]);
}

void leftover_remove(const struct engine_made *m)
{
	_cleanup_close_ int shm = open("/dev/shm", DIR_FLAGS);

	sweep_place(m, shm);
	if (m->any && *m->any) {
		_cleanup_close_ int queues = open_queues();

		sweep_place(m, queues);
		sweep_objects(m);
	}
}
