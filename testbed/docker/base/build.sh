#!/bin/sh
# Builds the base image hpnn-base out of Debian's packages, for hosts without a registry:  build.sh IMAGE
# It is cached: an image that was built by this very script is kept. Needs root and debootstrap.
set -eu
IMAGE=${1:-hpnn-base}
SUITE=bookworm
MIRROR=${MIRROR:-http://deb.debian.org/debian}
PACKAGES=ca-certificates,iproute2,iputils-ping,curl,openvswitch-switch,procps

recipe=$(sha256sum "$0" | cut -c1-16)
if [ "$(docker image inspect -f '{{index .Config.Labels "hpnn.recipe"}}' "$IMAGE" 2>/dev/null)" = "$recipe" ]; then
    echo "$IMAGE is there already (recipe $recipe)"
    exit 0
fi
command -v debootstrap >/dev/null || { echo "debootstrap is not installed: apt-get install debootstrap" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "debootstrap needs root: sudo make base, or make images BASE=debian:bookworm-slim" >&2; exit 1; }

root=$(mktemp -d "${TMPDIR:-/tmp}/hpnn-base.XXXXXX")
trap 'rm -rf "$root"' EXIT INT TERM
chmod 755 "$root"
echo "building $IMAGE from $MIRROR $SUITE; this takes some minutes"
debootstrap --variant=minbase --include="$PACKAGES" "$SUITE" "$root" "$MIRROR" >"$root.log" 2>&1 || {
    tail -20 "$root.log" >&2
    echo "debootstrap failed; the whole log is $root.log" >&2
    exit 1
}
rm -f "$root.log"
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/doc "$root"/usr/share/man \
    "$root"/usr/share/locale "$root"/var/log/*.log "$root"/etc/openvswitch/conf.db "$root"/etc/hostname
tar -C "$root" --numeric-owner -c . | docker import --change "LABEL hpnn.recipe=$recipe" --change 'CMD ["/bin/sh"]' - "$IMAGE"
docker image ls "$IMAGE"
