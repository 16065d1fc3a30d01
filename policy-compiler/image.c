// SPDX-License-Identifier: GPL-2.0-only
/*
 * The check of an image, which is all that the privileged side trusts, and the
 * accessors that are safe after it. Total: any bytes get an answer, and no
 * byte is read that was not shown to be there.
 */
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <string.h>

/*
 * SHA-256 by libmd: 47 kB, mapped in no time, what dpkg itself uses. libcrypto
 * is a hundred times that and relocates for longer than a session's start;
 * AF_ALG depends on the kernel's configuration.
 */
#include <sha2.h>

#include "image-hash.h"
#include "policy.h"

#define ROOT_RIGHTS (LH_ROOT_READ | LH_ROOT_WRITE | LH_ROOT_EXEC | \
		     LH_ROOT_DELETE)
#define ROOT_FLAGS (ROOT_RIGHTS | LH_ROOT_RDONLY | LH_ROOT_DENY | \
		    LH_ROOT_PROTECT | LH_ROOT_OWN | LH_ROOT_SOCKET)
#define SELF_RIGHTS (LH_ROOT_READ | LH_ROOT_WRITE | LH_ROOT_EXEC)

void image_hash(const void *image, size_t size, uint8_t hash[32])
{
	const size_t at = offsetof(struct image, hash);
	static const uint8_t zero[32];
	const uint8_t *p = image;
	SHA2_CTX sha;

	SHA256Init(&sha);
	SHA256Update(&sha, p, at);
	SHA256Update(&sha, zero, sizeof(zero));
	SHA256Update(&sha, p + at + sizeof(zero), size - at - sizeof(zero));
	SHA256Final(hash, &sha);
}

const char *image_string(const struct image *im, image_str s)
{
	return (const char *)im + im->strings.offset + s;
}

const char *image_rule(const struct image *im, unsigned int rule)
{
	const image_str *rules =
		(const void *)((const char *)im + im->rules.offset);

	return rule < im->rules.count ? image_string(im, rules[rule]) :
		"default";
}

const struct image_root *image_roots(const struct image *im)
{
	return (const void *)((const char *)im + im->roots.offset);
}

const struct image_protect *image_protects(const struct image *im)
{
	return (const void *)((const char *)im + im->protects.offset);
}

const struct image_env *image_envs(const struct image *im)
{
	return (const void *)((const char *)im + im->env.offset);
}

const struct image_net *image_nets(const struct image *im)
{
	return (const void *)((const char *)im + im->nets.offset);
}

uint32_t image_session_flags(const struct image *im)
{
	return (im->flags & IMAGE_NO_EXEC ? LH_SESSION_NO_EXEC : 0) |
	       (im->flags & IMAGE_USER_NAMESPACES ? LH_SESSION_USERNS : 0);
}

const struct image_port *image_ports(const struct image *im)
{
	return (const void *)((const char *)im + im->ports.offset);
}

void image_hash_hex(const struct image *im, char hex[65])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < sizeof(im->hash); i++) {
		*hex++ = digits[im->hash[i] >> 4];
		*hex++ = digits[im->hash[i] & 15];
	}
	*hex = 0;
}

static int damaged(struct err *e, const char *what, size_t i)
{
	return err_set(e, -EBADMSG, "damaged image: %s %zu; compile the "
		       "policy again", what, i);
}

static bool string_ok(const struct image *im, image_str s)
{
	return s < im->strings.count;
}

static bool path_ok(const struct image *im, image_str s)
{
	return string_ok(im, s) && !root_wrong(image_string(im, s));
}

/* Bytes that may go to a terminal: no control character but, maybe, newline. */
static bool text_ok(const char *s, size_t len, bool newline)
{
	uint32_t rune;
	size_t i, n;

	for (i = 0; i < len; i += n) {
		n = err_utf8(s + i, len - i, &rune);
		if (!n || rune == 0x7f || (rune >= 0x80 && rune < 0xa0) ||
		    (rune < 0x20 && !(newline && rune == '\n')))
			return false;
	}
	return true;
}

static bool line_ok(const struct image *im, image_str s)
{
	const char *text;

	if (!string_ok(im, s))
		return false;
	text = image_string(im, s);
	return text_ok(text, strlen(text), false);
}

/* Flags that say one thing each, and no two that contradict. */
static bool root_flags_ok(uint32_t f)
{
	uint32_t what = f & ROOT_FLAGS;

	if (!what || (f & ~(ROOT_FLAGS | IMAGE_ROOT_OPTIONAL |
			    IMAGE_ROOT_SELF | IMAGE_ROOT_EXACT)))
		return false;
	if (f & IMAGE_ROOT_SELF)
		return !(what & ~SELF_RIGHTS);
	if (f & (LH_ROOT_DENY | LH_ROOT_PROTECT))
		return what == LH_ROOT_DENY || what == LH_ROOT_PROTECT;
	if (f & LH_ROOT_SOCKET)
		return what == LH_ROOT_SOCKET;
	return !(f & LH_ROOT_RDONLY) ||
	       !(f & (LH_ROOT_WRITE | LH_ROOT_DELETE));
}

