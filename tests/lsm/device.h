/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device that leads nowhere and is quiet, and what has left by it. 192.0.2.1
 * and 2001:db8::1 are the host's, all else there goes out by d0.
 */
#ifndef LH_DEVICE_H
#define LH_DEVICE_H

#include <stdio.h>
#include <stdlib.h>

#define DEVICE "ip link set lo up; modprobe dummy 2>/dev/null;" \
	" sysctl -qw net.ipv6.conf.default.router_solicitations=0;" \
	" ip link add d0 type dummy && ip link set d0 up &&" \
	" ip addr add 192.0.2.1/24 dev d0 &&" \
	" ip addr add 2001:db8::1/64 dev d0 nodad &&" \
	" ip route add default dev d0 && ip -6 route add default dev d0"

static inline int device_make(void)
{
	return system("ip link del d0 2>/dev/null;" DEVICE);
}

static inline void device_remove(void)
{
	if (system("ip link del d0"))
		fprintf(stderr, "# d0 is not there\n");
}

/* Packets that have left. */
static inline long left(void)
{
	FILE *f = fopen("/sys/class/net/d0/statistics/tx_packets", "re");
	long n = -1;

	if (!f || fscanf(f, "%ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

#endif
