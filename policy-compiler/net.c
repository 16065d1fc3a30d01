// SPDX-License-Identifier: GPL-2.0-only
/*
 * Destinations: an address and how many of its bits count, ports, protocols.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "net.h"

static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* A whole number up to @most at @s; what follows it, or NULL. */
static const char *number(const char *s, unsigned int most, unsigned int *out)
{
	size_t digits = strspn(s, "0123456789"), i;

	if (!digits || digits > 5 || (digits > 1 && *s == '0'))
		return NULL;
	*out = 0;
	for (i = 0; i < digits; i++)
		*out = *out * 10 + (s[i] - '0');
	return *out > most ? NULL : s + digits;
}

const char *ports_parse(const char *text, uint16_t *lo, uint16_t *hi)
{
	static const char why[] = "no port: write a number from 1 to 65535, "
		"or two with a hyphen between, as in \"8000-8010\"";
	unsigned int first, last;
	const char *s = number(text, 65535, &first);

	last = first;
	if (s && *s == '-')
		s = number(s + 1, 65535, &last);
	if (!s || *s || !first)
		return why;
	if (last < first)
		return "the first port of a range is the smaller one";
	*lo = first;
	*hi = last;
	return NULL;
}

static bool bit(const uint8_t *addr, unsigned int i)
{
	return addr[i / 8] & (0x80 >> (i % 8));
}

static bool same_bits(const uint8_t *a, const uint8_t *b, unsigned int n)
{
	unsigned int i;

	for (i = n & ~7u; i < n; i++)
		if (bit(a, i) != bit(b, i))
			return false;
	return !memcmp(a, b, n / 8);
}

static const char *no_address(const char *text)
{
	if (!strcmp(text, "*"))
		return "for all addresses write \"0.0.0.0/0\" and \"::/0\"";
	if (strchr(text, '%'))
		return "an address with a zone cannot be a rule; leave out "
		       "what follows the percent sign";
	if (!strchr(text, ':') && (strpbrk(text, letters) || *text == '*'))
		return "a name: this build decides by address, rules for "
		       "names belong to a later version; write addresses";
	return "no address: write 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32, "
	       "with ports 192.0.2.7:443 or [2001:db8::1]:443";
}

/* "ADDRESS[/PREFIX]" */
static const char *parse_block(char *text, struct policy_net *n)
{
	static const uint8_t mapped[12] = { [10] = 0xff, 0xff };
	char *slash = strchr(text, '/');
	unsigned int bits, width, i;
	const char *end;

	if (slash)
		*slash++ = 0;
	n->v6 = strchr(text, ':');
	width = n->v6 ? 128 : 32;
	if (inet_pton(n->v6 ? AF_INET6 : AF_INET, text, n->addr) != 1)
		return no_address(text);
	bits = width;
	end = slash ? number(slash, width, &bits) : "";
	if (!end || *end)
		return n->v6 ? "the prefix is a number from 0 to 128" :
			"the prefix is a number from 0 to 32";
	for (i = bits; i < width; i++)
		if (bit(n->addr, i))
			return "the address has bits beyond its prefix; write "
			       "the first address of the block, or a longer "
			       "prefix";
	n->prefix = bits;
	/* IPv4 in IPv6 clothes: sockets of both kinds reach it. */
	if (n->v6 && bits >= 96 && !memcmp(n->addr, mapped, 12)) {
		memmove(n->addr, n->addr + 12, 4);
		memset(n->addr + 4, 0, 12);
		n->prefix -= 96;
		n->v6 = false;
	}
	return NULL;
}

/* Where ":PORTS" begins in @text, or NULL; brackets are taken off. */
static const char *split_ports(char **text, char **ports)
{
	char *end;

	*ports = NULL;
	if (**text == '[') {
		end = strchr(*text, ']');
		if (!end || (end[1] && end[1] != ':'))
			return "a bracket that is not closed; write "
			       "[2001:db8::1]:443";
		*end = 0;
		++*text;
		if (!strchr(*text, ':'))
			return "brackets are for IPv6 addresses";
		*ports = end[1] ? end + 2 : NULL;
	} else {
		end = strchr(*text, ':');
		if (end && !strchr(end + 1, ':')) {
			*end = 0;
			*ports = end + 1;
		}
	}
	return NULL;
}

bool net_port_in_doubt(const char *text)
{
	const char *slash = strchr(text, '/'), *last;
	char shorter[INET6_ADDRSTRLEN];
	struct in6_addr a;

	/* tcp/ or udp/ may stand in front, and then no prefix behind */
	text = slash ? slash + 1 : text;
	last = strrchr(text, ':');
	if (*text == '[' || strchr(text, '/') || !last || !last[1] ||
	    last[1 + strspn(last + 1, "0123456789")] ||
	    (size_t)(last - text) >= sizeof(shorter))
		return false;
	snprintf(shorter, sizeof(shorter), "%.*s", (int)(last - text), text);
	return inet_pton(AF_INET6, shorter, &a) == 1;
}

