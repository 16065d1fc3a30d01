// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list as the kernel takes it: its owner, the user, and an empty rest.
 */
#include <endian.h>
#include <errno.h>
#include <sys/xattr.h>

#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>

#include "acl.h"

int acl_allow_reading(int fd, uid_t uid)
{
	struct {
		struct posix_acl_xattr_header head;
		struct posix_acl_xattr_entry entry[5];
	} acl = {
		.head.a_version = htole32(POSIX_ACL_XATTR_VERSION),
		.entry = {
			{ htole16(ACL_USER_OBJ), htole16(ACL_READ | ACL_WRITE),
			  htole32(ACL_UNDEFINED_ID) },
			{ htole16(ACL_USER), htole16(ACL_READ), htole32(uid) },
			{ htole16(ACL_GROUP_OBJ), 0,
			  htole32(ACL_UNDEFINED_ID) },
			{ htole16(ACL_MASK), htole16(ACL_READ),
			  htole32(ACL_UNDEFINED_ID) },
			{ htole16(ACL_OTHER), 0, htole32(ACL_UNDEFINED_ID) },
		},
	};

	return fsetxattr(fd, "system.posix_acl_access", &acl, sizeof(acl), 0) ?
	       -errno : 0;
}
