// SPDX-License-Identifier: GPL-2.0-only
/*
 * Variables by their names.
 */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <stddef.h>

#include "variables.h"

static const char *const essential[] = {
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM",
	"LANG", "LC_*", "TZ",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
	"http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
	"CARGO_HTTP_CAINFO", NULL
};

static const char *const secret[] = {
	"*_TOKEN", "*_TOKEN_*", "TOKEN", "*_API_KEY", "*_APIKEY", "API_KEY",
	"*_ACCESS_KEY*", "*_PRIVATE_KEY", "*_SECRET", "*_SECRET_*",
	"SECRET*", "*_PASSWORD", "*_PASSWD", "*_PASS", "PASSWORD",
	"PGPASSWORD", "MYSQL_PWD", "*_CREDENTIALS", "*_PAT", "*_AUTH",
	"AWS_*", "AZURE_*", "GOOGLE_*", "SSH_AUTH_SOCK", "SSH_AGENT_PID",
	"GPG_AGENT_INFO", "DATABASE_URL", "*_DSN", NULL
};

static bool among(const char *name, const char *const patterns[])
{
	size_t i;

	for (i = 0; patterns[i]; i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return false;
}

bool variable_is_essential(const char *name)
{
	return among(name, essential);
}

bool variable_is_secret(const char *name)
{
	return among(name, secret);
}
