# Two targets to begin with: `make run` shows what the herd costs, `make test` proves that the numbers are right.

SCENARIO ?= scenarios/1000-workers.toml

.PHONY: run test test-docker docker-images setup setup-test lint bench schemas

run: setup
	cargo build --release --bin bench-runner
	./target/release/bench-runner run $(SCENARIO)

test: setup-test lint
	cargo test --workspace

setup:
	scripts/setup

setup-test:
	scripts/setup --test

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --all-features --no-deps --document-private-items

# The images that compose files and `provider = "docker"` use.
docker-images:
	scripts/docker-images

# What has to do with Docker, on an engine that answers or one of its own; says so where there can be none.
test-docker:
	scripts/test-docker

# Criterion's benchmarks: what recording one request costs, and a summary of a million grants.
bench: setup
	cargo bench --workspace

# After a change of the scenario's or the summary's types; tests fail while these are stale.
schemas:
	cargo run --quiet --bin bench-runner -- schema scenario > scenarios/schema.json
	cargo run --quiet --bin bench-runner -- schema summary > results/summary.schema.json
	cargo run --quiet --bin bench-runner -- schema capacity > results/capacity.schema.json
