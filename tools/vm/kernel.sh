# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# kernel.sh - the guest kernels: which there are, and their cached form
#
# Sourced. $cache/kernel/VERSION holds vmlinux, modules/lib/modules/VERSION
# and base.cpio, complete or absent; $cache/series/SERIES links to the newest.

# shellcheck source=tools/vm/apt.sh disable=SC2154 # $vm is the caller's
. "$vm/apt.sh"

# Changes whenever the cached form of a kernel does.
kernel_form=2

# Loaded by the initramfs where they are not built in, in this order.
kernel_boot_modules='virtio_pci virtio_console virtiofs'

kernel_version()
{
	local to

	to=$(readlink "$cache/series/$1") && echo "${to##*/}"
}

# Aim apt at the suites that carry a series.
kernel_suites()
{
	case ${1%-generic} in
	6.1|6.12)	apt_use bookworm-security bookworm ;;
	*)		apt_use trixie-backports ;;
	esac
}

# The versions of a series that the lists name, oldest first.
kernel_candidates()
{
	local re flavour=cloud-amd64

	[ "$1" = "${1%-generic}" ] || flavour=amd64
	case ${1%-generic} in
	6.1)	re='6\.1\.0-[0-9]+' ;;
	6.12)	re='6\.12\.[0-9]+\+deb12(\.[0-9]+)?' ;;
	*)	re="${1%-generic}"
		re="${re//./\\.}"'\.[0-9]+\+deb13(\.[0-9]+)?' ;;
	esac
	apt_names linux- |
		sed -nE "s/^linux-(image|binary)-($re-$flavour)\$/\\2/p" |
		sort -uV
}

# The series of trixie-backports today.
kernel_optional()
{
	apt_use trixie-backports
	[ -e "$apt_dir/stamp" ] || return
	apt_names linux- |
		sed -nE 's/^linux-image-([0-9]+\.[0-9]+)\..*-cloud-amd64$/\1/p' |
		sort -uV
}

# The packages that make up a version: one up to 6.18, then split ever finer.
kernel_packages()
{
	local p all

	all=$(apt_names linux-)
	for p in binary modules base; do
		grep -Fx "linux-$p-$1" <<<"$all"
	done
	grep -Fqx "linux-binary-$1" <<<"$all" || echo "linux-image-$1"
}

kernel_list()
{
	local series version

	for series in 6.1 6.12 $(kernel_optional); do
		kernel_suites "$series"
		version=
		[ ! -e "$apt_dir/stamp" ] ||
			version=$(kernel_candidates "$series" | tail -n 1)
		printf '%-6s %-46s %s\n' "$series" \
			"${version:+$(kernel_packages "$version" | head -n 1)}" \
			"$(kernel_version "$series" | sed 's/^/cached: /')"
	done
}

# kernel_fetch SERIES [now]: have it in the cache; with "now" the newest.
kernel_fetch()
{
	local series=$1 version packages dir

	[[ $series =~ ^[0-9]+\.[0-9]+(-generic)?$ ]] ||
		die "$series: not a kernel series, such as 6.12"
	if [ -z "${2-}" ] && kernel_complete "$(kernel_version "$series")"; then
		return
	fi
	cache_lock
	if [ -z "${2-}" ] && kernel_complete "$(kernel_version "$series")"; then
		cache_unlock
		return
	fi
	kernel_suites "$series"
	apt_refresh "${2-}"
	version=$(kernel_candidates "$series" | tail -n 1)
	[ -n "$version" ] ||
		die "no kernel $series; there are: 6.1 6.12" \
			"$(kernel_optional | tr '\n' ' ')"
	if ! kernel_complete "$version"; then
		mapfile -t packages < <(kernel_packages "$version")
		say "fetching ${packages[*]}"
		dir=$cache/kernel/$version
		rm -rf "$dir" "$cache/fetch"
		mkdir -p "$cache/fetch" "$cache/kernel" "$cache/series"
		apt_download "$cache/fetch" "${packages[@]}"
		kernel_unpack "$version" "$cache/fetch" || {
			rm -rf "$cache/fetch"
			die "cannot unpack ${packages[*]}"
		}
		mv "$cache/fetch/kernel" "$dir" || die "cannot make $dir"
		rm -rf "$cache/fetch"
	fi
	mkdir -p "$cache/series"
	ln -sfn "../kernel/$version" "$cache/series/$series"
	cache_unlock
}

