# What scripts that run campaigns share: lines that say what passed, totals that add up. Sourced, in
# the folder of the repository.

totals=docs/reliability-totals.tsv
passed=0
failed=0

pass() { passed=$((passed + 1)); echo "passed $1"; }
fail() { failed=$((failed + 1)); echo "FAILED $1"; }

# The programs end with this script.
bound() { setpriv --pdeathsig TERM "$@"; }

# total NAME: how many were done
total() { awk -v name="$1" -F '\t' '$1 == name {print $2}' "$totals"; }

# add NAME COUNT FAILED: the file is replaced as a whole, so an interruption leaves one or the other
add() {
  awk -v name="$1" -v count="$2" -v bad="$3" -F '\t' -v OFS='\t' \
    '$1 == name {$2 += count; $3 += bad} {print}' "$totals" >"$totals.new" &&
    mv "$totals.new" "$totals"
}