const char *net_parse(const char *text, struct policy_net *n)
{
	char copy[128], *s = copy, *ports;
	const char *why;

	if (strlen(text) >= sizeof(copy))
		return "too long for an address";
	strcpy(copy, text);
	memset(n->addr, 0, sizeof(n->addr));
	n->lo = 0;
	n->hi = 65535;
	n->protocols = NET_TCP | NET_UDP;
	if (!strncmp(s, "tcp/", 4) || !strncmp(s, "udp/", 4)) {
		n->protocols = *s == 't' ? NET_TCP : NET_UDP;
		s += 4;
	}
	why = split_ports(&s, &ports);
	if (!why)
		why = parse_block(s, n);
	if (!why && ports)
		why = ports_parse(ports, &n->lo, &n->hi);
	return why;
}

void ports_mark(const struct policy *p, enum policy_port_list list,
		bool marks[PORTS_COUNT])
{
	const struct policy_ports *r;
	size_t i, k;

	memset(marks, 0, PORTS_COUNT * sizeof(*marks));
	for (i = 0; i < p->port_count; i++) {
		r = &p->ports[i];
		for (k = r->lo; r->list == list && k <= r->hi; k++)
			marks[k] = true;
	}
}

static int range_text(uint16_t lo, uint16_t hi, char *out, size_t size)
{
	return lo == hi ? snprintf(out, size, "%u", lo) :
		snprintf(out, size, "%u-%u", lo, hi);
}

void ports_text(const struct policy_ports *p, char out[16])
{
	range_text(p->lo, p->hi, out, 16);
}

void net_text(const struct policy_net *n, char out[NET_TEXT_MAX])
{
	bool all = !n->lo && n->hi == 65535, bracket = n->v6 && !all;
	char addr[INET6_ADDRSTRLEN], prefix[8] = "", ports[16] = "";

	inet_ntop(n->v6 ? AF_INET6 : AF_INET, n->addr, addr, sizeof(addr));
	if (n->prefix != (n->v6 ? 128 : 32))
		snprintf(prefix, sizeof(prefix), "/%u", n->prefix);
	if (!all)
		range_text(n->lo, n->hi, ports, sizeof(ports));
	snprintf(out, NET_TEXT_MAX, "%s%s%s%s%s%s%s",
		 n->protocols == NET_TCP ? "tcp/" :
		 n->protocols == NET_UDP ? "udp/" : "", bracket ? "[" : "",
		 addr, prefix, bracket ? "]" : "", all ? "" : ":", ports);
}

bool net_covers(const struct policy_net *a, const struct policy_net *b)
{
	return a->v6 == b->v6 && a->prefix <= b->prefix &&
	       same_bits(a->addr, b->addr, a->prefix) && a->lo <= b->lo &&
	       a->hi >= b->hi && !(b->protocols & ~a->protocols);
}

bool net_meet(const struct policy_net *a, const struct policy_net *b,
	      struct policy_net *out)
{
	const struct policy_net *narrow = a->prefix > b->prefix ? a : b;
	unsigned int bits = a->prefix < b->prefix ? a->prefix : b->prefix;

	*out = *a;
	if (a->v6 != b->v6 || !same_bits(a->addr, b->addr, bits))
		return false;
	memcpy(out->addr, narrow->addr, sizeof(out->addr));
	out->prefix = narrow->prefix;
	out->lo = a->lo > b->lo ? a->lo : b->lo;
	out->hi = a->hi < b->hi ? a->hi : b->hi;
	out->protocols = a->protocols & b->protocols;
	return out->lo <= out->hi && out->protocols;
}

bool net_same(const struct policy_net *a, const struct policy_net *b)
{
	return net_covers(a, b) && net_covers(b, a);
}

/*
 * Who is there is the host's business, not the world's: a rule for "everything"
 * does not mean these. In the kernel's order of thought: this host, private,
 * shared, loopback, link-local with the clouds' metadata, protocols, tests of
 * devices, multicast, reserved with broadcast; and what carries IPv4 inside.
 */
static const char *const special[] = {
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8",
	"168.63.129.16", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4",
	"::/8", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16",
	"fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
};

_Static_assert(sizeof(special) / sizeof(*special) == NET_SPECIALS, "all");

const char *net_special(size_t i)
{
	return special[i];
}

unsigned int net_special_bits(const struct policy_net *n)
{
	static struct policy_net ranges[NET_SPECIALS];
	struct policy_net where = *n;
	unsigned int bits = 0;
	size_t i;

	where.lo = where.hi = 1;
	for (i = 0; i < NET_SPECIALS; i++) {
		if (!ranges[i].protocols)
			net_parse(special[i], &ranges[i]);
		if (net_covers(&ranges[i], &where) && ranges[i].prefix > bits)
			bits = ranges[i].prefix;
	}
	return bits;
}

bool net_allows(const struct policy_net *a, const struct policy_net *b)
{
	return net_covers(a, b) && a->prefix >= net_special_bits(b);
}