kernel_complete()
{
	[ -n "$1" ] &&
	[ "$(cat "$cache/kernel/$1/form" 2>/dev/null)" = $kernel_form ]
}

# kernel_unpack VERSION DIR: the packages in DIR to the cached form, in
# DIR/kernel.
kernel_unpack()
{
	local version=$1 dir=$2 deb image modules

	mkdir "$dir/root" "$dir/kernel" || return
	for deb in "$dir"/*.deb; do
		dpkg-deb -x "$deb" "$dir/root" || return
		rm "$deb"
	done
	image=$(find "$dir/root" -type f -name 'vmlinuz*' | head -n 1)
	[ -n "$image" ] || return
	"$vm/extract-vmlinux" "$image" "$dir/kernel/vmlinux" || return

	mkdir -p "$dir/kernel/modules/lib/modules/$version" || return
	modules=$(find "$dir/root" -type d -path "*/lib/modules/$version")
	[ -z "$modules" ] || {
		rmdir "$dir/kernel/modules/lib/modules/$version" &&
		mv "$modules" "$dir/kernel/modules/lib/modules/$version" &&
		find "$dir/kernel/modules" -name '*.ko.xz' -print0 |
			xargs -0r -n 64 -P "$(nproc)" xz -d &&
		rm -f "$dir/kernel/modules/lib/modules/$version/vmlinuz"
	} || return
	depmod -b "$dir/kernel/modules" "$version" 2>/dev/null || return

	kernel_base "$dir/kernel" "$version" >"$dir/kernel/base.cpio" || return
	echo $kernel_form >"$dir/kernel/form"
}

# kernel_base DIR VERSION: the archive that every boot of this kernel begins
# with. Modules lie in the order in which they are to be loaded.
kernel_base()
{
	local from=$1/modules/lib/modules/$2 root=$1/base name path dep n=10

	mkdir -p "$root"/{bin,dev,dev.links,host,modules,load} || return
	cp "$(command -v busybox)" "$root/bin/busybox" || return
	for name in cp insmod mkdir mount switch_root; do
		ln -s busybox "$root/bin/$name" || return
	done
	mknod -m 600 "$root/dev/console" c 5 1 &&
	ln -s /proc/self/fd "$root/dev.links/fd" &&
	ln -s /proc/self/fd/0 "$root/dev.links/stdin" &&
	ln -s /proc/self/fd/1 "$root/dev.links/stdout" &&
	ln -s /proc/self/fd/2 "$root/dev.links/stderr" || return
	for name in $kernel_boot_modules; do
		path=$(sed -nE "s,^(.*/${name//_/[-_]}\.ko:.*),\\1,p" \
			"$from/modules.dep")
		# "a: b c" loads c, then b, then a.
		for dep in $(tr -d : <<<"$path" | tr ' ' '\n' | tac); do
			compgen -G "$root/load/*-${dep##*/}" >/dev/null &&
				continue
			cp "$from/$dep" "$root/load/$n-${dep##*/}" || return
			n=$((n + 1))
		done
	done
	cat >"$root/kvm-trial" <<-'END'
	#!/bin/busybox sh
	echo lh-vm-kvm-trial-ok
	/bin/busybox poweroff -f
	END
	chmod 755 "$root/kvm-trial"
	(cd "$root" && find . -mindepth 1 | LC_ALL=C sort |
		cpio -o -H newc --quiet) || return
	rm -rf "$root"
}
