// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in and out of lh-policy. A name is never looked up in the current
 * directory: a session could have put it there.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data.h"
#include "suggest.h"
#include "tool.h"

static int image_read(int fd, size_t size, const char *file,
		      struct image **im, struct err *e)
{
	struct err why = { 0 };
	char *buf;
	ssize_t n;
	int r;

	if (size > IMAGE_BYTES_MAX)
		return err_set(e, -EFBIG, "%s: an image of more than %u bytes",
			       file, IMAGE_BYTES_MAX);
	buf = malloc(size);
	if (!buf)
		return err_sys(e, -ENOMEM, "%s", file);
	n = pread(fd, buf, size, 0);
	if (n != (ssize_t)size) {
		free(buf);
		return err_sys(e, n < 0 ? -errno : -EIO, "%s", file);
	}
	r = image_check(buf, size, &why);
	if (r) {
		free(buf);
		return err_set(e, r, "%s: %s", file, why.msg);
	}
	*im = (struct image *)buf;
	return 0;
}

/* Without a fd yet: where @arg leads. */
static int arg_open(const char *arg, char **file, struct err *e)
{
	int fd;

	if (!policy_is_name(arg)) {
		*file = strdup(arg);
	} else if (asprintf(file, POLICY_DIR "/%s.json", arg) < 0) {
		*file = NULL;
	}
	if (!*file)
		return err_sys(e, -ENOMEM, "%s", arg);
	/* Of a FIFO that nobody writes the open itself would never end. */
	fd = open(*file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	fcntl(fd, F_SETFL, O_RDONLY);
	return fd;
}

/* The names of policies, the site's first. */
struct names {
	char *list[256];
	size_t count;
};

static void names_free(struct names *n)
{
	while (n->count)
		free(n->list[--n->count]);
}

static void list_name(struct names *n, const char *name, size_t len)
{
	char *copy = n->count < 256 ? strndup(name, len) : NULL;

	if (copy && policy_is_name(copy))
		n->list[n->count++] = copy;
	else
		free(copy);
}

/*
 * Under sudo this runs as root: what not everyone may list is not told. The
 * order is that of the names, not of the directory.
 */
static void names_of_site(struct names *n)
{
	struct dirent **entries;
	struct stat st;
	int count, i;
	size_t len;

	if (stat(POLICY_DIR, &st) || (st.st_mode & 05) != 05)
		return;
	count = scandir(POLICY_DIR, &entries, NULL, alphasort);
	for (i = 0; i < count; i++) {
		len = strlen(entries[i]->d_name);
		if (len > 5 && !strcmp(entries[i]->d_name + len - 5, ".json"))
			list_name(n, entries[i]->d_name, len - 5);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

int tool_nothing_called(const char *flag, const char *name, struct err *e)
{
	struct names n = { 0 };
	const char *shipped, *near, *sep = *flag ? ": " : "";
	char all[128] = "";
	size_t i;

	names_of_site(&n);
	for (i = 0; (shipped = policy_shipped_name(i)); i++) {
		list_name(&n, shipped, strlen(shipped));
		strncat(all, i ? ", " : "", sizeof(all) - strlen(all) - 1);
		strncat(all, shipped, sizeof(all) - strlen(all) - 1);
	}
	near = suggest(name, n.list, sizeof(*n.list), n.count);
	if (near)
		err_set(e, -ENOENT, "%s%sno policy is called %.64s; did you "
			"mean %.64s? For a file write ./%.64s", flag, sep,
			name, near, name);
	else
		err_set(e, -ENOENT, "%s%sno policy is called %.64s: there is "
			"none in " POLICY_DIR ", and the shipped ones are %s; "
			"for a file write ./%.64s", flag, sep, name, all,
			name);
	names_free(&n);
	return -ENOENT;
}

/* Where an argument leads: to text inside the program, or to a file. */
struct found {
	const char *text;	/* or NULL */
	size_t len;
	int fd;
	char *file;		/* display name; to be freed */
	const char *base;	/* NULL: the file's directory */
};

static int find(const char *arg, const struct compile_options *o,
		struct found *f, struct err *e)
{
	*f = (struct found){ .base = o->context->workspace };
	if (!strcmp(arg, "-")) {
		f->file = strdup("standard input");
		return f->file ? 0 : err_sys(e, -ENOMEM, "%s", arg);
	}
	f->fd = arg_open(arg, &f->file, e);
	if (f->fd >= 0) {
		f->base = NULL;
		return 0;
	}
	if (f->fd != -ENOENT || !policy_is_name(arg))
		return err_sys(e, f->fd, "%s", f->file ? f->file : arg);
	f->text = policy_shipped(arg, &f->len);
	free(f->file);
	f->file = f->text ? strdup(arg) : NULL;
	if (!f->text)
		return tool_nothing_called("", arg, e);
	return f->file ? 0 : err_sys(e, -ENOMEM, "%s", arg);
}

static void found_free(struct found *f)
{
	if (f->fd > 0)
		close(f->fd);
	free(f->file);
}

/* 0 and *im, which stays NULL for what is no image; or negative errno. */
static int found_image(const struct found *f, struct image **im, struct err *e)
{
	uint64_t magic;
	struct stat st;

	*im = NULL;
	if (f->text)
		return 0;
	if (fstat(f->fd, &st))
		return err_sys(e, -errno, "%s", f->file);
	if (S_ISREG(st.st_mode) &&
	    pread(f->fd, &magic, sizeof(magic), 0) == sizeof(magic) &&
	    magic == IMAGE_MAGIC)
		return image_read(f->fd, st.st_size, f->file, im, e);
	return 0;
}

int tool_load(const char *arg, const struct compile_options *o,
	      struct image **im, struct diags *d, struct err *e)
{
	struct found f;
	int r = find(arg, o, &f, e);

	if (!r)
		r = found_image(&f, im, e);
	if (!r && !*im)
		r = f.text ? compile_text(f.text, f.len, f.file, f.base, o,
					  im, d) :
			     compile_fd(f.fd, f.file, f.base, o, im, d);
	found_free(&f);
	return r;
}

int tool_model(const char *arg, const struct compile_options *o,
	       struct compiled **k, struct diags *d, struct err *e)
{
	struct image *im = NULL;
	struct found f;
	int r = find(arg, o, &f, e);

	if (!r)
		r = found_image(&f, &im, e);
	if (!r)
		r = im ? compile_model_image(im, f.file, o, k, d) :
			f.text ? compile_model_text(f.text, f.len, f.file,
						    f.base, o, k, d) :
			compile_model_fd(f.fd, f.file, f.base, o, k, d);
	found_free(&f);
	free(im);
	return r;
}

/* What stands in the file, which need not be a policy. */
static int read_source(int fd, const char *file, char **text, size_t *len,
		       struct err *e)
{
	ssize_t n = 1;

	*len = 0;
	*text = malloc(JSON_BYTES_MAX + 1);
	if (!*text)
		return err_sys(e, -ENOMEM, "%s", file);
	while (n > 0 && *len <= JSON_BYTES_MAX) {
		n = read(fd, *text + *len, JSON_BYTES_MAX + 1 - *len);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			*len += n;
	}
	if (n < 0 || *len > JSON_BYTES_MAX) {
		free(*text);
		return err_sys(e, n < 0 ? -errno : -EFBIG, "%s", file);
	}
	return 0;
}

int tool_source(const char *arg, const struct compile_options *o, char **text,
		size_t *len, struct err *e)
{
	struct image *im = NULL;
	struct found f;
	int r = find(arg, o, &f, e);

	if (!r)
		r = found_image(&f, &im, e);
	if (!r && !im && !f.text) {
		r = read_source(f.fd, f.file, text, len, e);
	} else if (!r) {
		*len = im ? im->policy.count : f.len;
		*text = strndup(im ? (char *)im + im->policy.offset : f.text,
				*len);
		r = *text ? 0 : err_sys(e, -ENOMEM, "%s", arg);
	}
	found_free(&f);
	free(im);
	return r;
}

static int write_all(int fd, const char *data, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= n;
	}
	return 0;
}

/* Where the output is no regular file (/dev/stdout, a pipe): straight. */
static int write_straight(const char *path, const void *data, size_t len,
			  struct err *e)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), r;

	if (fd < 0)
		return err_sys(e, -errno, "%s", path);
	r = write_all(fd, data, len);
	close(fd);
	return r ? err_sys(e, r, "%s", path) : 0;
}

int tool_write(const char *path, const void *data, size_t len, bool secret,
	       struct err *e)
{
	struct stat st;
	mode_t mask;
	char *part;
	int fd, r;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return write_straight(path, data, len, e);
	if (asprintf(&part, "%s.XXXXXX", path) < 0)
		return err_sys(e, -ENOMEM, "%s", path);
	fd = mkostemp(part, O_CLOEXEC);
	if (fd < 0) {
		r = -errno;
		free(part);
		return err_sys(e, r, "%s", path);
	}
	mask = umask(022);
	umask(mask);
	r = write_all(fd, data, len);
	if (!r && (fchmod(fd, (secret ? 0600 : 0666) & ~mask) || close(fd) ||
		   rename(part, path)))
		r = -errno;
	if (r)
		unlink(part);
	free(part);
	return r ? err_sys(e, r, "%s", path) : 0;
}
