# A client, and what is behind an uplink: curl, ping, ip.
ARG BASE=hpnn-base
FROM ${BASE}
RUN command -v curl >/dev/null && command -v ping >/dev/null && command -v ip >/dev/null || \
    (apt-get update && apt-get install -y --no-install-recommends curl iputils-ping iproute2 && rm -rf /var/lib/apt/lists/*)
USER 65534:65534
CMD ["sleep", "infinity"]
