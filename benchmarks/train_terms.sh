#!/usr/bin/env bash
# Train RISE, -MLD, -DPS, Trans++ and QGDiv on equal terms, with three seeds each, and write what each makes of every set.
#
#   benchmarks/train_terms.sh OUT [--set name=value ...]
#
# OUT/NAME/best is each model, OUT/NAME/pred/ its outputs (one JSON Lines file a set, questions without a dialogue asked
# too) and their scores (scores.jsonl, one line a set and form), OUT/NAME/train.log what the run told. NAME is that of the
# report's plan: ablation-rise-1 to -3, ablation-mld-1 .., ablation-dps-1 .., trans++, trans++-2, trans++-3, qgdiv ..
# What is done is skipped, and a run that was cut short goes on where it stopped. One that fails does not stop the others.
#
# SYSTEMS may change settings of a recipe, after a colon, with commas between: ablation-rise:copies=0,joint=false is called
# ablation-rise.copies=0,joint=false-1 and so on. The single runs of docs/experiments.md (samples=8 is what -DPS has;
# with PYTHON=echo the commands are printed into OUT/NAME/train.log and nothing is trained):
#   JOBS=4 SYSTEMS="ablation-rise:copies=0 ablation-rise:joint=false ablation-rise:samples=8 ablation-rise:risk=baseline \
#     ablation-rise:risk_passes=2 ablation-rise:risk_passes=2,risk=baseline" \
#     benchmarks/train_terms.sh runs/terms
#
# JOBS is how many train at once (1; several share a GPU best under MPS, which is started where it is installed), SYSTEMS
# the recipes (ablation-rise ablation-mld ablation-dps trans++ qgdiv; SYSTEMS=querysim trains QuerySim, whose network, batch
# and steps are its own), SEEDS the seeds (1 2 3), SETS the sets. Needs what benchmarks/train_baselines.sh needs, the
# language model for querysim alone. To save a run's outputs for the report:
#   riseq predict --system SYSTEM --model OUT/NAME/best --take OUT/NAME/pred \
#     --first-turns asked --made-by "benchmarks/train_terms.sh OUT" --into benchmarks/predictions/NAME
set -euo pipefail
out=${1:?"usage: benchmarks/train_terms.sh OUT [--set name=value ...]"}
shift
python=${PYTHON:-python}
here=$(dirname "$0")
data=()
for name in ${SETS:-canard/dev.qonly canard/test.qonly canard/test.qa cast19/test.qonly}; do
    data+=(--data "$name")
done

run() {
    local recipe=${1%%:*} seed=$2 folder=$3 kind=(--passes 5 --first-turns asked) changes=() change
    if [ "$1" != "$recipe" ]; then
        IFS=, read -ra changes <<<"${1#*:}"
    fi
    shift 3
    for change in "${changes[@]}"; do # after the flags: they are what makes the variant
        set -- "$@" --set "$change"
    done
    case $recipe in ablation-*) ;; *) kind=(--system "$recipe") ;; esac
    "$python" -m riseq train "$here/../recipes/$recipe.yaml" --out "$folder" --seed "$seed" --resume auto "$@"
    mkdir -p "$folder/pred"
    "$python" "$here/score_checkpoints.py" "${kind[@]}" --model "$folder/best" "${data[@]}" --out "$folder/pred" \
        >"$folder/pred/scores.part"
    mv "$folder/pred/scores.part" "$folder/pred/scores.jsonl"
}

if [ "${JOBS:-1}" -gt 1 ] && command -v nvidia-cuda-mps-control >/dev/null; then
    export CUDA_MPS_PIPE_DIRECTORY=${CUDA_MPS_PIPE_DIRECTORY:-/tmp/riseq-mps} PYTORCH_ALLOC_CONF=expandable_segments:True
    export CUDA_MPS_LOG_DIRECTORY=$CUDA_MPS_PIPE_DIRECTORY
    mkdir -p "$CUDA_MPS_PIPE_DIRECTORY"
    nvidia-cuda-mps-control -d || true # it may run already
fi

names=()
for recipe in ${SYSTEMS:-ablation-rise ablation-mld ablation-dps trans++ qgdiv}; do
    for seed in ${SEEDS:-1 2 3}; do
        name=${recipe/:/.}-$seed
        case $name in ablation-*) ;; *-1) name=$recipe ;; esac
        names+=("$name")
        [ ! -f "$out/$name/pred/scores.jsonl" ] || continue
        while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-1}" ]; do
            wait -n || true
        done
        mkdir -p "$out/$name"
        run "$recipe" "$seed" "$out/$name" "$@" >>"$out/$name/train.log" 2>&1 &
    done
done
wait

failed=0
for name in "${names[@]}"; do
    if [ -f "$out/$name/pred/scores.jsonl" ]; then
        echo "== $name"
        cat "$out/$name/pred/scores.jsonl"
    else
        echo "== $name failed; the end of $out/$name/train.log:"
        tail -n 3 "$out/$name/train.log"
        failed=1
    fi
done
exit "$failed"
