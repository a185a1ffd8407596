# The stand in containers; docs/docker.md walks through it. The Makefile includes this file.
#
#   BASE=debian:bookworm-slim  another base image than the one that make base builds
#   TOPOLOGY=file.yaml         another topology than the example
#   DATAPATH=system            the kernel's datapath, where the host has the module
#   PUB_IF=eth1                the public segment on a real interface, not with a client in a container
#   SHIM=192.168.5.99          another address for the host itself than the client's
#   WAIT=3m                    how long make up waits for the members
#   STRICT=1                   a time that make verify finds missed is a failure
#   STORIES=all                the stories that make verify tells: short, all, none, or names separated by commas
#   AT_ONCE=4                  how many of them at a time
#   M=be1  SRC=192.168.5.13  T=11   what drain and enable, trace, flows are about

STAND_DIR := testbed/docker
STAND_BIN := $(BIN)/docker
TOPOLOGY  ?= examples/hpnn.yaml
DATAPATH  ?= netdev
PUB_IF    ?=
BASE      ?= hpnn-base
NODE      ?= hpnn-lb
COMPOSE   ?= $(shell docker compose version >/dev/null 2>&1 && echo docker compose || echo docker-compose)
WAIT      ?= 1m
STRICT    ?=
SHIM      ?=
DOCKER_BUILD := DOCKER_BUILDKIT=0 docker build --quiet --build-arg BASE=$(BASE)
export COMPOSE_HTTP_TIMEOUT ?= 300
STAND     := $(STAND_BIN)/stand --topology $(TOPOLOGY)
STAND_UP   = TOPOLOGY=$(abspath $(TOPOLOGY)) DATAPATH=$(DATAPATH) $(COMPOSE) -p hpnn -f $(STAND_FILE)
LBCTL     := docker exec $(NODE) lbctl

# The Compose file of the example is checked in; another topology gets one of its own.
STAND_FILE := $(if $(filter examples/hpnn.yaml,$(TOPOLOGY)),$(STAND_DIR),$(STAND_BIN))/compose.yaml

.PHONY: base images stand-programs stand-check up attach verify down health slots drain enable metrics ports conns trace fdb flows shim shim-down

base: ## build the stand's base image out of Debian's packages, for a host without a registry
	@$(STAND_DIR)/base/build.sh hpnn-base

stand-programs:
	@mkdir -p $(STAND_BIN)
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags=-s -o $(STAND_BIN)/ ./cmd/hcd ./cmd/lbctl ./cmd/backend ./$(STAND_DIR)/cmd/supervise ./$(STAND_DIR)/cmd/stand

images: stand-programs ## build the stand's images
	@docker image inspect $(BASE) >/dev/null 2>&1 || test $(BASE) != hpnn-base || \
	  { echo "there is no image hpnn-base: run make base, or use BASE=debian:bookworm-slim where there is a registry"; exit 1; }
	@for i in node backend client; do $(DOCKER_BUILD) -t hpnn-$$i -f $(STAND_DIR)/$$i.Dockerfile $(STAND_BIN) >$(STAND_BIN)/build.log 2>&1 && \
	  echo "built hpnn-$$i" || { cat $(STAND_BIN)/build.log; exit 1; }; done

stand-check: stand-programs
	@$(STAND) check --datapath $(DATAPATH)

up: stand-check images $(STAND_FILE) ## start the stand in containers; wait until every member is up
	@$(STAND_UP) up -d --remove-orphans
	@$(STAND) attach $(if $(PUB_IF),--parent $(PUB_IF))
	@$(STAND) wait --timeout $(WAIT)

$(STAND_BIN)/compose.yaml: stand-programs
	@$(STAND) compose >$@

attach: stand-programs ## wire the stand's containers again, after one was made or started anew
	@$(STAND) attach $(if $(PUB_IF),--parent $(PUB_IF))

verify: stand-programs ## check the stand; print what was measured; STORIES=all tells all stories
	@$(STAND) verify --stories $(or $(STORIES),short) --at-once $(AT_ONCE)$(if $(STRICT), --strict)$(if $(PUB_IF), --parent $(PUB_IF))

$(STAND_BIN)/stand:
	@$(MAKE) --no-print-directory stand-programs

down: $(STAND_BIN)/stand $(STAND_FILE) ## stop the stand; nothing is left but the images
	@TOPOLOGY=$(abspath $(TOPOLOGY)) $(STAND) down -- $(COMPOSE) -p hpnn -f $(STAND_FILE) down --remove-orphans --timeout 3

health: ## of the stand's node: the members' health
	@$(LBCTL) health

slots: ## of the stand's node: the slot tables
	@$(LBCTL) slots

drain: ## M=be1: give a member no new connections
	@test -n "$(M)" || { echo "say which member: make drain M=be1"; exit 1; }
	@$(LBCTL) drain $(M)

enable: ## M=be1: give it connections again
	@test -n "$(M)" || { echo "say which member: make enable M=be1"; exit 1; }
	@$(LBCTL) enable $(M)

metrics: ## of the stand's node: what Prometheus reads
	@$(LBCTL) metrics

ports: ## of the stand's node: the bridge's ports
	@$(LBCTL) ports

conns: ## of the stand's node: the tracked connections
	@$(LBCTL) conns

trace: stand-programs ## [SRC=192.168.5.13 SEG=pub0 VIP=192.168.5.21]: the way of a client's first frame, table by table
	@$(LBCTL) trace "$$($(STAND) flow "$(SRC)" "$(SEG)" "$(VIP)")"

fdb: ## of the stand's node: the learned addresses
	@$(LBCTL) fdb

flows: ## [T=11]: the rules of the stand's node, of one table
	@$(LBCTL) flows $(T)

shim: stand-programs ## with PUB_IF: give the host itself a way to the public addresses (macvlan devices do not see their parent)
	@test -n "$(PUB_IF)" || { echo "say which interface: make shim PUB_IF=eth1"; exit 1; }
	@$(STAND) shim --parent $(PUB_IF) $(SHIM)

shim-down: stand-programs ## remove that way
	@$(STAND) shim-down
