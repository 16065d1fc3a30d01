// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions in the engine: opening its pins, taking a slot, filling the tables,
 * labelling, forgetting. Slots are claimed by compare-and-swap in the mapped
 * sessions, so a start waits for no lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/magic.h>

#include "build_id.h"
#include "engine-pins.h"
#include "leftover.h"

#define STRING_(x) #x
#define STRING(x) STRING_(x)
#define BUILD STRING(LH_ABI) "-" LH_BUILD_ID

const char *engine_build(void)
{
	return BUILD;
}

int engine_map_sessions(struct engine *en, struct err *e)
{
	void *p = mmap(NULL, LH_SESSIONS_MAX * sizeof(struct lh_session),
		       PROT_READ | PROT_WRITE, MAP_SHARED, en->sessions, 0);

	if (p == MAP_FAILED)
		return err_sys(e, -errno, "engine: cannot map the sessions");
	en->slots = p;
	return 0;
}

static struct engine *engine_new(void)
{
	struct engine *en = malloc(sizeof(*en));

	if (!en)
		return NULL;
	memset(en, 0xff, sizeof(*en));	/* every descriptor: -1 */
	en->slots = NULL;
	return en;
}

void engine_close(struct engine *en)
{
	if (!en)
		return;
	if (en->slots)
		munmap((void *)en->slots,
		       LH_SESSIONS_MAX * sizeof(struct lh_session));
#define X(name) if (en->name >= 0) close(en->name);
	ENGINE_PINS(X)
#undef X
	if (en->use >= 0)
		close(en->use);
	free(en);
}

/* 0, -ENOENT: this build is not pinned, or another negative errno. */
static int pins_open(struct engine *en, struct err *e)
{
	const char *dir = ENGINE_DIR "/" BUILD;
	int err;

	if (access(dir, F_OK))
		return -ENOENT;
#define X(name)								\
	en->name = bpf_obj_get(ENGINE_DIR "/" BUILD "/" #name);		\
	if (en->name < 0) {						\
		err = -errno;						\
		return err_sys(e, err, "engine: cannot open the pin "	\
			       ENGINE_DIR "/" BUILD "/" #name		\
			       "; `lh-supervise --engine unload` removes " \
			       "a damaged engine");			\
	}
	ENGINE_PINS(X)
#undef X
	return engine_map_sessions(en, e);
}

int engine_lock(const char *name, int how, struct err *e)
{
	char path[128];
	int fd, err;

	if (mkdir(ENGINE_RUN, 0755) && errno != EEXIST)
		return err_sys(e, -errno, "cannot make " ENGINE_RUN);
	snprintf(path, sizeof(path), ENGINE_RUN "/%s", name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_sys(e, -errno, "cannot open the lock %s", path);
	while (flock(fd, how)) {
		err = -errno;
		if (err == -EINTR)
			continue;
		close(fd);
		return err == -EWOULDBLOCK ? err :
		       err_sys(e, err, "cannot take the lock %s", path);
	}
	return fd;
}

static int bpffs_check(struct err *e)
{
	struct statfs st;

	if (statfs(ENGINE_BPFFS, &st) || st.f_type != BPF_FS_MAGIC)
		return err_set(e, -ENODEV, "no BPF file system at "
			       ENGINE_BPFFS "; mount it: mount -t bpf bpf "
			       ENGINE_BPFFS);
	return 0;
}

int engine_attempt(struct engine **out, struct err *e)
{
	struct engine *en = engine_new();
	int err;

	if (!en)
		return err_set(e, -ENOMEM, "out of memory");
	/* Shared before the look: nobody unloads what is about to be used. */
	en->use = engine_lock("use-" BUILD, LOCK_SH, e);
	err = en->use < 0 ? en->use : pins_open(en, e);
	if (err) {
		engine_close(en);
		return err;
	}
	*out = en;
	return 0;
}

int engine_open(const char *cgroup_root, struct engine **out,
		enum engine_lack *lack, struct err *e)
{
	int lock, err;

	*lack = ENGINE_LACKS_NOTHING;

	if (geteuid())
		return err_set(e, -EPERM, "must be started as root: use sudo, "
			       "or let the harness start it as root");
	err = bpffs_check(e);
	if (err) {
		*lack = ENGINE_ABSENT;
		return err;
	}
	err = engine_attempt(out, e);
	if (err != -ENOENT)
		return err;
	lock = engine_lock("engine.lock", LOCK_EX, e);
	if (lock < 0)
		return lock;
	err = engine_attempt(out, e);	/* another start may have loaded it */
	if (err == -ENOENT)
		err = engine_load(cgroup_root, lack, e);
	else
		goto unlock;
	if (!err)
		err = engine_attempt(out, e);
unlock:
	close(lock);
	return err;
}

static __u64 pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

static __u64 serial_new(unsigned int slot)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	/* Time in units of 1.024 us, the slot, and 1: odd and unique. */
	return (((__u64)t.tv_sec * 1000000000 + t.tv_nsec) >> 10 << 11) |
	       slot << 1 | 1;
}

/* A free slot, claimed; 0: none. */
static unsigned int slot_claim(struct engine *en)
{
	unsigned int i;

	for (i = 1; i < LH_SESSIONS_MAX; i++) {
		volatile struct lh_session *s = &en->slots[i];
		__u32 state = LH_FREE;
		__u64 high;

		if (s->state != LH_FREE ||
		    !__atomic_compare_exchange_n(&s->state, &state,
						 LH_PREPARED, false,
						 __ATOMIC_SEQ_CST,
						 __ATOMIC_SEQ_CST))
			continue;
		high = en->slots[0].seq;
		while (high < i &&
		       !__atomic_compare_exchange_n(&en->slots[0].seq, &high,
						    i, false, __ATOMIC_SEQ_CST,
						    __ATOMIC_SEQ_CST))
			;
		return i;
	}
	return 0;
}

/* The slot's ring; made now if the pool has none for it. */
static int ring_open(struct engine *en, unsigned int slot, struct err *e)
{
	__u32 id;
	int fd, err;

	if (!bpf_map_lookup_elem(en->rings, &slot, &id)) {
		fd = bpf_map_get_fd_by_id(id);
		return fd >= 0 ? fd :
		       err_sys(e, -errno, "engine: cannot open ring %u", slot);
	}
	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "lh_ring", 0, 0,
			    LH_RING_BYTES, NULL);
	if (fd < 0)
		return err_sys(e, -errno, "engine: cannot make a ring");
	if (bpf_map_update_elem(en->rings, &slot, &fd, BPF_ANY)) {
		err = -errno;
		close(fd);
		return err_sys(e, err, "engine: cannot publish a ring");
	}
	return fd;
}

