# The node: Open vSwitch and hcd under a supervisor. The context is the directory of the static programs.
ARG BASE=hpnn-base
FROM ${BASE}
RUN command -v ovs-vswitchd >/dev/null && command -v ip >/dev/null || \
    (apt-get update && apt-get install -y --no-install-recommends openvswitch-switch iproute2 && rm -rf /var/lib/apt/lists/*)
COPY supervise hcd lbctl /usr/local/bin/
ENTRYPOINT ["supervise"]
