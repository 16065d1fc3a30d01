// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two pictures of each writable root, and what is different between them. The
 * names and their kinds are data; nothing here knows one of them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bpf/abi.h"
#include "../policy-compiler/data.h"
#include "cleanup.h"
#include "hostexec-inner.h"

static const char *joined(struct hostexec *h, const struct name *n,
			  const char *path)
{
	const char *top = h->place[n->place].path;
	char *s = arena_print(&h->mem, "%s/%s", strcmp(top, "/") ? top : "",
			      path);

	if (!s)
		h->error = -ENOMEM;
	return s ? s : "";
}

void hostexec_unseen(struct hostexec *h, const char *path)
{
	unsigned int i;

	for (i = 0; i < h->unseen_count; i++)
		if (!strcmp(h->unseen[i], path))
			return;
	if (h->unseen_count < UNSEEN_MAX)
		h->unseen[h->unseen_count++] = path;
}

/* Number of the directory @path, opened once, or PLACES_MAX. */
static uint32_t place_of(struct hostexec *h, const char *path)
{
	uint32_t i;
	int fd;

	for (i = 0; i < h->place_count; i++)
		if (!strcmp(h->place[i].path, path))
			return i;
	path = arena_copy(&h->mem, path, strlen(path));
	if (!path) {
		h->error = -ENOMEM;
		return PLACES_MAX;
	}
	if (i == PLACES_MAX) {
		hostexec_unseen(h, path);
		return PLACES_MAX;
	}
	fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		if (errno != ENOTDIR)
			hostexec_unseen(h, path);
		return PLACES_MAX;
	}
	h->place[i] = (struct place){ .path = path, .fd = fd };
	return h->place_count++;
}

static void add_name(struct hostexec *h, uint32_t place, const char *path,
		     const struct data_entry *e)
{
	uint32_t room = h->name_room ? h->name_room * 2 : 256, i;
	struct name *list;

	if (place == PLACES_MAX)
		return;
	for (i = 0; i < h->name_count; i++)
		if (h->name[i].place == place && !strcmp(h->name[i].path, path))
			return;
	if (h->name_count == h->name_room) {
		list = realloc(h->name, room * sizeof(*list));
		if (!list) {
			h->error = -ENOMEM;
			return;
		}
		h->name = list;
		h->name_room = room;
	}
	list = &h->name[h->name_count++];
	list->place = place;
	list->path = arena_copy(&h->mem, path, strlen(path));
	list->kind = arena_copy(&h->mem, e->attributes.s, e->attributes.len);
	if (!list->path || !list->kind)
		h->error = -ENOMEM;
}

/* Whether @root ends in the first @len bytes of @name, as components. */
static bool ends_in(const char *root, const char *name, size_t len)
{
	size_t n = strlen(root);

	return n > len && root[n - len - 1] == '/' &&
	       !strncmp(root + n - len, name, len);
}

/*
 * Where the list's entry stands for @root: at its top; in it, if the root is
 * the beginning of the name; or it is the root.
 */
static void seek(struct hostexec *h, const char *root,
		 const struct data_entry *e)
{
	char name[256], above[4096];
	const char *slash;

	if ((size_t)e->path.len >= sizeof(name) ||
	    strlen(root) >= sizeof(above))
		return;
	memcpy(name, e->path.s, e->path.len);
	name[e->path.len] = 0;
	add_name(h, place_of(h, root), name, e);
	for (slash = name; (slash = strchr(slash, '/')); slash++)
		if (ends_in(root, name, slash - name))
			add_name(h, place_of(h, root), slash + 1, e);
	if (!ends_in(root, name, strlen(name)))
		return;
	strcpy(above, root);
	slash = strrchr(above, '/');
	above[slash == above ? 1 : slash - above] = 0;
	add_name(h, place_of(h, above), strrchr(root, '/') + 1, e);
}

/* The root itself, and where a repository there has its hooks. */
static void seek_git(struct hostexec *h, const char *root)
{
	static const struct data_entry hooks = {
		.attributes = { "hooks", sizeof("hooks") - 1 },
	};
	uint32_t place = place_of(h, root);
	_cleanup_free_ char *path = NULL;

	if (place == PLACES_MAX)
		return;
	h->place[place].root = true;
	/* Held; but a hook may be a link to what is not. */
	add_name(h, place, ".git/hooks", &hooks);
	path = hostexec_git_hooks(&h->place[place]);
	if (path)
		add_name(h, place, path, &hooks);
}

static int become_user(const struct identity *id)
{
	return identity_as(RESOLVE_AS_USER, (void *)id);
}

static void become_self(const struct identity *id)
{
	identity_as(RESOLVE_AS_SELF, (void *)id);
}

static void take(struct hostexec *h, struct picture *p)
{
	uint32_t i;

	for (i = 0; i < h->name_count; i++)
		look(p, h->place[h->name[i].place].fd, h->name[i].path, i);
	if (p->error)
		h->error = p->error;
}

struct hostexec *hostexec_begin(const struct identity *id,
				char *const *roots, size_t count,
				const char *skip)
{
	struct hostexec *h = NULL;
	struct data_entry e;
	const char *at = NULL;
	size_t i, wanted = 0;

	for (i = 0; i < count; i++)
		wanted += !skip || strcmp(roots[i], skip);
	if (!wanted)
		return NULL;
	h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	if (become_user(id)) {
		h->error = -EPERM;
		return h;
	}
	for (i = 0; i < count; i++) {
		if (skip && !strcmp(roots[i], skip))
			continue;
		for (at = NULL; data_next(DATA_HOST_EXEC, &at, &e);)
			seek(h, roots[i], &e);
		seek_git(h, roots[i]);
	}
	hostexec_git_begin(h);
	take(h, &h->before);
	become_self(id);
	return h;
}

