// SPDX-License-Identifier: GPL-2.0-only
/*
 * image_check() is total: cut anywhere, changed anywhere, with or without a
 * hash that fits, an image is refused or is safe to use. And the compiler
 * itself: any bytes get an answer. LH_FUZZ=N: rounds (2000); ASan is the judge.
 */
#include <errno.h>

#define _GNU_SOURCE
#include "compile_test.h"
#include "../../policy-compiler/data.h"
#include "../../policy-compiler/image-hash.h"

#include "kselftest_harness.h"

static unsigned int rounds(void)
{
	const char *n = getenv("LH_FUZZ");

	return n ? strtoul(n, NULL, 10) : 2000;
}

/* Read all that the accessors give; the sum keeps the compiler honest. */
static size_t use(const struct image *im)
{
	const struct image_protect *p = image_protects(im);
	const struct image_root *r = image_roots(im);
	const struct image_env *v = image_envs(im);
	size_t n = 0, i;

	for (i = 0; i < im->roots.count; i++)
		n += strlen(image_string(im, r[i].path)) +
		     strlen(image_rule(im, r[i].rule));
	for (i = 0; i < im->protects.count; i++)
		n += strlen(image_string(im, p[i].name)) +
		     strlen(image_rule(im, p[i].rule));
	for (i = 0; i < im->env.count; i++)
		n += strlen(image_string(im, v[i].name)) +
		     strlen(image_string(im, v[i].value));
	for (i = 0; i < im->policy.count; i++)
		n += ((const char *)im)[im->policy.offset + i];
	for (i = 0; i < im->filter.count * 8; i++)
		n += ((const char *)im)[im->filter.offset + i];
	return n + strlen(image_string(im, im->name)) +
	       strlen(image_string(im, im->source)) +
	       strlen(image_string(im, im->workspace)) +
	       strlen(image_string(im, im->home));
}

FIXTURE(image) {
	struct image *im;
	char *said;
	size_t size;
};

FIXTURE_SETUP(image)
{
	self->im = compile_here(
		"{\"version\":1,\"name\":\"n\",\"read_only_roots\":[\"/ro\"],"
		"\"environment\":{\"pass\":[\"A\"],\"set\":{\"B\":\"b\"}}}",
		NULL, &self->said);
	ASSERT_NE(NULL, self->im);
	self->size = self->im->size;
}

FIXTURE_TEARDOWN(image)
{
	free(self->im);
	free(self->said);
}

/* Exactly as large as it is, so that ASan sees one byte beyond. */
static struct image *copy(const struct image *im, size_t size)
{
	void *p = malloc(size ? size : 1);

	return memcpy(p, im, size);
}

TEST_F(image, is_good)
{
	struct err e = { 0 };

	EXPECT_EQ(0, image_check(self->im, self->size, &e));
	EXPECT_EQ(0, e.num);
	EXPECT_GT(use(self->im), 1000);
}

TEST_F(image, cut_anywhere_is_refused)
{
	struct image *cut;
	size_t n;

	for (n = 0; n < self->size; n += n < 1024 ? 1 : 97) {
		cut = copy(self->im, n);
		EXPECT_NE(0, image_check(cut, n, NULL));
		if (n >= sizeof(*cut)) {
			cut->size = n;
			image_hash(cut, n, cut->hash);
			EXPECT_NE(0, image_check(cut, n, NULL)) {
				TH_LOG("%zu of %zu", n, self->size);
			}
		}
		free(cut);
	}
}

TEST_F(image, names_what_is_wrong)
{
	struct err e = { 0 };

	self->im->roots.count++;
	EXPECT_EQ(-EBADMSG, image_check(self->im, self->size, &e));
	EXPECT_NE(NULL, strstr(e.msg, "hash does not match"));
	e.num = 0;
	self->im->abi = LH_ABI + 1;
	EXPECT_EQ(-EPROTO, image_check(self->im, self->size, &e));
	EXPECT_NE(NULL, strstr(e.msg, "this build has ABI"));
	e.num = 0;
	self->im->magic++;
	EXPECT_EQ(-EINVAL, image_check(self->im, self->size, &e));
	EXPECT_STREQ("not an image", e.msg);
}

static int check_hashed(struct image *im)
{
	image_hash(im, im->size, im->hash);
	return image_check(im, im->size, NULL);
}

