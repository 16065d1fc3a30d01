// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who asks, and the places that a session needs. A place is tried with a file
 * that is removed at once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/magic.h>

#include "../../supervisor/acl.h"
#include "../../supervisor/cgroup.h"
#include "../../supervisor/cleanup.h"
#include "../../supervisor/denials.h"
#include "../../supervisor/load.h"
#include "../../supervisor/registry.h"
#include "doctor.h"

#define BPFFS "/sys/fs/bpf"

static bool has_capability(cap_value_t c)
{
	cap_t caps = cap_get_proc();
	cap_flag_value_t v = CAP_CLEAR;

	if (caps)
		cap_get_flag(caps, c, CAP_EFFECTIVE, &v);
	cap_free(caps);
	return v == CAP_SET;
}

/* Root of the whole machine, or of a user namespace? */
static bool is_mapped(void)
{
	_cleanup_file_ FILE *f = fopen("/proc/self/uid_map", "re");
	unsigned int inside, outside, count;

	return f && fscanf(f, "%u %u %u", &inside, &outside, &count) == 3 &&
	       (inside || outside || count != 4294967295u);
}

static void check_root(struct doctor *d)
{
	static const cap_value_t wanted[] = {
		CAP_SYS_ADMIN, CAP_SETUID, CAP_SETGID, CAP_SETPCAP, CAP_KILL,
		CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_CHOWN, CAP_FOWNER,
	};
	struct finding *f;
	size_t i;

	if (!d->root) {
		f = find(d, "root", NEED_ALL, V_MISSING, "started as uid %u",
			 getuid());
		effect(f, "lh-supervise needs root; what only root can try is "
		       "untried below");
		remedy(f, "sudo lh-doctor");
		return;
	}
	if (is_mapped()) {
		f = find(d, "root", NEED_ALL, V_MISSING, "root of a user "
			 "namespace only (/proc/self/uid_map)");
		effect(f, "the kernel takes no LSM program from it");
		remedy(f, "start it on the host, outside of the rootless "
		       "container");
		return;
	}
	for (i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		_cleanup_free_ char *name = NULL;
		char *text;

		if (has_capability(wanted[i]))
			continue;
		text = cap_to_name(wanted[i]);
		f = find(d, "root", NEED_ALL, V_MISSING, "root without %s",
			 text ? text : "a capability");
		cap_free(text);
		remedy(f, "start it with all capabilities (a container: "
		       "--privileged)");
		return;
	}
	find(d, "root", NEED_ALL, V_OK, "root, with its capabilities");
}

void check_caller(struct doctor *d)
{
	struct finding *f;
	char id[64];

	check_root(d);
	cgroup_own_session(id);
	if (!id[0]) {
		find(d, "session", NEED_ALL, V_OK, "not inside a session");
		return;
	}
	f = find(d, "session", NEED_ALL, V_MISSING, "inside session %s", id);
	effect(f, "a session cannot start another one, and what is tried here "
	       "is judged by its policy");
	remedy(f, "start it outside");
}

/* A pin that lives for a moment. */
static int try_pin(void)
{
	char path[64];
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "lh_doctor", 4, 4, 1,
				 NULL);
	int err = 0;

	if (map < 0)
		return -errno;
	snprintf(path, sizeof(path), BPFFS "/lh-doctor-%d", getpid());
	if (bpf_obj_pin(map, path))
		err = -errno;
	else if (unlink(path))
		err = -errno;
	close(map);
	return err;
}

static void check_bpffs(struct doctor *d)
{
	struct finding *f;
	struct statfs st;
	int err;

	if (statfs(BPFFS, &st) || st.f_type != BPF_FS_MAGIC) {
		f = find(d, "bpffs", NEED_ENGINE, V_MISSING, "no BPF file "
			 "system at " BPFFS);
		effect(f, "the engine has no place to stay");
		remedy(f, "mount -t bpf bpf " BPFFS);
		return;
	}
	if (!d->root) {
		find(d, "bpffs", NEED_ENGINE, V_UNTRIED, "at " BPFFS);
		return;
	}
	err = try_pin();
	if (!err) {
		find(d, "bpffs", NEED_ENGINE, V_OK, "at " BPFFS ", takes pins");
		return;
	}
	f = find(d, "bpffs", NEED_ENGINE, V_MISSING, BPFFS " takes no pin: %s",
		 strerror(-err));
	effect(f, "the engine has no place to stay");
	if (err == -EROFS)
		remedy(f, "mount -o remount,rw " BPFFS);
}

