// SPDX-License-Identifier: GPL-2.0-only
/*
 * image_check() on any bytes: it refuses, or every accessor may be used. The
 * first byte says whether the rest is an image as it stands, is one but for
 * its header and hash, or is a list of changes to an image that is right: the
 * last reaches deepest, and does not age with the ABI.
 */
#define _GNU_SOURCE
#include <string.h>

#include "../policy/compile_test.h"
#include "../../policy-compiler/image-hash.h"

#include "fuzz.h"

enum { AS_IT_STANDS, HEADER_RIGHT, CHANGES };

/* One of each thing that an image may hold. */
static const char text[] =
	"{\"version\":1,\"name\":\"n\",\"workspace_roots\":[\"/w\"],"
	"\"read_only_roots\":[\"?/w/ro\"],\"process_sandbox\":{\"presets\":"
	"[\"user_temp\"],\"read_deny_roots\":[\"/d\"]},\"environment\":"
	"{\"pass\":[\"A\"],\"set\":{\"B\":\"b\"}}}";

/* Read all that the accessors give; the sum keeps the compiler honest. */
static size_t use(const struct image *im)
{
	const struct image_protect *p = image_protects(im);
	const struct image_root *r = image_roots(im);
	const struct image_env *v = image_envs(im);
	const char *bytes = (const char *)im;
	char hex[65];
	size_t n, i;

	image_hash_hex(im, hex);
	n = strlen(hex);
	for (i = 0; i < im->roots.count; i++)
		n += strlen(image_string(im, r[i].path)) +
		     strlen(image_rule(im, r[i].rule));
	for (i = 0; i < im->protects.count; i++)
		n += strlen(image_string(im, p[i].name)) +
		     strlen(image_rule(im, p[i].rule));
	for (i = 0; i < im->env.count; i++)
		n += strlen(image_string(im, v[i].name)) +
		     strlen(image_string(im, v[i].value));
	for (i = 0; i <= im->rules.count; i++)
		n += strlen(image_rule(im, i));
	for (i = 0; i < im->policy.count; i++)
		n += bytes[im->policy.offset + i];
	for (i = 0; i < im->filter.count * 8; i++)
		n += bytes[im->filter.offset + i];
	return n + strlen(image_string(im, im->name)) +
	       strlen(image_string(im, im->source)) +
	       strlen(image_string(im, im->workspace)) +
	       strlen(image_string(im, im->home));
}

static volatile size_t sum;

static void check(const void *image, size_t size)
{
	struct err e = { 0 };
	int r = image_check(image, size, &e);

	MUST(!r == !e.num && !r == !*e.msg, "%d, %d, %s", r, e.num, e.msg);
	if (!r)
		sum += use(image);
}

static void make_right(struct image *im, size_t size)
{
	im->magic = IMAGE_MAGIC;
	im->abi = LH_ABI;
	im->size = size;
	image_hash(im, size, im->hash);
}

/* Pairs of a place and a value; at an odd place it is a byte. */
static void change(struct image *im, struct supply s)
{
	const size_t size = im->size;
	uint32_t at, value;

	while (s.at < s.end) {
		at = supply_byte(&s) | supply_byte(&s) << 8;
		value = supply_word(&s);
		if (at & 1)
			((uint8_t *)im)[at % size] = value;
		else
			((uint32_t *)im)[at / 2 % (size / 4)] = value;
	}
	make_right(im, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct image *good;
	size_t room = size ? size - 1 : 0;
	struct image *im;
	char *said;

	if (!good) {
		good = compile_here(text, NULL, &said);
		MUST(good, "%s", said);
		free(said);
	}
	if (!size)
		return 0;
	if (data[0] % 3 == CHANGES) {
		im = malloc(good->size);
		memcpy(im, good, good->size);
		change(im, (struct supply){ data + 1, data + size });
		check(im, good->size);
	} else {
		im = malloc(room ? room : 1);
		memcpy(im, data + 1, room);
		if (data[0] % 3 == HEADER_RIGHT && room >= sizeof(*im))
			make_right(im, room);
		check(im, room);
	}
	free(im);
	return 0;
}
