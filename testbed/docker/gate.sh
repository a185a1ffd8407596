#!/bin/sh
# The stand from nothing to nothing: base, up, verify, down; then the machine must be as before. The gate runs it.
# Without a Docker engine it says so and does nothing.
set -eu
cd "$(dirname "$0")/../.."

docker version >/dev/null 2>&1 || { echo "skipped: no Docker engine answers here"; exit 0; }

# around lists what the stand could leave: containers, networks, the namespaces that Docker holds, interfaces.
around() {
    {
        docker ps -aq --no-trunc
        docker network ls -q --no-trunc
        awk '$5 ~ "/docker/netns/" { print $5 }' /proc/self/mountinfo
        ls /sys/class/net
    } | sort
}
timed() {
    begun=$(date +%s)
    make --no-print-directory "$@"
    echo "-- make $1 took $(($(date +%s) - begun)) s"
}

around >/tmp/hpnn-around.$$
trap 'rm -f /tmp/hpnn-around.$$; make --no-print-directory down >/dev/null 2>&1 || true' EXIT
trap 'exit 1' INT TERM
timed base
timed up WAIT=5m
timed verify
timed down
left=$(around | comm -13 /tmp/hpnn-around.$$ -)
[ -z "$left" ] || { echo "the stand left: $left" >&2; exit 1; }
echo "the machine is as it was"
