#!/usr/bin/env bash
# Train the large model and the small one that ships: two large teachers and a small start, then the pupils.
#
#   benchmarks/train_models.sh OUT [--set name=value ...]
#
# Needs the environment of `pip install 'riseq[train]'`, RISEQ_DATA, and the encoders in weights/gte and weights/mpnet.
# Each line is one command; on one H200 they took 130, 160, 278 and 113 s (the second and third are two runs at once).
set -euo pipefail
out=${1:?"usage: benchmarks/train_models.sh OUT [--set name=value ...]"}
shift
recipes="$(dirname "$0")/../recipes"
exact=(--set sampler=posterior --set reward_scale=bounded)
more=(--set borrow_answers=0.5 --set drop_answers=0.5 --set swap=0.2 --set own_share=0.3)

# The teachers: one draws by dynamic programming with Eq. 7, the other by the exact posterior with a bounded reward.
riseq train "$recipes/large.yaml" --out "$out/teacher-dps" --seed 1 \
    --set own_share=0.3 --set epochs=4 --set scored_from=3 "$@"
riseq train "$recipes/large.yaml" --out "$out/teacher-posterior" --seed 2 "${exact[@]}" \
    --set own_share=0.3 --set epochs=4 --set scored_from=3 "$@" &
second=$!
riseq train "$recipes/small.yaml" --out "$out/start" --seed 4 \
    --set method=mle --set own_share=0 --set epochs=5 --set scored_from=4 "$@"
wait "$second"

# The pupils: the large one learns from all three, the small one first from the teachers, then from the large pupil.
teachers="$out/teacher-dps/best,$out/teacher-posterior/best"
riseq train "$recipes/large.yaml" --out "$out/large" --seed 6 "${exact[@]}" "${more[@]}" \
    --set "start=$out/teacher-posterior/best" --set "teachers=[$teachers,$out/start/best]" \
    --set distill=0.6 --set epochs=3 --set scored_from=2 --set lr=4e-5 "$@" &
large=$!
riseq train "$recipes/small.yaml" --out "$out/pupil" --seed 5 "${exact[@]}" "${more[@]}" \
    --set "start=$out/start/best" --set "teachers=[$teachers]" \
    --set distill=0.7 --set epochs=4 --set scored_from=4 --set lr=8e-5 "$@"
wait "$large"
riseq train "$recipes/small.yaml" --out "$out/small" --seed 8 "${exact[@]}" \
    --set "start=$out/pupil/best" --set "teachers=[$out/large/best,$out/teacher-posterior/best]" \
    --set distill=0.8 --set own_share=0.2 --set borrow_answers=1.0 --set drop_answers=0.3 --set swap=0.1 \
    --set epochs=2 --set scored_from=1 --set lr=6e-5 "$@"
riseq export "$out/small/best" "$out/exported"
