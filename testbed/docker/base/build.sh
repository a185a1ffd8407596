#!/bin/sh
# Builds the base image hpnn-base out of Debian's packages, for hosts without a registry:  build.sh IMAGE
# It is cached: an image that was built by this very script is kept.
#
# mmdebstrap only unpacks what is needed; debootstrap installs a whole system first, which takes some five times as long.
# Either will do. Needs root.
set -eu
IMAGE=${1:-hpnn-base}
SUITE=bookworm
MIRROR=${MIRROR:-http://deb.debian.org/debian}
PACKAGES=base-files,base-passwd,ca-certificates,coreutils,curl,dash,iproute2,iputils-ping,openvswitch-switch,procps

recipe=$(sha256sum "$0" | cut -c1-16)
if [ "$(docker image inspect -f '{{index .Config.Labels "hpnn.recipe"}}' "$IMAGE" 2>/dev/null)" = "$recipe" ]; then
    echo "$IMAGE is there already (recipe $recipe)"
    exit 0
fi
[ "$(id -u)" = 0 ] || { echo "make base needs root: run it with sudo, or use BASE=debian:bookworm-slim" >&2; exit 1; }

# In memory where there is room: package tools sync every file, which a disk takes minutes for.
free=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
[ "${free:-0}" -gt 1500000 ] && TMPDIR=/dev/shm
work=$(mktemp -d "${TMPDIR:-/tmp}/hpnn-base.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
chmod 755 "$work"
mkdir "$work/root" "$work/tmp"

if command -v mmdebstrap >/dev/null; then
    tool=mmdebstrap
    set -- --mode=root --variant=extract --include="$PACKAGES" "$SUITE" "$work/root" "$MIRROR"
elif command -v debootstrap >/dev/null; then
    tool=debootstrap
    mkdir -p "$work/root/etc/dpkg/dpkg.cfg.d"
    echo force-unsafe-io >"$work/root/etc/dpkg/dpkg.cfg.d/fast"
    set -- --variant=minbase --include="$PACKAGES" "$SUITE" "$work/root" "$MIRROR"
else
    echo "neither mmdebstrap nor debootstrap is installed: apt-get install mmdebstrap" >&2
    exit 1
fi
echo "building $IMAGE from $MIRROR $SUITE with $tool"
log=$(mktemp "${TMPDIR:-/tmp}/hpnn-base-log.XXXXXX")
TMPDIR=$work/tmp "$tool" "$@" >"$log" 2>&1 || {
    tail -20 "$log" >&2
    echo "$tool failed; the whole log is $log" >&2
    exit 1
}
rm -f "$log"

# What the packages' own scripts would have done, as far as it matters here.
cd "$work/root"
[ -e etc/passwd ] || cp usr/share/base-passwd/passwd.master etc/passwd
[ -e etc/group ] || cp usr/share/base-passwd/group.master etc/group
[ -L var/run ] || { rmdir var/run && ln -s /run var/run; }
[ -e usr/sbin/ovs-vswitchd ] || ln -s ../lib/openvswitch-switch/ovs-vswitchd usr/sbin/ovs-vswitchd
[ -s etc/ssl/certs/ca-certificates.crt ] || cat usr/share/ca-certificates/mozilla/*.crt >etc/ssl/certs/ca-certificates.crt
# Python and Perl serve scripts of Open vSwitch that the stand does not use.
rm -rf var/cache/apt/archives/* var/lib/apt/lists/* var/lib/dpkg/info usr/share/doc usr/share/man usr/share/locale usr/share/perl* \
    usr/lib/python3* usr/lib/*/perl* usr/bin/perl* var/log/*.log etc/openvswitch/conf.db etc/hostname etc/resolv.conf etc/dpkg/dpkg.cfg.d/fast
tar --numeric-owner -c . | docker import --change "LABEL hpnn.recipe=$recipe" --change 'CMD ["/bin/sh"]' - "$IMAGE" >/dev/null
docker image ls "$IMAGE"
