/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside of the engine, shared by engine*.c alone: its open descriptors, and
 * the names of its pins.
 */
#ifndef LH_ENGINE_PINS_H
#define LH_ENGINE_PINS_H

#include "../policy-compiler/image.h"
#include "engine.h"

#define ENGINE_BPFFS "/sys/fs/bpf"
#define ENGINE_DIR ENGINE_BPFFS "/lh"
#define ENGINE_LOADING ENGINE_DIR "/loading"
#define ENGINE_RUN "/run/lh"

#define ENGINE_PINS(X) \
	X(labels) X(sessions) X(roots) X(names) X(rings) \
	X(admit) X(forget) X(sweep) X(made) X(ipc) X(find) X(nets) X(ports)

struct engine {
#define X(name) int name;
	ENGINE_PINS(X)
#undef X
	int use;		/* shared lock: this build is in use */
	volatile struct lh_session *slots;	/* map `sessions`, mapped */
};

/* Load, attach, prove and pin; the caller holds the engine's lock. */
int engine_load(const char *cgroup_root, enum engine_lack *lack,
		struct err *e);
/* Leave out optional programs whose hook is not in the kernel of this BTF. */
struct btf;
struct bpf_object;
int engine_hooks_select(struct bpf_object *obj, const struct btf *btf,
			struct err *e);
/* Refuse something of each class on purpose, and see it refused. */
int engine_prove(struct engine *en, const char *cgroup_root, struct err *e);
/* Take an engine's pins away: its programs end with their last user. */
int engine_unpin(const char *dir, struct err *e);
/*
 * Open this build's pins, and hold them in use. -ENOENT: it is not loaded.
 */
int engine_attempt(struct engine **out, struct err *e);
/*
 * A lock file in ENGINE_RUN: descriptor, or negative errno; -EWOULDBLOCK with
 * LOCK_NB. @how as for flock(2).
 */
int engine_lock(const char *name, int how, struct err *e);
/* Map the sessions; shared by opening and loading. */
int engine_map_sessions(struct engine *en, struct err *e);

/* A session's destinations in the kernel: engine-net.c */
int engine_net_fill(struct engine *en, __u64 serial, const struct image *im,
		    int cgroup, struct err *e);
void engine_net_clear(struct engine *en, __u64 serial, const struct image *im);
/* Of a session whose supervisor is gone. */
void engine_net_sweep(struct engine *en, __u64 serial);
/* Attach the programs of the sessions' cgroups where these lie. */
struct bpf_link;
struct bpf_program;
int engine_net_attach(const char *cgroup_root, struct bpf_program *p,
		      struct bpf_link **link);

#endif
