// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the programs of the network would say of an address.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "explain-inet.h"
#include "net.h"
#include "network.h"

/* "[tcp/|udp/]ADDRESS:PORT", where localhost is 127.0.0.1. */
static int dest_of(const char *object, bool bind, struct lh_dest *d,
		   struct err *e)
{
	char text[128];
	const char *name = strstr(object, "localhost"), *rest;
	struct policy_net n;
	size_t len;

	if (name && (name == object || name[-1] == '/')) {
		rest = name + strlen("localhost");
		snprintf(text, sizeof(text), "%.*s127.0.0.1%s",
			 (int)(name - object), object, rest);
	} else {
		snprintf(text, sizeof(text), "%s", object);
	}
	/* Port 0: the kernel chooses. */
	len = strlen(text);
	if (bind && len > 2 && !strcmp(text + len - 2, ":0") &&
	    text[len - 3] != ':')
		text[len - 2] = 0;
	if (strlen(object) >= sizeof(text) || net_parse(text, &n) ||
	    n.prefix != (n.v6 ? 128 : 32) || (!bind && n.lo != n.hi) ||
	    (n.lo && n.lo != n.hi))
		return err_set(e, -EINVAL, "%s: wanted is ADDRESS:PORT, with "
			       "tcp/ or udp/ in front, [ADDRESS]:PORT for "
			       "IPv6, or unix: and a path; names are not "
			       "looked up", object);
	*d = (struct lh_dest){
		.family = n.v6 ? AF_INET6 : AF_INET, .port = n.lo,
		.protocol = n.protocols == NET_UDP ? LH_UDP : LH_TCP,
	};
	memcpy(d->addr, n.addr, sizeof(d->addr));
	lh_dest_plain(d);
	return 0;
}

bool explain_is_loopback(const char *object, bool bind)
{
	struct err e = { 0 };
	struct lh_dest d;

	return !dest_of(object, bind, &d, &e) && lh_dest_is_loopback(&d);
}

static void ask_bind(const struct image *im, const struct lh_dest *d,
		     struct inet_answer *a)
{
	bool narrow;

	if (!lh_decide_bind(im->net_flags, d, &narrow))
		return;
	a->why = LH_WHY_ALLOW;
	if (lh_dest_is_any(d) && !narrow && d->protocol == LH_UDP) {
		a->note = "as the kernel does for who sends first";
		return;
	}
	a->rule = im->net_flags & LH_SESSION_LOOP_UDP ?
		  "/process_sandbox/allow_loopback" :
		  "/process_sandbox/allow_tcp_loopback";
	if (narrow)
		a->note = "it becomes loopback";
	else if (lh_dest_is_any(d))
		a->note = "it stays, for a client; who listens there is "
			  "reached on loopback alone";
	else if (network_published(im, d))
		a->note = "the host reaches it there";
	else
		a->note = "only the session itself reaches it there";
}

int explain_inet(const struct image *im, bool bind, const char *object,
		 struct inet_answer *a, struct err *e)
{
	static const char special[] = "builtin:egress/";
	struct lh_reached v;
	struct lh_dest d;
	int r = dest_of(object, bind, &d, e);

	if (r)
		return r;
	*a = (struct inet_answer){ .why = LH_WHY_NOT_GRANTED,
		.rule = "default" };
	if (!lh_socket_may(im->net_flags, d.family, d.protocol == LH_TCP ?
			   1 : 2, 0)) {
		a->why = LH_WHY_FAMILY;
		return 0;
	}
	if (bind) {
		ask_bind(im, &d, a);
		return 0;
	}
	network_reach(im, &d, &v);
	a->why = v.why;
	a->rule = image_rule(im, v.rule);
	if (v.why == LH_WHY_DENIED && !strncmp(a->rule, special,
					       sizeof(special) - 1))
		a->text = "a special range, which only a rule for addresses "
			  "inside it opens";
	if (v.reach == LH_REACH_OWN)
		a->depends = "it is let through if the session itself is "
			     "there, or nobody is";
	return 0;
}
