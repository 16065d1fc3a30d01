# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# apt.sh - Debian packages by name, without touching the machine's apt
#
# Sourced. Lists, caches and sources are private, below $cache/apt; the mirror
# and the keyring are the machine's own, so nothing here names a host.

cache=${LH_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/lh-vm}

# Lists older than this many minutes are refreshed before they are searched.
apt_lists_age=360

die()
{
	echo "${0##*/}: $*" >&2
	exit 125
}

say()
{
	if [ -n "${verbose-}" ] || [ -t 2 ]; then
		echo "${0##*/}: $*" >&2
	fi
}

# Everything that writes to the cache holds this lock until the shell ends.
cache_lock()
{
	mkdir -p "$cache" || die "cannot make $cache"
	exec {cache_lock_fd}>"$cache/lock"
	flock -n "$cache_lock_fd" || {
		say "waiting for another fetch"
		flock "$cache_lock_fd"
	}
}

cache_unlock()
{
	exec {cache_lock_fd}>&-
}

# The URIs in the machine's sources, one a line, both formats of sources.list.
apt_uris()
{
	local f

	for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ -r "$f" ] || continue
		sed -n 's/^deb[[:space:]]\+\(\[[^]]*\][[:space:]]*\)\?\([^[:space:]]\+\).*/\2/p' "$f"
	done
	for f in /etc/apt/sources.list.d/*.sources; do
		[ -r "$f" ] || continue
		awk 'BEGIN { RS = "" }
		     /(^|\n)[Ee]nabled: *no/ { next }
		     match($0, /(^|\n)URIs:[^\n]*/) {
			n = split(substr($0, RSTART, RLENGTH), u)
			for (i = 2; i <= n; i++) print u[i]
		     }' "$f"
	done
}

# apt_use SUITE...: aim apt_get and apt_cache at these suites. A suite named
# *-security comes from the security mirror, and is left out without one.
apt_use()
{
	local main security key suite src=

	main=$(apt_uris | grep -E '/debian/?$' | head -n 1)
	security=$(apt_uris | grep -E '/debian-security/?$' | head -n 1)
	[ -n "$main" ] || die "no Debian mirror in /etc/apt/sources.list(.d)"

	key=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -r "$key" ] && key="signed-by=$key " || key=
	for suite; do
		case $suite in
		*-security) [ -z "$security" ] ||
			src+="deb [${key}arch=amd64] $security $suite main"$'\n' ;;
		*) src+="deb [${key}arch=amd64] $main $suite main"$'\n' ;;
		esac
	done

	apt_dir=$cache/apt/${1%-security}
	mkdir -p "$apt_dir"/{lists,cache/archives}/partial ||
		die "cannot make $apt_dir"
	if [ "$src" != "$(cat "$apt_dir/sources.list" 2>/dev/null)"$'\n' ]; then
		printf %s "$src" >"$apt_dir/sources.list"
		rm -f "$apt_dir/stamp"
	fi
	apt_opts=(
		-o "Dir::Etc::sourcelist=$apt_dir/sources.list"
		-o Dir::Etc::sourceparts=-
		-o "Dir::State::lists=$apt_dir/lists"
		-o "Dir::Cache=$apt_dir/cache"
		-o APT::Sandbox::User=
		-o APT::Architecture=amd64
		-o Acquire::Languages=none
		-o Acquire::Retries=3
		-o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false
	)
}

# apt_refresh [now]: bring the lists up to date, if they are old or must be.
# shellcheck disable=SC2120 # not every file passes it
apt_refresh()
{
	if [ -z "${1-}" ] &&
	   [ -n "$(find "$apt_dir/stamp" -mmin -$apt_lists_age 2>/dev/null)" ]
	then
		return
	fi
	say "reading the package lists of ${apt_dir##*/}"
	apt-get "${apt_opts[@]}" update -qq </dev/null >&2 ||
		die "cannot read the package lists of ${apt_dir##*/}"
	touch "$apt_dir/stamp"
}

# apt_names PREFIX: the names of packages that begin with PREFIX.
apt_names()
{
	apt-cache "${apt_opts[@]}" pkgnames "$1"
}

# apt_download DIR PACKAGE...: the .deb files into DIR, checked by apt.
apt_download()
{
	local dir=$1

	shift
	(cd "$dir" && apt-get "${apt_opts[@]}" download -qq "$@" </dev/null >&2) ||
		die "cannot download $*"
}
