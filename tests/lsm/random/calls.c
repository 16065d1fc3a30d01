// SPDX-License-Identifier: GPL-2.0-only
/*
 * One random call: what the kernel would say by itself, what is asked of the
 * policy and about which object, and the three verdicts compared.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"

static void add_ask(struct call *c, struct spot *p, unsigned int need,
		    const char *operation)
{
	c->ask[c->asks++] = (struct ask){ .p = p, .need = need,
					  .operation = operation };
}

static bool is_dir(const struct spot *p)
{
	return p->there && S_ISDIR(p->st.st_mode);
}

/* Does it take one elsewhere: a directory, or a link? */
static bool leads(const struct spot *p)
{
	return p->there && (S_ISDIR(p->st.st_mode) || S_ISLNK(p->st.st_mode));
}

static bool is_empty(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n <= 2;
}

/* Something is mounted over it, also where another name of it shows it bare. */
static bool is_covered(const struct game *g, const struct spot *p)
{
	for (int i = 0; i < MOUNTS; i++)
		if (g->mount[i].used &&
		    same(&g->mount[i].covered, &p->level[0].id))
			return true;
	return false;
}

static bool inside(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strncmp(path, dir, n) && (!path[n] || path[n] == '/');
}

static void above(const struct spot *p, char out[TEXT])
{
	snprintf(out, TEXT, "%s", p->path);
	*strrchr(out, '/') = 0;
}

/* A path as a program may write it. */
static void any_path(struct game *g, char out[TEXT], bool name)
{
	static const char *const places[] = { "ws", "ws", "w2", "ro", "rd",
					      "out" };
	char start[TEXT] = "";
	size_t n;

	switch (roll(g, 10)) {
	case 0: case 1: case 2:
		snprintf(start, sizeof(start), "%s",
			 at(g->w, "%s", ONE_OF(g, places)));
		break;
	case 3:
		snprintf(start, sizeof(start), "/proc/self/root%s",
			 at(g->w, "%s", ONE_OF(g, places)));
		break;
	case 4:
		snprintf(start, sizeof(start), "/proc/self/cwd");
		break;
	case 5: case 6:
		n = roll(g, SLOTS);
		if (g->slot[n] >= 0)
			snprintf(start, sizeof(start), "@%zu", n);
		break;
	case 7:
		if (!roll(g, 3))
			snprintf(start, sizeof(start), "%s", g->temp);
	}
	tree_path(g, start, out);
	n = strlen(out);
	if (!n || (name && n >= 2 && !strcmp(out + n - 2, "..")))
		snprintf(out + n, TEXT - n, "%s%s", n ? "/" : "",
			 tree_name(g));
}

/* Where a thing gets to it may be used for no more than where it was. */
static void ask_gains(struct call *c, struct spot *from, struct spot *to,
		      const char *operation)
{
	add_ask(c, from, NEED_READ | NEED_RUN, operation);
	c->ask[c->asks - 1].other = to;
	c->ask[c->asks - 1].gains = true;
}

static void plan_open(struct game *g, struct call *c)
{
	static const char *const hows[] = {
		"r", "r", "r", "w", "wa", "+", "wt", "+t", "rt", "rd", "rn",
		"wn", "p", "pn", "rc", "wc", "wc", "+c", "wct", "rct", "wcx",
		"wcn",
	};
	struct spot *p = c->place;
	const char *how = ONE_OF(g, hows);
	bool makes = strchr(how, 'c'), link = strchr(how, 'n');
	bool write = strpbrk(how, "w+t");
	unsigned int need = (strpbrk(how, "r+") ? NEED_READ : 0) |
			    (write ? NEED_WRITE : 0);

	snprintf(c->b, sizeof(c->b), "%s", how);
	if (makes && (link || strchr(how, 'x')))
		spot_find(g, c->a, NAME, p);
	else
		spot_find(g, c->a, makes ? MAKE : link ? HERE : FOLLOW, p);
	if (p->err) {
		c->pre = p->err;
		return;
	}
	if (!p->there) {
		add_ask(c, p, NEED_WRITE, "create");
		add_ask(c, p, need, "open");
		return;
	}
	if (makes && strchr(how, 'x'))
		c->pre = EEXIST;
	else if (*how == 'p')
		return;
	else if (S_ISLNK(p->st.st_mode))
		c->pre = ELOOP;
	else if (strchr(how, 'd') && !is_dir(p))
		c->pre = ENOTDIR;
	else if (is_dir(p) && (write || makes))
		c->pre = EISDIR;
	if (S_ISFIFO(p->st.st_mode) && *how == 'w')
		c->post = ENXIO;	/* nobody reads it */
	add_ask(c, p, need, "open");
	c->explain = need == NEED_READ ? "read" : need == NEED_WRITE ?
		"write" : NULL;
}

