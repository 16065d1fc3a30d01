/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The engine: the programs and maps that are loaded and attached once per boot
 * and pinned. A session opens pins, takes a slot and fills its tables; it
 * never loads or attaches. Any failure here means: do not start the command.
 */
#ifndef LH_ENGINE_H
#define LH_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../bpf/abi.h"
#include "../policy-compiler/err.h"

struct image;
struct engine;			/* open pins; one per process */

/*
 * Why an engine does not load, where that is the kernel's doing. Only what
 * nobody can bring about by starting us oddly (few descriptors, little memory)
 * counts: a run may go on without what its host lacks.
 */
enum engine_lack { ENGINE_LACKS_NOTHING, ENGINE_ABSENT, ENGINE_NOT_ATTACHED };

/*
 * Open the pinned engine of this build; load, attach, prove and pin it first
 * if need be (serialised by a lock across processes). @cgroup_root: where
 * cgroup v2 is mounted. *out is owned by the caller: engine_close(). *lack is
 * set where it fails.
 */
int engine_open(const char *cgroup_root, struct engine **out,
		enum engine_lack *lack, struct err *e);
void engine_close(struct engine *en);
/* "ABI-BUILD" of the engine this program goes with. */
const char *engine_build(void);

/*
 * Does an engine of this build hold here? One that is pinned (*loaded) is
 * proved once more; else one is loaded, attached, proved and dropped. Nothing
 * stays but the lock files. *lack as above.
 */
int engine_try(const char *cgroup_root, bool *loaded, enum engine_lack *lack,
	       struct err *e);
/*
 * Call @each for every engine of another build, with whether sessions use it.
 */
void engine_others(void (*each)(const char *build, bool used, void *arg),
		   void *arg);

/* lh-supervise --engine status|load|unload: prints to stdout; 0 or -errno. */
int engine_command(const char *verb, const char *cgroup_root, struct err *e);

/* A session's place in the engine. */
struct engine_session {
	unsigned int slot;
	__u64 serial;
	int ring_fd;		/* BPF_MAP_TYPE_RINGBUF of struct lh_denial */
	struct lh_item *items;	/* copy, for engine_forget() */
	size_t count;
	const struct image *im;	/* its destinations; or NULL */
};

struct engine_tables {
	const struct lh_item *items;
	size_t count;
	const struct lh_wild *wild;
	__u32 wild_count;
	__u64 wild_lens;
	__u32 flags;		/* LH_SESSION_* */
	int cgroup_fd;		/* the session's cgroup directory */
	const struct image *im;	/* for its destinations, NULL: none; must stay
				 * until engine_forget() */
};

/*
 * Take a slot and fill its tables; the calling process becomes the session's
 * supervisor: when its thread group ends, the session is dead. The item fds
 * must stay open until engine_forget(). -EUSERS: all slots are taken.
 */
int engine_admit(struct engine *en, const struct engine_tables *t,
		 struct engine_session *s, struct err *e);
/* Label the process behind @pidfd; it and what it forks is in the session. */
int engine_label(struct engine *en, const struct engine_session *s, int pidfd,
		 struct err *e);
/*
 * What is needed to find what a session made in places that all share: the
 * descriptors are the engine's. leftover.h
 */
struct engine_made {
	int made, ipc, find;
	__u64 serial;
	const volatile __u64 *any;	/* 0: queues and objects, none */
};

void engine_made(struct engine *en, const struct engine_session *s,
		 struct engine_made *m);
/* LH_TOUCHED_*: may it have changed what git goes by? */
uint64_t engine_touched(struct engine *en, const struct engine_session *s);
/* Refuse and kill from now on. */
void engine_kill(struct engine *en, const struct engine_session *s);
/* Counters of the session: denials so far, and how many left no record. */
void engine_counters(struct engine *en, const struct engine_session *s,
		     __u64 *seq, __u64 *lost);
/* Where they are, for who adds to them; good until engine_close(). */
void engine_counts(struct engine *en, const struct engine_session *s,
		   volatile __u64 **seq, volatile __u64 **lost);
/* After the last process is gone: take every entry back, free the slot. */
int engine_forget(struct engine *en, struct engine_session *s, struct err *e);
/* Forget sessions whose supervisor is gone; returns how many, or -errno. */
int engine_sweep(struct engine *en, struct err *e);

#endif
