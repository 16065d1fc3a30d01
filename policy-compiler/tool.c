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

/* @base: NULL, or where relative roots start from instead of the file. */
static int file_load(int fd, const char *file, const char *base,
		     const struct compile_options *o, struct image **im,
		     struct diags *d, struct err *e)
{
	uint64_t magic;
	struct stat st;

	if (fstat(fd, &st))
		return err_sys(e, -errno, "%s", file);
	if (S_ISREG(st.st_mode) &&
	    pread(fd, &magic, sizeof(magic), 0) == sizeof(magic) &&
	    magic == IMAGE_MAGIC)
		return image_read(fd, st.st_size, file, im, e);
	return compile_fd(fd, file, base, o, im, d);
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

int tool_load(const char *arg, const struct compile_options *o,
	      struct image **im, struct diags *d, struct err *e)
{
	const char *text;
	char *file = NULL;
	size_t len;
	int fd, r;

	if (!strcmp(arg, "-"))
		return file_load(0, "standard input",
				 o->context->workspace, o, im, d, e);
	fd = arg_open(arg, &file, e);
	if (fd >= 0) {
		r = file_load(fd, file, NULL, o, im, d, e);
		close(fd);
	} else if (fd == -ENOENT && policy_is_name(arg)) {
		text = policy_shipped(arg, &len);
		r = text ? compile_text(text, len, arg, o->context->workspace,
					o, im, d) : tool_nothing_called("", arg, e);
	} else {
		r = err_sys(e, fd, "%s", file ? file : arg);
	}
	free(file);
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

int tool_write(const char *path, const void *data, size_t len, struct err *e)
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
	if (!r && (fchmod(fd, 0666 & ~mask) || close(fd) ||
		   rename(part, path)))
		r = -errno;
	if (r)
		unlink(part);
	free(part);
	return r ? err_sys(e, r, "%s", path) : 0;
}
