// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/kallsyms of a kernel that does not run. In its image lie how many
 * names there are; the names, each a length and as many tokens; where each
 * 256th of them is (the markers, 32 bits each); and somewhere behind them 256
 * tokens, which are strings. A character that is in any name is a token of its
 * own, so that the digits stand in a row.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core.h"

#define TOKENS 256
#define GROUP 256
#define NAME_BYTES 1024
#define NAMES_BYTES (64 << 20)
#define COUNT_LEAST 10000
#define COUNT_MOST 1000000
#define ALIGN 4

struct symbols {
	const unsigned char *names;
	void *image;
	size_t size;
	const char *token[TOKENS];
	uint32_t count;
};

static uint32_t word(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The length of the name at @p, and where its tokens begin. */
static uint32_t name_length(const unsigned char **p)
{
	uint32_t length = *(*p)++;

	if (length & 0x80)
		length = (length & 0x7f) | (uint32_t)*(*p)++ << 7;
	return length;
}

/* The tokens, of which @zero is the one that is "0". */
static const unsigned char *tokens_read(struct symbols *s,
					const unsigned char *zero,
					const unsigned char *image)
{
	const unsigned char *first = zero, *p;
	int i;

	for (i = 0; i < '0' && first > image + 1; i++)
		for (first--; first > image + 1 && first[-1]; first--)
			;
	for (i = 0, p = first; i < TOKENS; i++) {
		s->token[i] = (const char *)p;
		p += strlen((const char *)p) + 1;
	}
	return first;
}

/*
 * Are there @count names from @at on, and then, aligned, the markers: 0, and
 * where the second group begins?
 */
static bool names_begin(const unsigned char *at, uint32_t count,
			const unsigned char *tokens)
{
	const unsigned char *p = at;
	uint32_t i, second = 0;

	for (i = 0; i < count; i++) {
		uint32_t length = name_length(&p);

		p += length;
		if (!length || p >= tokens)
			return false;
		if (i + 1 == GROUP)
			second = p - at;
	}
	p += -(uintptr_t)p % ALIGN;
	/* Up to 6.19 they are aligned to twice as much. */
	if (!word(p) && !word(p + 4))
		p += 4;
	return !word(p) && word(p + 4) == second;
}

/* They lie before the tokens, and before them how many they are. */
static bool names_find(struct symbols *s, const unsigned char *tokens,
		       const unsigned char *image)
{
	const unsigned char *at = tokens - (uintptr_t)tokens % ALIGN;

	for (; at > image + 8 && tokens - at < NAMES_BYTES; at -= ALIGN) {
		uint32_t count = word(at - 4) ? word(at - 4) : word(at - 8);

		if (count < COUNT_LEAST || count > COUNT_MOST ||
		    !names_begin(at, count, tokens))
			continue;
		s->names = at;
		s->count = count;
		return true;
	}
	return false;
}

struct symbols *symbols_open(const char *vmlinux)
{
	static const char digits[] =
		"\0" "0\0" "1\0" "2\0" "3\0" "4\0" "5\0" "6\0" "7\0" "8\0" "9";
	struct symbols *s = calloc(1, sizeof(*s));
	int fd = open(vmlinux, O_RDONLY | O_CLOEXEC), err;
	const unsigned char *image, *p;
	struct stat st;

	if (!s || fd < 0 || fstat(fd, &st))
		goto fail;
	image = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (image == MAP_FAILED)
		goto fail;
	close(fd);
	s->image = (void *)image;
	s->size = st.st_size;
	for (p = image; (p = memmem(p, image + s->size - p, digits,
				    sizeof(digits))); p++)
		if (names_find(s, tokens_read(s, p + 1, image),
			       image))
			return s;
	symbols_close(s);
	errno = ENOENT;
	return NULL;
fail:
	err = errno;
	if (fd >= 0)
		close(fd);
	free(s);
	errno = err;
	return NULL;
}

bool symbols_have(const struct symbols *s, const char *name)
{
	const unsigned char *p = s->names;
	char full[NAME_BYTES];
	uint32_t i, n, at;

	for (i = 0; i < s->count; i++) {
		at = 0;
		for (n = name_length(&p); n; n--) {
			const char *token = s->token[*p++];
			size_t length = strlen(token);

			if (at + length < sizeof(full)) {
				memcpy(full + at, token, length);
				at += length;
			}
		}
		full[at] = 0;
		/* The first character is the type. */
		if (at && !strcmp(full + 1, name))
			return true;
	}
	return false;
}

void symbols_close(struct symbols *s)
{
	munmap(s->image, s->size);
	free(s);
}
