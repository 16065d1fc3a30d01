/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words for ports and destinations, and sets of them. Nothing is resolved and
 * nothing is sent.
 */
#ifndef LH_NET_H
#define LH_NET_H

#include "policy.h"

#define NET_TEXT_MAX 96u	/* "udp/[…/128]:65535-65535" and a NUL */

/* "5432" or "8000-8010". NULL, or why not (static). */
const char *ports_parse(const char *text, uint16_t *lo, uint16_t *hi);
/*
 * "[tcp/|udp/]ADDRESS[/PREFIX][:PORTS]"; an IPv6 address that has ports stands
 * in brackets. NULL and the addresses, ports and protocols of *n; else why not
 * (static).
 */
const char *net_parse(const char *text, struct policy_net *n);
/*
 * What net_parse() takes for an IPv6 address with all its ports may be meant as
 * a shorter one with a port: it has no brackets, and ends in a decimal group
 * without which it is an address too.
 */
bool net_port_in_doubt(const char *text);
/* The shortest text that reads back as the same. */
void net_text(const struct policy_net *n, char out[NET_TEXT_MAX]);
void ports_text(const struct policy_ports *p, char out[16]);

#define PORTS_COUNT 65536u
/* Which ports are in @list of @p. */
void ports_mark(const struct policy *p, enum policy_port_list list,
		bool marks[PORTS_COUNT]);

/* Whether all that @b names lies in what @a names. */
bool net_covers(const struct policy_net *a, const struct policy_net *b);
/* What both name, in the other fields as @a; false: nothing. */
bool net_meet(const struct policy_net *a, const struct policy_net *b,
	      struct policy_net *out);
/*
 * Ranges that neither a default nor a rule for more than them opens: a rule for
 * the range, or for a part of it, does.
 */
#define NET_SPECIALS 21u
const char *net_special(size_t i);
/* Bits of the prefix of the one that all of @n lies in; 0: in none. */
unsigned int net_special_bits(const struct policy_net *n);
/* Whether the allowance @a opens all that the allowance @b does. */
bool net_allows(const struct policy_net *a, const struct policy_net *b);
bool net_same(const struct policy_net *a, const struct policy_net *b);

#endif
