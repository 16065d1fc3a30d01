// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the engine stands on, from the smallest program up to the engine itself,
 * so that the first one that fails says where it lies.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "../../supervisor/cleanup.h"
#include "../../supervisor/engine.h"
#include "doctor.h"

#define SECURITYFS "/sys/kernel/security"

static bool read_line(const char *path, char *line, size_t size)
{
	_cleanup_file_ FILE *f = fopen(path, "re");

	if (!f || !fgets(line, size, f))
		return false;
	line[strcspn(line, "\n")] = 0;
	return true;
}

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);
	const char *p = list;

	while ((p = strstr(p, word))) {
		if ((p == list || p[-1] == ',') && (!p[len] || p[len] == ','))
			return true;
		p += len;
	}
	return false;
}

/*
 * Where securityfs is not mounted, a child mounts it for itself alone. Only
 * what the kernel itself lists comes back.
 */
static bool read_security(const char *name, char *line, size_t size)
{
	char path[128];
	ssize_t n = 0;
	int pair[2];
	pid_t pid;

	snprintf(path, sizeof(path), SECURITYFS "/%s", name);
	if (read_line(path, line, size))
		return true;
	if (access(SECURITYFS "/lsm", F_OK) == 0 || pipe2(pair, O_CLOEXEC))
		return false;
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNS) ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("none", SECURITYFS, "securityfs", 0, NULL) ||
		    !read_line(path, line, size) ||
		    write(pair[1], line, strlen(line)) < 0)
			_exit(1);
		_exit(0);
	}
	close(pair[1]);
	if (pid > 0) {
		n = read(pair[0], line, size - 1);
		waitpid(pid, NULL, 0);
	}
	close(pair[0]);
	line[n > 0 ? n : 0] = 0;
	return n > 0;
}

static bool check_btf(struct doctor *d)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int err = btf ? 0 : errno;
	struct finding *f;

	btf__free(btf);
	if (!err) {
		find(d, "btf", NEED_ENGINE, V_OK, "/sys/kernel/btf/vmlinux "
		     "can be read");
		return true;
	}
	f = find(d, "btf", NEED_ENGINE, V_MISSING, "/sys/kernel/btf/vmlinux: "
		 "%s", strerror(err));
	effect(f, "the engine does not load");
	remedy(f, "a kernel with CONFIG_DEBUG_INFO_BTF=y (and /sys mounted)");
	return false;
}

/* "none [integrity] confidentiality" */
static void check_lockdown(struct doctor *d)
{
	struct finding *f;
	char line[128];

	if (!read_security("lockdown", line, sizeof(line))) {
		bool known = read_security("lsm", line, sizeof(line));

		find(d, "lockdown", NEED_ENGINE, known ? V_OK : V_UNTRIED,
		     known ? "none is active" :
		     SECURITYFS "/lockdown cannot be read");
		return;
	}
	if (!strstr(line, "[confidentiality]")) {
		find(d, "lockdown", NEED_ENGINE, V_OK, "%s",
		     strstr(line, "[integrity]") ? "integrity, which BPF may "
		     "live with" : "none");
		return;
	}
	f = find(d, "lockdown", NEED_ENGINE, V_MISSING, "confidentiality");
	effect(f, "BPF programs may not read the kernel's memory, so the "
	       "engine does not load");
	boot_with(f, "lockdown=integrity");
}