/* A file in @dir that one user may read, and what @what says of it. */
static void try_file(struct doctor *d, const char *id, enum need need,
		     int dir, const char *path, bool there)
{
	struct finding *f;
	char name[64];
	int fd, acl;
	bool full;

	snprintf(name, sizeof(name), ".lh-doctor-%d", getpid());
	fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		f = find(d, id, need, V_MISSING, "%s: no file can be made: %s",
			 path, strerror(errno));
		remedy(f, errno == EROFS ? "mount %s writable" :
		       "make room in %s", path);
		return;
	}
	full = write(fd, "x", 1) != 1 && errno == ENOSPC;
	acl = acl_allow_reading(fd, 65534);
	unlinkat(dir, name, 0);
	close(fd);
	if (full) {
		f = find(d, id, need, V_MISSING, "%s: full", path);
		remedy(f, "make room in %s", path);
	} else if (acl) {
		f = find(d, id, NEED_NOTHING, V_LIMITED, "%s takes no access "
			 "lists: %s", path, strerror(-acl));
		effect(f, "users cannot read what is kept there of their "
		       "sessions; root can");
		remedy(f, "use a file system with POSIX access lists there "
		       "(tmpfs, ext4, xfs, btrfs)");
	} else {
		find(d, id, need, V_OK, there ? "%s, root's alone, takes files "
		     "and access lists" : "%s, where it is made when it is "
		     "needed", path);
	}
}

/* @dir, or where it is not yet there the first of its parents that is. */
static void check_place(struct doctor *d, const char *id, enum need need,
			const char *path)
{
	_cleanup_close_ int fd = -1;
	struct finding *f;
	bool there = true;
	struct stat st;
	char at[256];

	snprintf(at, sizeof(at), "%s", path);
	while ((fd = open(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
			  O_CLOEXEC)) < 0 && errno == ENOENT &&
	       strrchr(at, '/') != at) {
		*strrchr(at, '/') = 0;
		there = false;
	}
	if (fd < 0 && errno == EACCES && !d->root) {
		find(d, id, need, V_UNTRIED, "%s", path);
		return;
	}
	if (fd < 0 || fstat(fd, &st)) {
		f = find(d, id, need, V_MISSING, "%s: %s", at, strerror(errno));
		remedy(f, "make it a directory of root's: install -d -m 755 %s",
		       at);
		return;
	}
	if (there && (st.st_uid || (st.st_mode & 022))) {
		f = find(d, id, need, V_MISSING, "%s: others than root can "
			 "write there", at);
		remedy(f, "chown root %s && chmod go-w %s", at, at);
		return;
	}
	if (d->root)
		try_file(d, id, need, fd, at, there);
	else
		find(d, id, need, V_UNTRIED, "%s", path);
}

void check_places(struct doctor *d)
{
	check_bpffs(d);
	check_place(d, "run_directory", NEED_ALL, REGISTRY_DIR);
	check_place(d, "log_directory", NEED_NOTHING, DENIALS_DIR);
}

void check_ceiling(struct doctor *d)
{
	enum image_profile weakest = PROFILE_UNRESTRICTED;
	struct identity id = {};
	struct diags why = {};
	struct err e = {};
	struct finding *f;
	bool there = false;
	int err = identity_find(NULL, false, &id, &e);

	if (!err)
		err = load_ceiling(&id, &there, &weakest, &why, &e);
	if (err == -EACCES && !d->root) {
		find(d, "ceiling", NEED_ALL, V_UNTRIED, "%s", e.msg);
	} else if (err) {
		f = find(d, "ceiling", NEED_ALL, V_MISSING, "%s", e.num ?
			 e.msg : diags_error(&why));
		effect(f, "no session starts under a ceiling that cannot be "
		       "read");
		if (err == -EPERM)
			remedy(f, "chown root " LOAD_CEILING " && chmod 644 "
			       LOAD_CEILING);
		else
			remedy(f, "lh-policy check " LOAD_CEILING);
	} else if (there) {
		find(d, "ceiling", NEED_ALL, V_OK, LOAD_CEILING ": the weakest "
		     "profile there is %s", profile_names[weakest]);
	} else {
		find(d, "ceiling", NEED_ALL, V_OK, "none (" LOAD_CEILING "): "
		     "policies may have any profile");
	}
	diags_free(&why);
	identity_free(&id);
}
