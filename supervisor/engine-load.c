// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine comes and goes: trial by doing, loading, attaching, proof, pins.
 * The pins appear under their final name in one rename, after the proof: who
 * finds them finds a whole engine that was seen to refuse.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "cgroup.h"
#include "engine-pins.h"
#include "lh.skel.h"

#define ENGINE_PROGRAMS_MAX 256
#define KERNEL_ENOTSUPP 524	/* its own, in no header of user space */

/* The first warning that libbpf had: it names the program that failed. */
static char first_warning[256];

static int keep_warning(enum libbpf_print_level level, const char *fmt,
			va_list ap)
{
	const char *debug = getenv("LH_ENGINE_DEBUG");

	if (debug && *debug) {
		va_list copy;

		va_copy(copy, ap);
		vfprintf(stderr, fmt, copy);
		va_end(copy);
	}
	if (level == LIBBPF_WARN && !first_warning[0]) {
		vsnprintf(first_warning, sizeof(first_warning), fmt, ap);
		first_warning[strcspn(first_warning, "\n")] = 0;
	}
	return 0;
}

/* Does the kernel say that it cannot or will not, or is it something else? */
static bool is_kernels(int err)
{
	return err == -EPERM || err == -EACCES || err == -EINVAL ||
	       err == -ENOSYS || err == -EOPNOTSUPP || err == -E2BIG ||
	       err == -KERNEL_ENOTSUPP;
}

/* For a remedy only: what the list says is never taken for what holds. */
static bool list_lacks_bpf(void)
{
	FILE *f = fopen("/sys/kernel/security/lsm", "re");
	char list[512] = "", *name, *rest = list;
	bool lacks;

	if (!f)
		return false;
	lacks = fgets(list, sizeof(list), f);
	fclose(f);
	while ((name = strsep(&rest, ",\n")))
		if (!strcmp(name, "bpf"))
			lacks = false;
	return lacks;
}

/* "none integrity [confidentiality]": nothing may read the kernel's memory. */
static bool is_confidential(void)
{
	FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char list[128] = "";
	bool is;

	if (!f)
		return false;
	is = fgets(list, sizeof(list), f) && strstr(list, "[confidentiality]");
	fclose(f);
	return is;
}

static int load_failed(int err, struct err *e)
{
	if (is_confidential())
		return err_set(e, err, "this kernel is locked down for "
			       "confidentiality, so the engine may not read "
			       "what it judges (%s); boot it with "
			       "lockdown=integrity or none, see "
			       "/sys/kernel/security/lockdown", strerror(-err));
	if (list_lacks_bpf())
		return err_set(e, err, "the engine does not hold on this kernel "
			       "(%s): `bpf` is missing in the lsm= list of its "
			       "command line; see /sys/kernel/security/lsm",
			       strerror(-err));
	if (err == -EPERM)
		return err_set(e, err, "this kernel refuses to load BPF LSM "
			       "programs (EPERM); run where it does not, or in "
			       "a guest: lh-vm -- CMD");
	return err_set(e, err, "the engine does not load on this kernel: %s "
		       "(%s); LH_ENGINE_DEBUG=1 shows the verifier's words",
		       strerror(-err), first_warning);
}

static enum engine_lack lack_of(int err)
{
	if (list_lacks_bpf())
		return ENGINE_ABSENT;
	return is_kernels(err) ? ENGINE_NOT_ATTACHED : ENGINE_LACKS_NOTHING;
}

static int no_btf(int err, enum engine_lack *lack, struct err *e)
{
	static const char file[] = "/sys/kernel/btf/vmlinux";

	if (!access(file, F_OK) || errno != ENOENT)
		return err_sys(e, err, "the kernel's BTF, %s", file);
	*lack = ENGINE_ABSENT;
	return err_set(e, -ENOTSUP, "this kernel has no BTF (%s): "
		       "CONFIG_DEBUG_INFO_BTF is needed", file);
}

static int skeleton_load(struct lh **out, enum engine_lack *lack,
			 struct err *e)
{
	struct btf *btf = btf__load_vmlinux_btf();
	struct lh *lh;
	int err;

	if (!btf)
		return no_btf(errno ? -errno : -EINVAL, lack, e);
	lh = lh__open();
	if (!lh) {
		err = -errno;
		btf__free(btf);
		return err_sys(e, err, "the engine's object is damaged");
	}
	lh->rodata->lh_have_cast =
		btf__find_by_name_kind(btf, "bpf_rdonly_cast",
				       BTF_KIND_FUNC) > 0;
	err = engine_hooks_select(lh->obj, btf, e);
	btf__free(btf);
	if (err) {
		*lack = ENGINE_ABSENT;
	} else {
		err = lh__load(lh);
		if (err) {
			*lack = lack_of(err);
			load_failed(err, e);
		}
	}
	if (err) {
		lh__destroy(lh);
		return err;
	}
	*out = lh;
	return 0;
}