static int program_run(int prog, struct lh_admit *c)
{
	/* The kernel writes the context back to where it came from. */
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = c,
		    .ctx_size_in = sizeof(*c));

	return bpf_prog_test_run_opts(prog, &o) ? -errno : 0;
}

static int label_write(struct engine *en, const struct engine_session *s,
		       int pidfd, __u32 flags)
{
	struct lh_label l = {
		.serial = s->serial, .slot = s->slot, .flags = flags,
	};

	return bpf_map_update_elem(en->labels, &pidfd, &l, BPF_ANY) ?
	       -errno : 0;
}

static int own_label(struct engine *en, const struct engine_session *s,
		     bool set)
{
	int fd = syscall(SYS_pidfd_open, getpid(), 0), err;

	if (fd < 0)
		return -errno;
	if (set)
		err = label_write(en, s, fd, LH_LABEL_SUPERVISOR);
	else
		err = bpf_map_delete_elem(en->labels, &fd) ? -errno : 0;
	close(fd);
	return err;
}

static int tables_fill(struct engine *en, const struct engine_tables *t,
		       struct engine_session *s, struct err *e)
{
	struct lh_admit c = {
		.items = (__u64)(unsigned long)s->items, .serial = s->serial,
		.count = s->count, .slot = s->slot, .cgroup_fd = t->cgroup_fd,
	};
	int err = program_run(en->admit, &c);

	if (err)
		return err_sys(e, err, "engine: cannot fill the tables");
	if (c.error == -E2BIG || c.error == -ENOMEM)
		return err_set(e, c.error, "engine: the tables are full (%d "
			       "entries of all sessions together)",
			       LH_TABLE_MAX);
	if (c.error)
		return err_sys(e, c.error, "engine: entry %u was not taken",
			       c.failed);
	return 0;
}

int engine_admit(struct engine *en, const struct engine_tables *t,
		 struct engine_session *s, struct err *e)
{
	volatile struct lh_session *slot;
	struct engine_session n = { .ring_fd = -1, .count = t->count };
	unsigned int i;
	int err;

	if (t->count > LH_ITEMS_MAX || t->wild_count > LH_WILD_MAX)
		return err_set(e, -E2BIG, "the policy needs %zu entries; a "
			       "session may have %d", t->count, LH_ITEMS_MAX);
	n.slot = slot_claim(en);
	if (!n.slot)
		return err_set(e, -EUSERS, "%d sessions are running: no more",
			       LH_SESSIONS_MAX - 1);
	slot = &en->slots[n.slot];
	n.serial = serial_new(n.slot);
	slot->serial = n.serial;
	slot->flags = t->flags | (t->im ? t->im->net_flags : 0);
	slot->supervisor = getpid();
	slot->pidns = pid_namespace();
	slot->seq = slot->lost = slot->made = slot->ipc = slot->touched = 0;
	slot->wild_lens = t->wild_lens;
	slot->wild_count = t->wild_count;
	for (i = 0; i < t->wild_count; i++)
		slot->wild[i] = t->wild[i];
	for (i = 0; i < LH_BLOOM_WORDS; i++)
		slot->bloom[i] = 0;

