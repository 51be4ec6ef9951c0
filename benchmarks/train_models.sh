#!/usr/bin/env bash
# Train the two models that ship: a small start and a large teacher by their recipes alone, then a pupil of each, each once
# more, and the small one's upper half as a joint policy.
#
#   benchmarks/train_models.sh OUT [--set name=value ...]
#
# Run it in the checkout (data/everyday is there), in the environment of `pip install 'riseq[train]'`, with RISEQ_DATA set
# and the encoders in weights/gte and weights/mpnet. On one H200 an epoch takes about 80, 95, 125, 210, 130, 150, 200, 140 and 95 s.
set -euo pipefail
out=${1:?"usage: benchmarks/train_models.sh OUT [--set name=value ...]"}
shift
recipes="$(dirname "$0")/../recipes"
pupil=(--set method=rise --set sampler=posterior --set reward_scale=bounded --set own_share=0.2 --set warmup_steps=100
    --set scored_from=1)

riseq train "$recipes/default.yaml" --out "$out/start" "$@"
riseq train "$recipes/large.yaml" --out "$out/teacher" "$@"

# The small pupil learns from the teacher, the large one from the teacher and the start.
riseq train "$recipes/default.yaml" --out "$out/pupil" --seed 8 "${pupil[@]}" \
    --set "start=$out/start/best" --set "teachers=[$out/teacher/best]" --set distill=0.6 \
    --set epochs=2 --set lr=8e-5 --set head_lr=2e-4 "$@"
riseq train "$recipes/large.yaml" --out "$out/large-first" --seed 6 "${pupil[@]}" \
    --set "start=$out/teacher/best" --set "teachers=[$out/teacher/best,$out/start/best]" --set distill=0.5 \
    --set epochs=1 --set lr=3e-5 --set head_lr=1e-4 "$@"
# The small pupil goes on twice with the large one as its teacher.
riseq train "$recipes/default.yaml" --out "$out/default-first" --seed 9 "${pupil[@]}" \
    --set "start=$out/pupil/best" --set "teachers=[$out/large-first/best]" --set distill=0.7 --set everyday_copies=6 \
    --set epochs=3 --set scored_from=3 --set lr=7e-5 --set head_lr=2e-4 "$@"
riseq train "$recipes/default.yaml" --out "$out/default-second" --seed 13 "${pupil[@]}" \
    --set "start=$out/default-first/best" --set "teachers=[$out/large-first/best]" --set distill=0.5 --set everyday_copies=10 \
    --set epochs=2 --set scored_from=2 --set lr=1.2e-4 --set head_lr=3e-4 "$@"
# What ships as large: the large pupil goes on as its own teacher.
riseq train "$recipes/large.yaml" --out "$out/large" --seed 11 "${pupil[@]}" \
    --set "start=$out/large-first/best" --set "teachers=[$out/large-first/best]" --set distill=0.35 --set everyday_copies=6 \
    --set epochs=2 --set scored_from=2 --set lr=3.5e-5 --set head_lr=1e-4 "$@"
riseq export "$out/large/best" "$out/exported/large" --precision int4
# What ships as default: the upper half of the exported model goes on as a joint policy with the exported large one as its
# teacher, then for minimum risk. The lower half keeps its bytes, so that the repository stores them once.
riseq export "$out/default-second/best" "$out/exported/default-second"
joint=("${pupil[@]}" --set joint=true --set frozen_layers=6 --set everyday_copies=8 --set batch=512)
riseq train "$recipes/default.yaml" --out "$out/default-joint" --seed 21 "${joint[@]}" \
    --set "start=$out/exported/default-second" --set "teachers=[$out/exported/large]" --set distill=0.5 \
    --set epochs=4 --set scored_from=4 --set lr=1.5e-4 --set head_lr=4e-4 "$@"
riseq train "$recipes/default.yaml" --out "$out/default" --seed 23 "${joint[@]}" --set warmup_steps=50 \
    --set "start=$out/default-joint/best" --set risk_epochs=1 --set risk_mix=0.5 \
    --set epochs=1 --set lr=5e-5 --set head_lr=1e-4 "$@"
riseq export "$out/default/best" "$out/exported/default" --like "$out/exported/default-second"
