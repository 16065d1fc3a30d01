/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file of root's that one user may read, and nobody else: by an access list,
 * since a group always has other members one day.
 */
#ifndef LH_ACL_H
#define LH_ACL_H

#include <sys/types.h>

/* 0, or negative errno: a file system without access lists. */
int acl_allow_reading(int fd, uid_t uid);

#endif
