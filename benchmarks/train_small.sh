#!/usr/bin/env bash
# Train the model that ships: two teachers at once, then their pupil, and export it.
#
#   benchmarks/train_small.sh OUT [--set name=value ...]
#
# Needs the environment of `pip install 'riseq[train]'`, RISEQ_DATA, and gte-small in weights/gte
# (or: --set backbone=thenlper/gte-small).
set -euo pipefail
out=${1:?"usage: benchmarks/train_small.sh OUT [--set name=value ...]"}
shift
recipe="$(dirname "$0")/../recipes/small.yaml"

riseq train "$recipe" --out "$out/teacher-mle" \
    --set method=mle --set own_share=0 --set epochs=5 --set scored_from=4 "$@" &
first=$!
riseq train "$recipe" --out "$out/teacher-posterior" --seed 2 \
    --set sampler=posterior --set reward_scale=bounded --set own_share=0.3 --set epochs=4 --set scored_from=3 "$@" &
second=$!
wait "$first"
wait "$second"
riseq train "$recipe" --out "$out/small" --seed 5 \
    --set "start=$out/teacher-mle/best" --set "teachers=[$out/teacher-mle/best,$out/teacher-posterior/best]" \
    --set distill=0.6 --set sampler=posterior --set reward_scale=bounded --set own_share=0.3 \
    --set epochs=3 --set scored_from=2 --set lr=8e-5 "$@"
riseq export "$out/small/best" "$out/exported"