/* The pool of rings: batched, since one update waits for a grace period. */
static int rings_make(int map, struct err *e)
{
	__u32 keys[LH_RINGS_AT_LOAD - 1], count = 0, i;
	int fds[LH_RINGS_AT_LOAD - 1], err = 0;

	for (i = 0; i < LH_RINGS_AT_LOAD - 1 && !err; i++) {
		fds[i] = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "lh_ring", 0, 0,
					LH_RING_BYTES, NULL);
		if (fds[i] < 0)
			err = -errno;
		else
			count++;
		keys[i] = i + 1;
	}
	if (!err && bpf_map_update_batch(map, keys, fds, &count, NULL))
		err = -errno;
	while (i-- > 0)
		if (fds[i] >= 0)
			close(fds[i]);
	return err ? err_sys(e, err, "engine: cannot make the rings") : 0;
}

static int pin(int fd, const char *name, struct err *e)
{
	char path[256];

	snprintf(path, sizeof(path), ENGINE_LOADING "/%s", name);
	if (bpf_obj_pin(fd, path))
		return err_sys(e, -errno, "engine: cannot pin %s", path);
	return 0;
}

/* @links NULL: pin each; else the caller gets them, *count of them. */
static int attach_all(struct lh *lh, const char *cgroup_root,
		      struct bpf_link **links, size_t *count,
		      enum engine_lack *lack, struct err *e)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, lh->obj) {
		const char *name = bpf_program__name(p);
		struct bpf_link *link;
		char file[128];
		int err;

		if (!bpf_program__autoload(p) ||
		    !strcmp(bpf_program__section_name(p), "syscall"))
			continue;
		link = NULL;
		err = engine_net_attach(cgroup_root, p, &link);
		if (err) {
			*lack = lack_of(err);
			return err_sys(e, err, "engine: cannot attach %s",
				       name);
		}
		if (links) {
			links[(*count)++] = link;
			continue;
		}
		snprintf(file, sizeof(file), "link_%s", name);
		err = pin(bpf_link__fd(link), file, e);
		/* The pin holds it from here on. */
		bpf_link__disconnect(link);
		bpf_link__destroy(link);
		if (err)
			return err;
	}
	return 0;
}

int engine_unpin(const char *dir, struct err *e)
{
	DIR *d = opendir(dir);
	struct dirent *f;
	int err = 0;

	if (!d)
		return -errno;
	while ((f = readdir(d))) {
		if (f->d_name[0] == '.')
			continue;
		if (unlinkat(dirfd(d), f->d_name, 0))
			err = -errno;
	}
	closedir(d);
	if (!err && rmdir(dir))
		err = -errno;
	return err ? err_sys(e, err, "engine: cannot remove the pins %s", dir) :
	       0;
}

struct stale {
	struct err *e;
	int err;
};

static void remove_stale(const char *build, bool used, void *arg)
{
	struct stale *s = arg;
	char path[512];

	if (s->err)
		return;
	snprintf(path, sizeof(path), ENGINE_DIR "/%s", build);
	if (used)
		s->err = err_set(s->e, -EBUSY, "engine %s of another build "
				 "is in use by running sessions (this is "
				 "%s); end them first", build, engine_build());
	else
		s->err = engine_unpin(path, s->e);
}

void engine_others(void (*each)(const char *build, bool used, void *arg),
		   void *arg)
{
	DIR *d = opendir(ENGINE_DIR);
	struct dirent *f;

	while (d && (f = readdir(d))) {
		char path[512];
		bool used;
		int use;

		if (f->d_name[0] == '.' || !strcmp(f->d_name, engine_build()))
			continue;
		snprintf(path, sizeof(path), ENGINE_RUN "/use-%s", f->d_name);
		use = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		used = use >= 0 && flock(use, LOCK_EX | LOCK_NB);
		each(f->d_name, used, arg);
		if (use >= 0)
			close(use);
	}
	if (d)
		closedir(d);
}

/* Builds other than ours: away with them, unless sessions run under them. */
static int stale_remove(struct err *e)
{
	struct stale s = { .e = e };

	engine_others(remove_stale, &s);
	return s.err;
}

static int prove(struct lh *lh, const char *cgroup_root, struct engine *en,
		 struct err *e)
{
	int err;