/* One field at a time made wrong, under a hash that is right. */
#define WRONG(change) do { \
	struct image *im = copy(self->im, self->size); \
	struct image_root *r = (struct image_root *)image_roots(im); \
	struct image_protect *p = (struct image_protect *)image_protects(im); \
	struct image_env *v = (struct image_env *)image_envs(im); \
	(void)r; (void)p; (void)v; \
	change; \
	EXPECT_EQ(-EBADMSG, check_hashed(im)) { TH_LOG("%s", #change); } \
	free(im); \
} while (0)

TEST_F(image, every_field_is_looked_at)
{
	WRONG(im->profile = PROFILE_WASI);
	WRONG(im->profile = 99);
	WRONG(im->level = LEVEL_NETWORK + 1);
	WRONG(im->flags |= 32);
	WRONG(im->env_mode = 3);
	WRONG(im->name = im->strings.count);
	WRONG(im->home = 0);
	WRONG(im->workspace = im->name);
	WRONG(im->limits.pids = 0);
	WRONG(im->limits.wall_time = 0);
	WRONG(im->limits.memory = 1);
	WRONG(im->limits.cpu = 0);
	WRONG(im->limits.io = 0);
	WRONG(im->limits.open_files = 0);
	WRONG(im->limits.file_size = 0);
	WRONG(im->limits.idle_time = 0);
	WRONG(im->limits.capture_bytes = 0);
	WRONG(im->limits.capture_bytes = LIMIT_CAPTURE_MAX + 1);
	WRONG(im->limits.grace = IMAGE_NO_LIMIT);
	WRONG(im->filter.count = 0);
	WRONG(im->filter.count = 4097);
	WRONG(im->rules.count = 0);
	WRONG(im->roots.offset += 4);
	WRONG(im->roots.offset = 0);
	WRONG(im->strings.offset = 0xfffffff8);
	WRONG(im->strings.count = 0xffffffff);
	WRONG(im->roots.count = 0x0aaaaaab);
	WRONG(r[0].path = im->strings.count);
	WRONG(r[0].path = 0);
	WRONG(r[0].flags = 0);
	WRONG(r[0].flags = LH_ROOT_PIN);
	WRONG(r[0].flags = LH_ROOT_DENY | LH_ROOT_READ);
	WRONG(r[0].flags = LH_ROOT_WRITE | LH_ROOT_RDONLY);
	WRONG(r[0].flags = IMAGE_ROOT_SELF | LH_ROOT_DENY);
	WRONG(r[0].kind = ROOT_CREDENTIAL + 1);
	WRONG(r[0].flags = LH_ROOT_READ; r[0].kind = ROOT_CREDENTIAL);
	WRONG(r[0].rule = im->rules.count);
	WRONG(r[0].pad = 1);
	WRONG(p[0].kind = PROTECT_ROOT + 1);
	WRONG(p[0].kind = PROTECT_WILD);	/* "hooks": no PARENT/ */
	WRONG(p[0].name = r[0].path);		/* absolute */
	WRONG(p[0].name = 0);
	WRONG(p[0].rule = 0xffff);
	WRONG(v[0].set = 2);
	WRONG(v[0].value = v[0].name);
	WRONG(v[0].name = r[0].path);
	WRONG(((char *)im)[im->policy.offset] = 0x1b);
	WRONG(((char *)im)[im->strings.offset] = 'x');
	WRONG(((char *)im)[im->strings.offset + im->strings.count - 1] = 'x');
}

TEST_F(image, changed_at_random_is_refused_or_safe)
{
	unsigned int n = rounds(), i, k, good = 0;
	uint64_t seed = 42;
	struct image *im;
	uint32_t *word;

	for (i = 0; i < n; i++) {
		im = copy(self->im, self->size);
		for (k = dice(&seed, 4) + 1; k--;) {
			word = (uint32_t *)im + dice(&seed, 2) * 0;
			/* The header is the most fragile: half go there. */
			word += dice(&seed, (dice(&seed, 2) ? sizeof(*im) :
					     self->size) / 4);
			switch (dice(&seed, 4)) {
			case 0: *word ^= 1u << dice(&seed, 32); break;
			case 1: *word = dice(&seed, 0x7fffffff) * 2; break;
			case 2: *word += dice(&seed, 17) - 8; break;
			default: *word = dice(&seed, 2) ? 0 : UINT32_MAX;
			}
		}
		im->magic = IMAGE_MAGIC;
		im->abi = LH_ABI;
		im->size = self->size;
		if (!check_hashed(im)) {
			good++;
			use(im);
		}
		free(im);
	}
	TH_LOG("%u of %u mutants are images still", good, n);
	EXPECT_LT(good, n);
}

/* Pieces that a mutant is made of, so that it gets past the first byte. */
static const char *const bits[] = {
	"{", "}", "[", "]", ",", ":", "\"", "null", "true", "1", "-1e9", "\\",
	"\\u0000", "\\ud800", "\xff", "\n", "\"/\"", "\"?~/..\"", "\"${HOME}\"",
	"\"version\":", "\"limits\":{", "\"set\":{\"A\":", "\"presets\":",
	"\"read_deny_roots\":[", "\"workspace_roots\":[\"", "[[[[[[[[[[[[[[[[[",
	"\"1T\"", "\"99999999999999999999d\"", "4194304", "/a/../b", "\x01",
};

static size_t mutate(char *text, size_t len, size_t room, uint64_t *seed)
{
	const char *bit = bits[dice(seed, ARRAY_SIZE(bits))];
	size_t at = dice(seed, len + 1), n = strlen(bit), cut;

	switch (dice(seed, 4)) {
	case 0:
		if (len)
			text[dice(seed, len)] ^= 1 << dice(seed, 8);
		return len;
	case 1:
		cut = dice(seed, len - at + 1) % 40;
		memmove(text + at, text + at + cut, len - at - cut);
		return len - cut;
	case 2:
		return dice(seed, 20) ? len : at;
	default:
		if (len + n > room)
			return len;
		memmove(text + at + n, text + at, len - at);
		memcpy(text + at, bit, n);
		return len + n;
	}
}

TEST(any_text_gets_an_answer)
{
	unsigned int n = rounds(), i, k, good = 0;
	const struct compile_options o = { .context = &here };
	const char *source;
	uint64_t seed = 7;
	struct image *im;
	struct diags d;
	char text[4096];
	size_t len;
	int r;

	for (i = 0; i < n; i++) {
		source = policy_shipped(policy_shipped_name(dice(&seed, 5)),
					&len);
		memcpy(text, source, len);
		for (k = dice(&seed, 6) + 1; k--;)
			len = mutate(text, len, sizeof(text), &seed);
		d = (struct diags){ 0 };
		im = NULL;
		r = compile_text(text, len, "m", "/base", &o, &im, &d);
		EXPECT_EQ(r == 0, d.errors == 0);
		if (!r) {
			good++;
			EXPECT_EQ(0, image_check(im, im->size, NULL));
		}
		free(im);
		diags_free(&d);
	}
	TH_LOG("%u of %u mutants are policies still", good, n);
	EXPECT_GT(good, 0);
	EXPECT_LT(good, n);
}

TEST_HARNESS_MAIN
