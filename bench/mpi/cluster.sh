#!/usr/bin/env bash
# How a run over MPI scales on a cluster: the same large run on 1, 2, 4, ... processes, one line for each.
#
#   bench/mpi/cluster.sh [RANKS ...]
#
# Start it where the launcher of the cluster may be used, for example inside `salloc --nodes 8 --ntasks-per-node 64`.
# What can be set by environment variables:
#
#   LAUNCH     the launcher, to which the number of ranks is added; default `mpiexec -n`, for Slurm `srun -n`
#   FLOODWAY   the program; default target/release/floodway
#   SCENARIO   the scenario; default bench/mpi/hosts.toml
#   VARIANT    its variant; default ci
#   LEAVES     leaf switches of that scenario, with 90 hosts each; default 180, which are 16,200 hosts
#   ARRIVALS, LIMIT   end of arrivals and of the run; default 95us and 100us
#   OUT        a folder on a file system that all machines have; default results/mpi
#
# The fingerprint must be the same in every line. FLOODWAY_MPI_LIBRARY names the library where it is not found.
set -euo pipefail
cd "$(dirname "$0")/../.."
launch=${LAUNCH:-mpiexec -n}
floodway=${FLOODWAY:-target/release/floodway}
scenario=${SCENARIO:-bench/mpi/hosts.toml}
out=${OUT:-results/mpi}
ranks=("$@")
((${#ranks[@]})) || ranks=(1 2 4 8)
settings=()
if [[ -z ${SCENARIO:-} ]]; then
  settings=(--set "topology.clos.leaves=${LEAVES:-180}" --set "arrivals=${ARRIVALS:-95us}" --set "limit=${LIMIT:-100us}")
fi

printf '%6s  %12s  %12s  %s\n' ranks 'wall s' 'hops/s' fingerprint
for n in "${ranks[@]}"; do
  words=(run "$scenario" "${settings[@]}" --variant "${VARIANT:-ci}" --quiet --force --out "$out/$n")
  if ((n == 1)); then
    "$floodway" "${words[@]}" --threads 1
  else
    # The launcher is several words.
    # shellcheck disable=SC2086
    $launch "$n" "$floodway" "${words[@]}" --mpi
  fi
  python3 - "$out/$n/manifest.json" "$n" <<'PYTHON'
import json
import sys

run = json.load(open(sys.argv[1]))["runs"][0]
wall = run["wall_s"]
print(f"{sys.argv[2]:>6}  {wall:12.2f}  {run['hops'] / wall:12.3g}  {run['fingerprint']}")
PYTHON
done
