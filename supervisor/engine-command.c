// SPDX-License-Identifier: GPL-2.0-only
/*
 * lh-supervise --engine: what an operator may ask of the engine by hand. It is
 * never taken away under a session that uses it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "engine-pins.h"

static int status_print(struct err *e)
{
	struct engine *en = NULL;
	unsigned int live = 0, dead = 0;
	__u64 i;
	int err = engine_attempt(&en, e);

	if (err == -ENOENT) {
		printf("engine %s: not loaded\n", engine_build());
		return 0;
	}
	if (err)
		return err;
	for (i = 1; i <= en->slots[0].seq && i < LH_SESSIONS_MAX; i++) {
		live += en->slots[i].state == LH_LIVE;
		dead += en->slots[i].state == LH_DEAD;
	}
	printf("engine %s: loaded, %u sessions live, %u to be swept\n",
	       engine_build(), live, dead);
	engine_close(en);
	return 0;
}

static int unload(struct err *e)
{
	char name[64], dir[128];
	int lock, use, err;

	snprintf(name, sizeof(name), "use-%s", engine_build());
	snprintf(dir, sizeof(dir), ENGINE_DIR "/%s", engine_build());
	lock = engine_lock("engine.lock", LOCK_EX, e);
	if (lock < 0)
		return lock;
	use = engine_lock(name, LOCK_EX | LOCK_NB, e);
	if (use == -EWOULDBLOCK) {
		close(lock);
		return err_set(e, -EBUSY, "engine %s is in use by running "
			       "sessions; end them first", engine_build());
	}
	err = use < 0 ? use : engine_unpin(dir, e);
	if (use >= 0)
		close(use);
	close(lock);
	if (!err || err == -ENOENT)
		printf("engine %s: %s\n", engine_build(),
		       err ? "was not loaded" : "unloaded");
	return err == -ENOENT ? 0 : err;
}

int engine_command(const char *verb, const char *cgroup_root, struct err *e)
{
	enum engine_lack lack;
	struct engine *en = NULL;
	int err;

	if (!strcmp(verb, "load")) {
		err = engine_open(cgroup_root, &en, &lack, e);
		engine_close(en);
		if (!err)
			printf("engine %s: loaded\n", engine_build());
		return err;
	}
	if (strcmp(verb, "status") && strcmp(verb, "unload"))
		return err_set(e, -EINVAL, "--engine takes status, load or "
			       "unload, not '%s'", verb);
	if (geteuid())
		return err_set(e, -EPERM, "--engine needs root");
	return !strcmp(verb, "status") ? status_print(e) : unload(e);
}
