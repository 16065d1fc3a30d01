/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Acts in places. A place is a directory with the same things in it; a session
 * acts there, then its twin outside does the same beside the live session. What
 * differs may only be what the policy says. Include after the harness.
 */
#ifndef LH_PLACES_H
#define LH_PLACES_H

#include <sys/stat.h>

#include "session.h"

/*
 *   DIR/ws/sub      workspace             read, write, exec
 *   DIR/ws/lib/sub  read-only in it       read
 *   DIR/ro/sub      read-only root        read
 *   DIR/outside/sub no root               stat alone
 *   DIR/ws/secret   denied in it          nothing
 *
 * In each: f (a file), f2, f3, d (an empty directory), l -> f, tool (a program)
 */
/* CHANGE_FD: by a descriptor that is open for reading. */
enum want { READ, LOOK, RUN, CHANGE, CHANGE_OUT, CHANGE_FD };

struct act {
	const char *op;
	const char *a, *b;	/* "P/x" is in the place, "W/x" in ws */
	const char *more;	/* arguments, separated by spaces */
	enum want want;
	const char *record;	/* operation of the refusal's record */
};

/* Put everything that the acts need where they need it. */
static int furnish(const struct world *w, const char *place)
{
	static const char *const in_place[] = { "f", "f2", "f3" };
	static const char *const in_ws[] = { "file", "x1", "x2", "x3" };
	static const char *const dirs[] = { "d", "d2", "d3" };
	char copy[2048];
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(in_place); i++)
		err |= world_file(w, at(w, "%s/%s", place, in_place[i]), "TEXT");
	for (size_t i = 0; i < ARRAY_SIZE(in_ws); i++)
		err |= world_file(w, at(w, "ws/%s", in_ws[i]), "TEXT");
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		err |= world_dir(w, at(w, "%s/%s", place, dirs[i]));
	err |= world_dir(w, at(w, "ws/x4d"));
	if (!exists(at(w, "%s/l", place)))
		err |= symlink("f", at(w, "%s/l", place)) ||
		       lchown(at(w, "%s/l", place), w->uid, w->gid);
	snprintf(copy, sizeof(copy), "cp %s/tests/lsm/probe %s && chmod 755 %s",
		 getenv("B") ? getenv("B") : "build", at(w, "%s/tool", place),
		 at(w, "%s/tool", place));
	return err | system(copy);
}

/* Away with what the acts made, so that they can be made again. */
static void clear_new(const struct world *w, const char *place)
{
	for (int i = 1; i < 20; i++) {
		remove(at(w, "%s/n%d", place, i));
		remove(at(w, "ws/n%d", i));
	}
	remove(at(w, "ws/copied"));
	remove(at(w, "ws/file"));	/* may be a directory by now */
}

static bool untouched(const struct world *w, const char *place)
{
	struct stat st;

	for (int i = 1; i < 20; i++)
		if (exists(at(w, "%s/n%d", place, i)))
			return false;
	return holds(at(w, "%s/f", place), "TEXT") &&
	       holds(at(w, "%s/f2", place), "TEXT") &&
	       holds(at(w, "%s/f3", place), "TEXT") &&
	       exists(at(w, "%s/l", place)) && exists(at(w, "%s/d3", place)) &&
	       !stat(at(w, "%s/f", place), &st) && (st.st_mode & 07777) == 0644 &&
	       st.st_mtim.tv_sec > 1 &&
	       !stat(at(w, "%s/d", place), &st) && (st.st_mode & 07777) == 0755;
}

static const char *put(const struct world *w, const char *place, const char *a)
{
	if (a && a[0] == 'P')
		return at(w, "%s%s", place, a + 1);
	if (a && a[0] == 'W' && a[1] == '/')
		return at(w, "ws%s", a + 1);
	return a;
}

static int act(struct session *s, const char *place, const struct act *a)
{
	const char *arg[8] = { a->op, put(s->w, place, a->a),
			       put(s->w, place, a->b) };
	char more[64] = "", *next, *rest = more;
	int n = a->b ? 3 : 2;

	snprintf(more, sizeof(more), "%s", a->more ? a->more : "");
	while (n < 7 && (next = strsep(&rest, " ")) && *next)
		arg[n++] = put(s->w, place, next);
	return session_ask(s, arg);
}

/* What a place grants: one bit for each enum want. */
#define GRANTS(want) (1u << (want))

static void try_acts(struct __test_metadata *_metadata, struct session *s,
		     struct session *twin, const char *place,
		     unsigned int grants, const struct act *acts, size_t count)
{
	ASSERT_EQ(0, furnish(s->w, place));
	for (size_t i = 0; i < count; i++) {
		const struct act *a = &acts[i];
		bool granted = grants & GRANTS(a->want);
		bool unread = a->want == CHANGE_FD && !(grants & GRANTS(READ));
		int err = act(s, place, a);

		if (!a->record) {
			/* The call itself refuses; it must not be let in. */
			EXPECT_NE(0, err);
			continue;
		}
		EXPECT_EQ(granted ? 0 : EACCES, err) {
			TH_LOG("%s %s %s in %s", a->op, a->a,
			       a->b ? a->b : "", place);
		}
		if (!granted && err == EACCES) {
			EXPECT_TRUE(denied(s, unread ? "open" : a->record,
					   NULL, NULL)) {
				TH_LOG("%s %s in %s", a->op, a->a, place);
			}
		}
	}
	if (!(grants & GRANTS(CHANGE))) {
		EXPECT_TRUE(untouched(s->w, place));
	}
	/* The twin: the same, outside, beside the live session. */
	clear_new(s->w, place);
	ASSERT_EQ(0, furnish(s->w, place));
	for (size_t i = 0; i < count; i++) {
		if (!acts[i].record)
			continue;
		EXPECT_EQ(0, act(twin, place, &acts[i])) {
			TH_LOG("outside: %s %s in %s", acts[i].op, acts[i].a,
			       place);
		}
	}
}

#define ALL (GRANTS(READ) | GRANTS(LOOK) | GRANTS(RUN) | GRANTS(CHANGE) | \
	     GRANTS(CHANGE_OUT) | GRANTS(CHANGE_FD))

#endif