	*en = (struct engine){
		.labels = bpf_map__fd(lh->maps.lh_labels),
		.sessions = bpf_map__fd(lh->maps.lh_sessions),
		.roots = bpf_map__fd(lh->maps.lh_roots),
		.names = bpf_map__fd(lh->maps.lh_names),
		.rings = bpf_map__fd(lh->maps.lh_rings),
		.admit = bpf_program__fd(lh->progs.lh_session_admit),
		.forget = bpf_program__fd(lh->progs.lh_session_forget),
		.sweep = bpf_program__fd(lh->progs.lh_session_sweep),
		.made = bpf_map__fd(lh->maps.lh_made),
		.ipc = bpf_map__fd(lh->maps.lh_ipc),
		.find = bpf_program__fd(lh->progs.lh_ipc_find),
		.nets = bpf_map__fd(lh->maps.lh_nets),
		.ports = bpf_map__fd(lh->maps.lh_ports),
		.use = -1,
	};
	err = engine_map_sessions(en, e);
	return err ? err : engine_prove(en, cgroup_root, e);
}

static int prove_and_pin(struct lh *lh, const char *cgroup_root, struct err *e)
{
	char final[128];
	struct engine en;
	int err = prove(lh, cgroup_root, &en, e);

#define X(name) if (!err) err = pin(en.name, #name, e);
	ENGINE_PINS(X)
#undef X
	snprintf(final, sizeof(final), ENGINE_DIR "/%s", engine_build());
	if (!err && rename(ENGINE_LOADING, final))
		err = err_sys(e, -errno, "engine: cannot rename the pins to %s",
			      final);
	return err;
}

/* Attached, and never called. Any other failed proof is a riddle. */
static void name_lack(int err, enum engine_lack *lack)
{
	if (err == -ENOTSUP && list_lacks_bpf())
		*lack = ENGINE_ABSENT;
}

static int load_and_drop(const char *cgroup_root, enum engine_lack *lack,
			 struct err *e)
{
	struct bpf_link *links[ENGINE_PROGRAMS_MAX];
	struct lh *lh = NULL;
	struct engine en;
	size_t count = 0;
	int err = skeleton_load(&lh, lack, e);

	if (!err)
		err = rings_make(bpf_map__fd(lh->maps.lh_rings), e);
	if (!err)
		err = attach_all(lh, cgroup_root, links, &count, lack, e);
	if (!err)
		err = prove(lh, cgroup_root, &en, e);
	name_lack(err, lack);
	while (count)
		bpf_link__destroy(links[--count]);
	if (lh)
		lh__destroy(lh);
	return err;
}

int engine_try(const char *cgroup_root, bool *loaded, enum engine_lack *lack,
	       struct err *e)
{
	libbpf_print_fn_t print = libbpf_set_print(keep_warning);
	int lock = engine_lock("engine.lock", LOCK_EX, e), err;
	struct engine *en = NULL;
	bool had_parent;
	char dir[512];

	*lack = ENGINE_LACKS_NOTHING;
	*loaded = false;
	if (lock < 0)
		return lock;
	snprintf(dir, sizeof(dir), "%s/" CGROUP_PARENT, cgroup_root);
	had_parent = !access(dir, F_OK);
	err = engine_attempt(&en, e);
	*loaded = err != -ENOENT;
	if (!err)
		err = engine_prove(en, cgroup_root, e);
	else if (err == -ENOENT)
		err = load_and_drop(cgroup_root, lack, e);
	engine_close(en);
	if (!had_parent)
		rmdir(dir);
	close(lock);
	libbpf_set_print(print);
	return err;
}

int engine_load(const char *cgroup_root, enum engine_lack *lack,
		struct err *e)
{
	libbpf_print_fn_t print = libbpf_set_print(keep_warning);
	struct lh *lh = NULL;
	int err;

	if (mkdir(ENGINE_DIR, 0700) && errno != EEXIST)
		return err_sys(e, -errno, "cannot make " ENGINE_DIR);
	err = stale_remove(e);
	if (!err && mkdir(ENGINE_LOADING, 0700))
		err = err_sys(e, -errno, "cannot make " ENGINE_LOADING);
	if (err)
		return err;
	err = skeleton_load(&lh, lack, e);
	if (!err)
		err = rings_make(bpf_map__fd(lh->maps.lh_rings), e);
	if (!err)
		err = attach_all(lh, cgroup_root, NULL, NULL, lack, e);
	if (!err)
		err = prove_and_pin(lh, cgroup_root, e);
	name_lack(err, lack);
	if (err)
		engine_unpin(ENGINE_LOADING, NULL);
	if (lh)
		lh__destroy(lh);
	libbpf_set_print(print);
	return err;
}