void hostexec_change(struct hostexec *h, struct change c)
{
	unsigned int i;

	/* A link above several names is met with each. */
	for (i = 0; i < h->change_count; i++)
		if (!strcmp(h->change[i].path, c.path))
			return;
	if (h->change_count < CHANGES_MAX)
		h->change[h->change_count++] = c;
	else
		h->more += c.count;
}

static int by_path(const void *a, const void *b)
{
	const struct view *x = a, *y = b;
	int r = strcmp(x->path, y->path);

	return r ? r : x->behind - y->behind;
}

/* The views of one name, which stand together: sorted by path. */
struct run_of {
	struct view *v;
	size_t count;
};

static struct run_of run_of(struct picture *p, uint32_t name, size_t *from)
{
	struct run_of r;

	r.v = p->view + *from;
	for (r.count = 0; *from < p->count && p->view[*from].name == name;
	     ++*from)
		r.count++;
	if (r.count)
		qsort(r.v, r.count, sizeof(*r.v), by_path);
	return r;
}

/* The other picture could not look where @v lies. */
static bool hidden_in(const struct run_of *other, const struct view *v)
{
	size_t i, n;

	for (i = 0; i < other->count; i++) {
		n = strlen(other->v[i].path);
		if (other->v[i].partial && strlen(v->path) > n &&
		    !strncmp(v->path, other->v[i].path, n) &&
		    v->path[n] == '/')
			return true;
	}
	return false;
}

/* Directories that were seen are their entries. */
static bool tells(const struct view *v)
{
	return !S_ISDIR(v->type) || v->partial;
}

/* All differences of one name; they are folded if they are too many. */
struct differences {
	struct change list[FOLD_ABOVE];
	unsigned int count;
	const char *last;	/* below the place */
};

static void differ(struct hostexec *h, struct differences *d,
		   const struct name *n, const char *path,
		   enum change_kind kind, bool by_time)
{
	struct change c = { .kind = n->kind, .change = kind,
			    .by_time = by_time, .count = 1 };

	/* A link and what is behind it are one. */
	if (d->last && !strcmp(d->last, path))
		return;
	d->last = path;
	c.path = joined(h, n, path);
	if (d->count < FOLD_ABOVE)
		d->list[d->count] = c;
	d->count++;
}

static void compare_run(struct hostexec *h, struct differences *d,
			const struct name *n, const struct run_of *b,
			const struct run_of *a)
{
	size_t i = 0, k = 0;
	bool by_time;
	int c;

	while (i < b->count || k < a->count) {
		c = i == b->count ? 1 : k == a->count ? -1 :
			by_path(&b->v[i], &a->v[k]);
		if (c < 0) {
			if (tells(&b->v[i]) && !hidden_in(a, &b->v[i]))
				differ(h, d, n, b->v[i].path, REMOVED, false);
			i++;
		} else if (c > 0) {
			if (tells(&a->v[k]) && !hidden_in(b, &a->v[k]))
				differ(h, d, n, a->v[k].path, CREATED, false);
			k++;
		} else {
			if (look_differs(&b->v[i], &a->v[k], &by_time))
				differ(h, d, n, a->v[k].path, MODIFIED,
				       by_time);
			i++;
			k++;
		}
	}
}

/* By the name of the list, however much below it there was no room for. */
static void note_unseen(struct hostexec *h, const struct name *n,
			const struct run_of *r)
{
	size_t i;

	for (i = 0; i < r->count && !r->v[i].partial; i++)
		;
	if (i < r->count)
		hostexec_unseen(h, joined(h, n, n->path));
}

static void compare(struct hostexec *h)
{
	size_t before = 0, after = 0;
	unsigned int k;
	uint32_t i;

	for (i = 0; i < h->name_count; i++) {
		const struct name *n = &h->name[i];
		struct differences d = { .count = 0 };
		struct run_of b = run_of(&h->before, i, &before);
		struct run_of a = run_of(&h->after, i, &after);

		compare_run(h, &d, n, &b, &a);
		note_unseen(h, n, &b);
		note_unseen(h, n, &a);
		for (k = 0; k < d.count && d.count <= FOLD_ABOVE; k++)
			hostexec_change(h, d.list[k]);
		if (d.count > FOLD_ABOVE)
			hostexec_change(h, (struct change){
				.path = joined(h, n, n->path), .kind = n->kind,
				.change = !b.count ? CREATED : !a.count ?
					REMOVED : MODIFIED,
				.count = d.count,
			});
	}
}

void hostexec_end(struct hostexec *h, const struct identity *id,
		  uint64_t touched)
{
	if (!h || h->error)
		return;
	if (become_user(id)) {
		h->error = -EPERM;
		return;
	}
	take(h, &h->after);
	compare(h);
	if (touched)
		hostexec_git_end(h, touched & LH_TOUCHED_INSIDE);
	become_self(id);
	h->ended = true;
}

void hostexec_free(struct hostexec *h)
{
	uint32_t i;

	if (!h)
		return;
	for (i = 0; i < h->place_count; i++)
		close(h->place[i].fd);
	look_free(&h->before);
	look_free(&h->after);
	arena_free(&h->mem);
	free(h->name);
	free(h);
}