/* One object, which must be there. */
static void plan_object(struct game *g, struct call *c)
{
	struct spot *p = c->place;

	spot_find(g, c->a, c->letter == 'l' ? HERE : FOLLOW, p);
	c->pre = p->err;
	if (p->err)
		return;
	switch (c->letter) {
	case 's': case 'l':
		add_ask(c, p, NEED_LOOK, "stat");
		c->explain = S_ISLNK(p->st.st_mode) ? NULL : "stat";
		break;
	case 'd':
		if (!is_dir(p))
			c->pre = ENOTDIR;
		add_ask(c, p, NEED_READ, "open");
		c->explain = "list";
		break;
	case 'w':
		add_ask(c, p, NEED_READ, "watch");
		break;
	case 't':
		if (!S_ISREG(p->st.st_mode))
			c->pre = is_dir(p) ? EISDIR : EINVAL;
		add_ask(c, p, NEED_WRITE, "truncate");
		c->explain = "truncate";
		break;
	case 'c':
		strcpy(c->b, roll(g, 8) ? roll(g, 2) ? "755" : "700" : "4755");
		add_ask(c, p, NEED_WRITE, "chmod");
		c->explain = "chmod";
		if (*c->b == '4' && !is_dir(p)) {
			c->ask[0].reason = "setid";
			c->explain = NULL;
		}
		break;
	}
}

/* Only what the kernel takes for text: for the rest it seeks a module. */
static bool is_text(const char *path)
{
	char head[4] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = read(fd, head, sizeof(head));

	close(fd);
	return n == 4 && !memcmp(head, "TEXT", 4);
}

static void plan_exec(struct game *g, struct call *c)
{
	struct spot *p = c->place;

	spot_find(g, c->a, FOLLOW, p);
	c->pre = p->err;
	if (p->err)
		return;
	if (!S_ISREG(p->st.st_mode)) {
		c->pre = EACCES;	/* of the kernel's own, without us */
		return;
	}
	if (!p->hidden && !is_text(p->path)) {
		p->hidden = true;
		return;
	}
	add_ask(c, p, NEED_RUN, "exec");
	c->post = ENOEXEC;
	c->explain = "exec";
}

static void plan_make(struct game *g, struct call *c)
{
	struct spot *p = c->place;
	static const struct {
		char letter;
		const char *operation, *explain;
	} what[] = {
		{ 'm', "mkdir", "mkdir" }, { 'f', "mknod", "create" },
		{ 'r', "create", "create" }, { 'n', "symlink", "symlink" },
	};
	size_t i = 0;

	spot_find(g, c->a, NAME, p);
	c->pre = p->err ? p->err : p->there ? EEXIST : 0;
	while (what[i].letter != c->letter)
		i++;
	if (c->letter == 'n')
		snprintf(c->b, sizeof(c->b), "%s%s", roll(g, 2) ? "../" : "",
			 tree_name(g));
	add_ask(c, p, NEED_WRITE | (c->letter == 'n' ? NEED_ARRIVE : 0),
		what[i].operation);
	c->explain = what[i].explain;
}

static void plan_remove(struct game *g, struct call *c)
{
	struct spot *p = c->place;
	bool dir = c->letter == 'R';

	spot_find(g, c->a, NAME, p);
	c->pre = p->err ? p->err : p->there ? 0 : ENOENT;
	if (c->pre)
		return;
	add_ask(c, p, NEED_REMOVE, dir ? "rmdir" : "unlink");
	c->explain = "remove";
	if (!dir)
		c->post = is_dir(p) ? EISDIR : 0;
	else if (!is_dir(p))
		c->post = ENOTDIR;
	else if (is_covered(g, p))
		c->post = EBUSY;
	else if (!is_empty(p->path))
		c->post = ENOTEMPTY;
}

/* The kernel's own order, before it asks. */
static int rename_before(const struct call *c)
{
	const struct spot *old = &c->place[0], *new = &c->place[1];
	char old_dir[TEXT], new_dir[TEXT];

	if (old->err || new->err)
		return old->err ? old->err : new->err;
	if (old->mount != new->mount)
		return EXDEV;
	above(old, old_dir);
	above(new, new_dir);
	if (!old->there)
		return ENOENT;
	if (*c->c == 'n' && new->there)
		return EEXIST;
	if (*c->c == 'x' && !new->there)
		return ENOENT;
	if (inside(new_dir, old->path))
		return EINVAL;
	if (inside(old_dir, new->path))
		return *c->c == 'x' ? EINVAL : ENOTEMPTY;
	return 0;
}

static int rename_after(const struct game *g, const struct call *c)
{
	const struct spot *old = &c->place[0], *new = &c->place[1];

	if (new->there && old->st.st_ino == new->st.st_ino &&
	    old->st.st_dev == new->st.st_dev)
		return 0;
	if (new->there && *c->c != 'x') {
		if (is_dir(old) && !is_dir(new))
			return ENOTDIR;
		if (!is_dir(old) && is_dir(new))
			return EISDIR;
	}
	if (is_covered(g, old) || is_covered(g, new))
		return EBUSY;
	if (is_dir(new) && *c->c != 'x' && !is_empty(new->path))
		return ENOTEMPTY;
	return 0;
}