	n.items = calloc(t->count ? t->count : 1, sizeof(*n.items));
	err = n.items ? 0 : err_set(e, -ENOMEM, "out of memory");
	if (!err && t->count)
		memcpy(n.items, t->items, t->count * sizeof(*n.items));
	if (!err)
		err = tables_fill(en, t, &n, e);
	if (!err && t->im) {
		n.im = t->im;
		err = engine_net_fill(en, n.serial, n.im, t->cgroup_fd, e);
	}
	if (!err) {
		n.ring_fd = ring_open(en, n.slot, e);
		err = n.ring_fd < 0 ? n.ring_fd : 0;
	}
	if (!err) {
		err = own_label(en, &n, true);
		if (err)
			err_sys(e, err, "engine: cannot mark the supervisor");
	}
	if (err) {
		engine_forget(en, &n, NULL);
		return err;
	}
	__atomic_store_n(&slot->state, LH_LIVE, __ATOMIC_SEQ_CST);
	*s = n;
	return 0;
}

int engine_label(struct engine *en, const struct engine_session *s, int pidfd,
		 struct err *e)
{
	int err = label_write(en, s, pidfd, LH_LABEL_FIRST_EXEC);

	return err ? err_sys(e, err, "engine: cannot label the command") : 0;
}

static void made_of(struct engine *en, unsigned int slot, struct engine_made *m)
{
	*m = (struct engine_made){
		.made = en->made, .ipc = en->ipc, .find = en->find,
		.serial = en->slots[slot].serial, .any = &en->slots[slot].made,
	};
}

uint64_t engine_touched(struct engine *en, const struct engine_session *s)
{
	return en->slots[s->slot].touched;
}

void engine_made(struct engine *en, const struct engine_session *s,
		 struct engine_made *m)
{
	made_of(en, s->slot, m);
}

void engine_kill(struct engine *en, const struct engine_session *s)
{
	volatile struct lh_session *slot = &en->slots[s->slot];

	if (slot->serial == s->serial)
		__atomic_store_n(&slot->state, LH_DEAD, __ATOMIC_SEQ_CST);
}

void engine_counters(struct engine *en, const struct engine_session *s,
		     __u64 *seq, __u64 *lost)
{
	*seq = en->slots[s->slot].seq;
	*lost = en->slots[s->slot].lost;
}

void engine_counts(struct engine *en, const struct engine_session *s,
		   volatile __u64 **seq, volatile __u64 **lost)
{
	*seq = &en->slots[s->slot].seq;
	*lost = &en->slots[s->slot].lost;
}

int engine_forget(struct engine *en, struct engine_session *s, struct err *e)
{
	struct lh_admit c = {
		.items = (__u64)(unsigned long)s->items, .serial = s->serial,
		.count = s->items ? s->count : 0, .slot = s->slot,
	};
	int err;

	/* Dead first: who is left must find no half-empty table. */
	engine_kill(en, s);
	err = program_run(en->forget, &c);
	own_label(en, s, false);
	if (s->im)
		engine_net_clear(en, s->serial, s->im);
	if (s->ring_fd >= 0)
		close(s->ring_fd);
	free(s->items);
	s->items = NULL;
	s->ring_fd = -1;
	en->slots[s->slot].serial = 0;
	/* Or who takes the slot next is dead until it has said who it is. */
	en->slots[s->slot].supervisor = 0;
	__atomic_store_n(&en->slots[s->slot].state, LH_FREE, __ATOMIC_SEQ_CST);
	return err ? err_sys(e, err, "engine: cannot clear the tables") : 0;
}

/*
 * Its supervisor is gone. The engine marks sessions dead when that happens; not
 * a claim that had no label yet, and not where 6.1 could not read the label.
 * In another pid namespace the number would mean somebody else.
 */
static bool slot_is_orphan(volatile struct lh_session *s, __u32 *dead)
{
	*dead = s->supervisor;
	return s->state != LH_FREE && *dead && s->pidns == pid_namespace() &&
	       syscall(SYS_kill, *dead, 0) && errno == ESRCH;
}

/*
 * One sweeper a slot: it takes the dead one's place. If it dies itself, the
 * slot is an orphan as it was.
 */
static bool slot_inherit(volatile struct lh_session *s, __u32 dead)
{
	if (!__atomic_compare_exchange_n(&s->supervisor, &dead, getpid(),
					 false, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST))
		return false;
	__atomic_store_n(&s->state, LH_SWEPT, __ATOMIC_SEQ_CST);
	return true;
}

int engine_sweep(struct engine *en, struct err *e)
{
	__u64 high = en->slots[0].seq;
	unsigned int i;
	int swept = 0;

	for (i = 1; i <= high && i < LH_SESSIONS_MAX; i++) {
		volatile struct lh_session *s = &en->slots[i];
		struct lh_admit c = { .serial = s->serial };
		struct engine_made made;
		__u32 dead;
		int err;

		if (!slot_is_orphan(s, &dead) || !slot_inherit(s, dead))
			continue;
		made_of(en, i, &made);
		leftover_remove(&made);
		err = program_run(en->sweep, &c);
		if (err)
			return err_sys(e, err, "engine: cannot sweep");
		if (s->flags & IMAGE_NET_FLAGS)
			engine_net_sweep(en, s->serial);
		s->serial = 0;
		s->supervisor = 0;
		__atomic_store_n(&s->state, LH_FREE, __ATOMIC_SEQ_CST);
		swept++;
	}
	return swept;
}
