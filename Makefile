# hpnn: an OpenFlow router and load balancer that is simulated first.
# `make help` prints the targets from their own comments.

GO      ?= go
BIN     := bin
FUZZTIME ?= 10s
N       ?= 20000
BED     ?= sim
AT_ONCE ?= 4

.DEFAULT_GOAL := help
.PHONY: help build run replay test stories race e2e plots lint fuzz conformance bench bench-ovs golden cross clean

help: ## print this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the command into bin/
	$(GO) build -trimpath -o $(BIN)/ ./cmd/...

run: build ## run a whole site in memory: node, switch, hosts, clients; Ctrl-C ends it
	@$(BIN)/hcd --backend sim --topology examples/hpnn.yaml --show

replay: build ## replay real client traffic through the rules of the example
	@$(BIN)/lbctl render --topology examples/hpnn.yaml --summary
	@echo
	@$(BIN)/lbctl replay --topology examples/hpnn.yaml --in-port pub0 examples/captures/client-pub0.pcap --out out

test: ## run every test that this machine can run
	$(GO) test -timeout 20m ./...

stories: ## tell every story on a bed, AT_ONCE=4 at a time: make stories BED=dummy
	$(GO) test ./scenarios -count=1 -timeout 30m -v -run '^TestStories$$' -bed $(BED) -parallel $(AT_ONCE)

race: ## the tests of what has goroutines, under the race detector
	$(GO) test -race -short ./cmd/... $(addprefix ./internal/,api bridgerpc control eventqueue health node ovsproto pcap replay) ./ovsbackend ./scenarios ./testbed ./testbed/realtime ./testbed/simhost ./testbed/simswitch

# Who waits in real time must not wait for the machine's other work.
AHEAD := $(shell nice -n -10 true 2>/dev/null && echo nice -n -10)

e2e: ## run site and stories on real kernels (root, openvswitch-switch); STORIES=all tells all; BED=netns-sim: the simulator as switch
	HPNN_E2E_BED=$(if $(filter sim,$(BED)),netns,$(BED)) HPNN_E2E_STORIES=$(or $(STORIES),short) $(AHEAD) $(GO) test -tags e2e -count=1 -v -timeout 30m ./e2e

lint: ## gofmt, vet, staticcheck
	@test -z "$$(gofmt -l .)" || { echo "gofmt wants to change:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

fuzz: ## run every fuzz target for FUZZTIME each
	@set -e; for t in $$(grep -rl --include=*_test.go '^func Fuzz' .); do \
	  for f in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' $$t); do \
	    echo "== $$(dirname $$t) $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$(dirname $$t); \
	  done; done

conformance: ## compare the simulator with a real switch on N random cases
	$(GO) run ./testbed/conformance/cmd/conformance -n $(N)

plots: ## draw the plots and the figures of documents anew
	$(GO) test ./internal/cmd/slotplot -run Fresh -update
	$(GO) test ./internal/cmd/perfdoc -run Document -update

bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-ovs: ## send the same frames through the simulator and through OVS with DPDK, and print the ratios (root)
	$(GO) run ./internal/cmd/benchovs

golden: ## rewrite the golden files and the samples in documents; read the diff before you commit it
	$(GO) test $$(grep -rl --include=*_test.go 'flag.Bool("update"' . | xargs -n1 dirname | sort -u) -update
	$(GO) test $$(grep -rl --include=*_test.go 'datadriven' . | xargs -n1 dirname | sort -u) -rewrite

cross: ## build and vet for the other systems
	GOOS=darwin GOARCH=arm64 $(GO) build ./... && GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=windows GOARCH=amd64 $(GO) build ./... && GOOS=windows GOARCH=amd64 $(GO) vet ./...

clean: ## remove what make built
	rm -rf $(BIN) out

include testbed/docker/docker.mk