static int check_roots(const struct image *im, struct err *e)
{
	const struct image_root *r = image_roots(im);
	size_t i;

	if (im->roots.count > LH_ITEMS_MAX)
		return damaged(e, "number of roots", im->roots.count);
	for (i = 0; i < im->roots.count; i++)
		if (!path_ok(im, r[i].path) || !root_flags_ok(r[i].flags) ||
		    r[i].kind > ROOT_CREDENTIAL || r[i].pad ||
		    r[i].rule >= im->rules.count ||
		    (r[i].kind == ROOT_CREDENTIAL &&
		     !(r[i].flags & LH_ROOT_DENY)))
			return damaged(e, "root", i);
	return 0;
}

/* A relative, normal path; *parts: its components. */
static bool name_ok(const char *s, size_t *parts)
{
	char path[LH_PATH_MAX] = "/";
	size_t n = 1;
	const char *c;

	if (!*s || *s == '/' || strlen(s) > sizeof(path) - 2)
		return false;
	strcpy(path + 1, s);
	for (c = s; *c; c++)
		n += *c == '/';
	*parts = n;
	return !root_wrong(path);
}

static int check_protects(const struct image *im, struct err *e)
{
	const struct image_protect *p = image_protects(im);
	size_t i, wild = 0, parts;

	if (im->protects.count > LH_ITEMS_MAX)
		return damaged(e, "number of names", im->protects.count);
	for (i = 0; i < im->protects.count; i++) {
		if (!string_ok(im, p[i].name) || p[i].kind > PROTECT_ROOT ||
		    p[i].rule >= im->rules.count ||
		    !name_ok(image_string(im, p[i].name), &parts))
			return damaged(e, "protected name", i);
		if (p[i].kind != PROTECT_WILD)
			continue;
		if (parts != 2 || ++wild > LH_WILD_MAX)
			return damaged(e, "protected name", i);
	}
	return 0;
}

static int check_env(const struct image *im, struct err *e)
{
	const struct image_env *v = image_envs(im);
	size_t i;

	if (im->env.count > POLICY_ENV_MAX)
		return damaged(e, "number of variables", im->env.count);
	for (i = 0; i < im->env.count; i++)
		if (!string_ok(im, v[i].name) || !string_ok(im, v[i].value) ||
		    v[i].set > 1 || (!v[i].set && v[i].value) ||
		    !env_name_ok(image_string(im, v[i].name)))
			return damaged(e, "variable", i);
	return 0;
}

static bool net_ok(const struct image_net *n, size_t count)
{
	return (n->family == AF_INET || n->family == AF_INET6) &&
	       n->prefix <= (n->family == AF_INET ? 32 : 128) && !n->pad &&
	       n->node >= LH_NODE_FIRST && n->node < LH_NODE_FIRST + count;
}

static bool port_ok(const struct image *im, const struct image_port *p)
{
	return p->node && p->node < LH_NODE_FIRST + im->nets.count &&
	       (p->bits ? p->protocol == IPPROTO_TCP ||
			  p->protocol == IPPROTO_UDP : !p->protocol) &&
	       (!p->bits || p->bits >= 16) && p->bits <= 32 &&
	       p->say >= LH_SAY_ALLOW && p->say <= LH_SAY_SPECIAL &&
	       p->rule < im->rules.count && !p->pad;
}

static int check_network(const struct image *im, struct err *e)
{
	const struct image_port *p = image_ports(im);
	const struct image_net *n = image_nets(im);
	size_t i;

	if (im->net_flags & ~IMAGE_NET_FLAGS || im->pad ||
	    (im->level < LEVEL_NETWORK &&
	     (im->net_flags & (LH_SESSION_EGRESS | LH_SESSION_ALLOW))))
		return damaged(e, "network flags", im->net_flags);
	if (im->nets.count > LH_NETS_MAX || im->ports.count > LH_PORTS_MAX)
		return damaged(e, "number of addresses", im->nets.count);
	for (i = 0; i < im->nets.count; i++)
		if (!net_ok(&n[i], im->nets.count))
			return damaged(e, "address", i);
	for (i = 0; i < im->ports.count; i++)
		if (!port_ok(im, &p[i]))
			return damaged(e, "port", i);
	return 0;
}