static int try_lsm(void)
{
	static const struct bpf_insn pass[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, o,
		    .expected_attach_type = BPF_LSM_MAC);
	int id = libbpf_find_vmlinux_btf_id("file_open", BPF_LSM_MAC), fd;

	if (id <= 0)
		return -ENOENT;
	o.attach_btf_id = id;
	fd = bpf_prog_load(BPF_PROG_TYPE_LSM, "lh_doctor", "GPL", pass, 2, &o);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* The remedy of a list without it: the same list, and bpf. */
static void lsm_remedy(struct finding *f, const char *list)
{
	char arg[640];

	snprintf(arg, sizeof(arg), "lsm=%s%sbpf", list, *list ? "," : "");
	boot_with(f, arg);
}

static void check_lsm(struct doctor *d)
{
	char list[512] = "", seen[600];
	bool known = read_security("lsm", list, sizeof(list));
	struct finding *f;
	int err;

	if (known)
		snprintf(seen, sizeof(seen), "the kernel lists %s", list);
	else
		snprintf(seen, sizeof(seen), "%s cannot be read (mount -t "
			 "securityfs none %s)", SECURITYFS "/lsm", SECURITYFS);
	if (known && !has_word(list, "bpf")) {
		f = find(d, "bpf_lsm", NEED_ENGINE, V_MISSING, "not active: "
			 "%s", seen);
		effect(f, "BPF LSM programs load, and are never called: the "
		       "engine does not hold");
		lsm_remedy(f, list);
		return;
	}
	if (!d->root) {
		find(d, "bpf_lsm", NEED_ENGINE, V_UNTRIED, "%s", seen);
		return;
	}
	err = try_lsm();
	if (!err) {
		find(d, "bpf_lsm", NEED_ENGINE, V_OK, "a BPF LSM program "
		     "loads; %s", seen);
		return;
	}
	f = find(d, "bpf_lsm", NEED_ENGINE, V_MISSING, err == -ENOENT ?
		 "the kernel has no BPF LSM hook file_open%s%s; %s" :
		 "the kernel refuses to load a BPF LSM program: %s%s; %s",
		 err == -ENOENT ? "" : strerror(-err),
		 err == -EPERM ? " (EPERM)" : "", seen);
	effect(f, "the engine does not load");
	if (err == -ENOENT)
		remedy(f, "a kernel with CONFIG_BPF_LSM=y");
	else
		remedy(f, "no setting here changes it: run where the kernel "
		       "takes them, or in a guest, lh-vm -- COMMAND");
}

static void check_rings(struct doctor *d)
{
	int fds[LH_RINGS_AT_LOAD], i, err = 0;
	struct rlimit lock = {};
	struct finding *f;

	if (!d->root) {
		find(d, "ring_memory", NEED_ENGINE, V_UNTRIED, "%d rings of "
		     "%d kB", LH_RINGS_AT_LOAD, LH_RING_BYTES / 1024);
		return;
	}
	for (i = 0; i < LH_RINGS_AT_LOAD && !err; i++) {
		fds[i] = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "lh_doctor", 0, 0,
					LH_RING_BYTES, NULL);
		if (fds[i] < 0)
			err = -errno;
	}
	while (i-- > 0)
		if (fds[i] >= 0)
			close(fds[i]);
	if (!err) {
		find(d, "ring_memory", NEED_ENGINE, V_OK, "%d rings of %d kB "
		     "fit", LH_RINGS_AT_LOAD, LH_RING_BYTES / 1024);
		return;
	}
	getrlimit(RLIMIT_MEMLOCK, &lock);
	f = find(d, "ring_memory", NEED_ENGINE, V_MISSING, "%d rings of %d kB "
		 "do not fit: %s", LH_RINGS_AT_LOAD, LH_RING_BYTES / 1024,
		 strerror(-err));
	effect(f, "the engine does not load");
	if (err == -EPERM)
		remedy(f, "ulimit -l unlimited (it is %llu kB), in a systemd "
		       "unit LimitMEMLOCK=infinity",
		       (unsigned long long)lock.rlim_cur / 1024);
	else if (err == -EMFILE || err == -ENFILE)
		remedy(f, "ulimit -n 1024");
	else
		remedy(f, "raise memory.max of the cgroup that lh-supervise is "
		       "started in (see /proc/self/cgroup)");
}

static void other_build(const char *build, bool used, void *arg)
{
	struct doctor *d = arg;
	struct finding *f;

	if (!used || d->count + 20 > FINDINGS_MAX)
		return;
	f = find(d, "other_engine", NEED_ENGINE, V_MISSING, "engine %s of "
		 "another build is in use by running sessions", build);
	effect(f, "no session of this build (%s) starts", engine_build());
	remedy(f, "let these sessions end (lh-ps), or use that build's "
	       "lh-supervise");
}

static void check_engine(struct doctor *d, bool possible)
{
	enum engine_lack lack;
	struct err e = {};
	struct finding *f;
	bool loaded;

	if (!d->root) {
		find(d, "engine", NEED_ENGINE, V_UNTRIED, "build %s",
		     engine_build());
		return;
	}
	if (!possible || !d->cgroup_root) {
		f = find(d, "engine", NEED_ENGINE, V_MISSING, "it was not "
			 "tried: what it stands on is missing");
		effect(f, "os_hardened does not run; worktree only with "
		       "LH_SANDBOX=warn");
		return;
	}
	if (!engine_try(d->cgroup_root, &loaded, &lack, &e)) {
		find(d, "engine", NEED_ENGINE, V_OK, "build %s %s; it refused "
		     "and recorded one of each class of rule", engine_build(),
		     loaded ? "is loaded" : "loads and attaches");
		return;
	}
	f = find(d, "engine", NEED_ENGINE, V_MISSING, "%s", e.msg);
	effect(f, "os_hardened does not run; worktree only with "
	       "LH_SANDBOX=warn");
	if (lack == ENGINE_LACKS_NOTHING && loaded)
		remedy(f, "lh-supervise --engine unload");
}

void check_kernel(struct doctor *d)
{
	unsigned int before = d->count, i;
	bool possible = true;

	libbpf_set_print(NULL);
	check_btf(d);
	check_lockdown(d);
	check_lsm(d);
	check_rings(d);
	for (i = before; i < d->count; i++)
		possible = possible && d->list[i].verdict != V_MISSING;
	if (d->root)
		engine_others(other_build, d);
	check_engine(d, possible);
}