static void plan_rename(struct game *g, struct call *c)
{
	static const char *const hows[] = { "", "", "", "n", "x" };
	struct spot *old = &c->place[0], *new = &c->place[1];
	unsigned int from = NEED_REMOVE, to = NEED_WRITE;

	strcpy(c->c, ONE_OF(g, hows));
	any_path(g, c->b, true);
	spot_find(g, c->a, NAME, old);
	spot_find(g, c->b, NAME, new);
	c->pre = rename_before(c);
	if (c->pre)
		return;
	if (leads(old)) {
		from |= NEED_CARRY;
		to |= NEED_ARRIVE;
	}
	if (new->there)
		to |= NEED_REMOVE;
	if (*c->c == 'x') {
		from |= NEED_WRITE;
		if (leads(new)) {
			from |= NEED_ARRIVE;
			to |= NEED_CARRY;
		}
	} else {
		c->explain = "rename";
	}
	add_ask(c, old, from, "rename");
	add_ask(c, new, to, "rename");
	c->ask[0].other = new;
	c->ask[1].other = old;
	ask_gains(c, old, new, "rename");
	if (*c->c == 'x')
		ask_gains(c, new, old, "rename");
	c->post = rename_after(g, c);
}

static void ask_link(struct call *c, struct spot *old, struct spot *new)
{
	struct ask *k = &c->ask[c->asks];

	add_ask(c, old, NEED_WRITE, "link");
	add_ask(c, new, NEED_WRITE | (leads(old) ? NEED_ARRIVE : 0), "link");
	k[0].other = new;
	k[1].other = old;
	ask_gains(c, old, new, "link");
}

static void plan_link(struct game *g, struct call *c)
{
	struct spot *old = &c->place[0], *new = &c->place[1];

	any_path(g, c->b, true);
	spot_find(g, c->a, HERE, old);
	spot_find(g, c->b, NAME, new);
	c->pre = old->err ? old->err : new->err ? new->err :
		new->there ? EEXIST : old->mount != new->mount ? EXDEV : 0;
	if (c->pre)
		return;
	ask_link(c, old, new);
	c->post = is_dir(old) ? EPERM : 0;
	c->explain = "link";
}

static void plan_unnamed(struct game *g, struct call *c)
{
	struct spot *dir = &c->place[0], *new = &c->place[1],
		     *file = &c->place[2];

	spot_find(g, c->a, FOLLOW, dir);
	c->pre = dir->err ? dir->err : is_dir(dir) ? 0 : ENOTDIR;
	if (c->pre)
		return;
	spot_below(g, dir, "#", file);
	add_ask(c, file, NEED_READ | NEED_WRITE, "open");
	c->ask[0].unnamed = true;
	if (roll(g, 2))
		return;
	any_path(g, c->b, true);
	spot_find(g, c->b, NAME, new);
	c->middle = new->err ? new->err : new->there ? EEXIST :
		file->mount != new->mount ? EXDEV : 0;
	if (c->middle)
		return;
	ask_link(c, file, new);
	c->ask[1].unnamed = c->ask[3].unnamed = true;
	c->ask[2].other_unnamed = true;
}

/* A directory to start later calls from; the name alone is opened. */
static void plan_keep(struct game *g, struct call *c)
{
	unsigned int n = roll(g, SLOTS);

	if (c->a[0] == '@')
		snprintf(c->a, sizeof(c->a), "%s", at(g->w, "ws"));
	snprintf(c->b, sizeof(c->b), "%u", n);
	spot_find(g, c->a, FOLLOW, c->place);
	c->pre = c->place->err ? c->place->err :
		is_dir(c->place) ? 0 : ENOTDIR;
	c->slot = n;
}

void call_plan(struct game *g, struct call *c)
{
	static const char letters[] = "oooooooooosslldwtcxmmmfrnuuuRRvvvvvvkkkT"
				      "TS";
	bool name;

	c->pre = c->middle = c->post = c->asks = 0;
	c->slot = -1;
	c->explain = NULL;
	c->b[0] = c->c[0] = 0;
	for (int i = 0; i < 3; i++)
		c->place[i].hidden = c->place[i].there = false;
	c->letter = letters[roll(g, sizeof(letters) - 1)];
	name = strchr("omfrnuRvkT", c->letter);
	any_path(g, c->a, name);
	switch (c->letter) {
	case 'o': plan_open(g, c); break;
	case 'x': plan_exec(g, c); break;
	case 'm': case 'f': case 'r': case 'n': plan_make(g, c); break;
	case 'u': case 'R': plan_remove(g, c); break;
	case 'v': plan_rename(g, c); break;
	case 'k': plan_link(g, c); break;
	case 'T': plan_unnamed(g, c); break;
	case 'S': plan_keep(g, c); break;
	default: plan_object(g, c);
	}
}
