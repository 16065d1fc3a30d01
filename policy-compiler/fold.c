// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which directories fold names, and to what: as the engine has it, and the
 * short names that FAT has for long ones.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../bpf/fold.h"
#include "entry.h"

#define SHORT_BASE 8
#define SHORT_EXT 3

/* What a line of mountinfo says of a FAT file system, after " - ". */
static enum entry_folds fat_of(const char *line)
{
	if (!strncmp(line, "msdos ", 6))
		return FOLDS_CUT;
	return strstr(line, ",nonumtail") ? FOLDS_PLAIN : FOLDS_SHORT;
}

static enum entry_folds fat_mounted(dev_t dev)
{
	enum entry_folds how = FOLDS_SHORT;
	unsigned int major, minor;
	char *line = NULL, *type;
	size_t room = 0;
	FILE *f;

	f = fopen("/proc/self/mountinfo", "re");
	while (f && getline(&line, &room, f) > 0) {
		if (sscanf(line, "%*u %*u %u:%u", &major, &minor) != 2 ||
		    makedev(major, minor) != dev)
			continue;
		type = strstr(line, " - ");
		if (type)
			how = fat_of(type + 3);
		break;
	}
	free(line);
	if (f)
		fclose(f);
	return how;
}

enum entry_folds entry_fat(const struct entry *dir)
{
	/* Most of them lie on the file system that the one before did. */
	static enum entry_folds known;
	static dev_t of;
	struct statfs fs;

	if (of == dir->dev)
		return known;
	if (fstatfs(dir->fd, &fs))
		return FOLDS_NOT;
	known = fs.f_type == MSDOS_SUPER_MAGIC ? fat_mounted(dir->dev) :
		FOLDS_NOT;
	of = dir->dev;
	return known;
}

enum entry_folds entry_folds(const struct entry *dir)
{
	struct statfs fs;
	int fd, flags = 0;

	if (fstatfs(dir->fd, &fs))
		return FOLDS_NOT;
	if (fs.f_type == MSDOS_SUPER_MAGIC)
		return entry_fat(dir);
	if (fs.f_type == EXFAT_SUPER_MAGIC)
		return FOLDS;
	if (fs.f_type != EXT4_SUPER_MAGIC && fs.f_type != F2FS_SUPER_MAGIC)
		return FOLDS_NOT;
	fd = openat(dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return FOLDS_NOT;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags))
		flags = 0;
	close(fd);
	return flags & FS_CASEFOLD_FL ? FOLDS : FOLDS_NOT;
}

uint64_t entry_fold_hash(const char *name, size_t len, enum entry_folds how)
{
	unsigned char text[LH_NAME_MAX + 1] = { 0 };
	struct lh_fold f = {
		.len = len < LH_NAME_MAX ? len : LH_NAME_MAX,
		.cut = how == FOLDS_CUT,
	};

	memcpy(text, name, f.len);
	while (!lh_fold_step(text, &f))
		;
	if (f.tilde && how >= FOLDS_SHORT)
		return LH_HASH_SHORT;
	return f.wide || !f.end ? LH_HASH_WIDE :
		entry_name_hash((char *)text, f.end);
}

/*
 * Up to @most letters of the @len bytes at @name, as vfat takes them into a
 * short name. What is not ASCII may become an underscore, or a letter of the
 * code page; that is not ASCII, and so not told apart from the long name.
 */
static size_t shorten(char *out, size_t most, const char *name, size_t len)
{
	size_t n = 0, i;

	for (i = 0; i < len && n < most; i++) {
		unsigned char c = name[i];

		if (c == '.' || c == ' ' || (c & 0xc0) == 0x80)
			continue;
		if (c >= 0x80 || strchr("[];,+=", c))
			c = '_';
		out[n++] = tolower(c);
		if ((unsigned char)name[i] >= 0xf0 && n < most)
			out[n++] = '_';	/* two halves in UTF-16 */
	}
	return n;
}

/* The beginning, and three letters of what follows the last dot. */
static uint64_t plain_hash(const char *name, size_t len)
{
	char text[SHORT_BASE + 1 + SHORT_EXT];
	size_t base, ext = 0, n, lead;

	while (len && name[len - 1] == '.')
		len--;
	for (base = len; base && name[base - 1] != '.'; base--)
		;
	for (lead = 0; lead < base; lead++)
		if (name[lead] != '.' && name[lead] != ' ')
			break;
	if (lead == base)	/* no dot, or nothing before it */
		base = len;
	n = shorten(text, SHORT_BASE, name, base);
	if (base < len) {
		ext = shorten(text + n + 1, SHORT_EXT, name + base, len - base);
		text[n] = '.';
	}
	return n ? entry_name_hash(text, n + (ext ? ext + 1 : 0)) : 0;
}

uint64_t entry_short_hash(const char *name, size_t len, enum entry_folds how)
{
	uint64_t hash = how == FOLDS_PLAIN ? plain_hash(name, len) :
		how == FOLDS_CUT ? entry_fold_hash(name, len, how) : 0;

	return hash == entry_fold_hash(name, len, FOLDS) ||
	       hash == LH_HASH_SHORT ? 0 : hash;
}