static int check_rules(const struct image *im, struct err *e)
{
	const image_str *rules =
		(const void *)((const char *)im + im->rules.offset);
	size_t i;

	if (!im->rules.count || im->rules.count > IMAGE_RULES_MAX)
		return damaged(e, "number of rules", im->rules.count);
	for (i = 0; i < im->rules.count; i++)
		if (!rules[i] || !line_ok(im, rules[i]))
			return damaged(e, "rule", i);
	if (strcmp(image_string(im, rules[0]), "default"))
		return damaged(e, "rule", 0);
	return 0;
}

/* @element: bytes of one; all of it behind the header and inside the image. */
static bool array_ok(const struct image *im, const struct image_array *a,
		     size_t element)
{
	return !(a->offset & 7) && a->offset >= sizeof(*im) &&
	       a->offset <= im->size &&
	       a->count <= (im->size - a->offset) / element;
}

static int check_layout(const struct image *im, struct err *e)
{
	const char *strings;

	if (!array_ok(im, &im->roots, sizeof(struct image_root)) ||
	    !array_ok(im, &im->protects, sizeof(struct image_protect)) ||
	    !array_ok(im, &im->env, sizeof(struct image_env)) ||
	    !array_ok(im, &im->nets, sizeof(struct image_net)) ||
	    !array_ok(im, &im->ports, sizeof(struct image_port)) ||
	    !array_ok(im, &im->rules, sizeof(image_str)) ||
	    !array_ok(im, &im->filter, sizeof(struct sock_filter)) ||
	    !array_ok(im, &im->policy, 1) || !array_ok(im, &im->strings, 1))
		return damaged(e, "array of", im->size);
	strings = (const char *)im + im->strings.offset;
	if (!im->strings.count || strings[0] ||
	    strings[im->strings.count - 1])
		return damaged(e, "strings", im->strings.count);
	if (!im->filter.count || im->filter.count > BPF_MAXINSNS)
		return damaged(e, "filter length", im->filter.count);
	return 0;
}

static int check_header(const struct image *im, struct err *e)
{
	const struct image_limits *l = &im->limits;

	if (im->profile > PROFILE_OS_HARDENED || im->profile == PROFILE_WASI)
		return damaged(e, "profile", im->profile);
	if (im->level > LEVEL_NETWORK)
		return damaged(e, "level", im->level);
	if (im->env_mode > ENV_GRANTED)
		return damaged(e, "environment mode", im->env_mode);
	if (im->flags & ~(IMAGE_NO_EXEC | IMAGE_USER_TEMP |
			  IMAGE_USER_NAMESPACES | IMAGE_KILL_ON_LOSS |
			  IMAGE_PTRACE))
		return damaged(e, "flags", im->flags);
	if (!l->wall_time || l->grace == IMAGE_NO_LIMIT || !l->pids ||
	    l->memory < LIMIT_MEMORY_MIN || !l->cpu || !l->io ||
	    !l->open_files || !l->file_size || !l->idle_time ||
	    !l->capture_bytes || (l->capture_bytes > LIMIT_CAPTURE_MAX &&
				  l->capture_bytes != IMAGE_NO_LIMIT))
		return damaged(e, "limits", 0);
	if (!line_ok(im, im->name) || !line_ok(im, im->source))
		return damaged(e, "name", 0);
	if (!path_ok(im, im->workspace) || !path_ok(im, im->home))
		return damaged(e, "place", 0);
	if (!text_ok((const char *)im + im->policy.offset, im->policy.count,
		     true))
		return damaged(e, "policy text", 0);
	return 0;
}

int image_check(const void *image, size_t size, struct err *e)
{
	const struct image *im = image;
	uint8_t hash[32];
	int r;

	if (size < sizeof(im->magic) || im->magic != IMAGE_MAGIC)
		return err_set(e, -EINVAL, "not an image");
	if (size < offsetof(struct image, abi) + sizeof(im->abi))
		return damaged(e, "size", size);
	if (im->abi != LH_ABI)
		return err_set(e, -EPROTO, "an image of ABI %u, but this "
			       "build has ABI %u; compile the policy again",
			       im->abi, LH_ABI);
	if (size < sizeof(*im) || size > IMAGE_BYTES_MAX || size & 7 ||
	    im->size != size)
		return damaged(e, "size", size);
	image_hash(im, size, hash);
	if (memcmp(hash, im->hash, sizeof(hash)))
		return err_set(e, -EBADMSG, "damaged image: its hash does not "
			       "match; compile the policy again");
	r = check_layout(im, e);
	if (!r)
		r = check_rules(im, e);
	if (!r)
		r = check_header(im, e);
	if (!r)
		r = check_roots(im, e);
	if (!r)
		r = check_protects(im, e);
	if (!r)
		r = check_network(im, e);
	return r ? r : check_env(im, e);
}
