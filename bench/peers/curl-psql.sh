#!/bin/sh
# The same as a shell script: curl and psql, one page at a time.
# usage: curl-psql.sh BASE DATABASE_URL FROM TO PAGE_LENGTH
set -eu
base=$1 database=$2 day=$3 to=$4 length=$5
page=$(mktemp)
trap 'rm -f "$page"' EXIT
psql -qX "$database" -c 'create table if not exists pages (day date, start integer, body jsonb, primary key (day, start))'
while [ "$(printf '%s\n%s\n' "$day" "$to" | sort | head -n 1)" = "$day" ]; do
  start=0
  while :; do
    curl -sSf -o "$page" -H 'X-API-Key: bench-key' -H 'Accept: application/json' \
      "$base/api/events?start=$start&length=$length&fromDate=$day%2000%3A00%3A00&toDate=$day%2023%3A59%3A59"
    records=$(psql -qAtX "$database" -v page="$page" -v day="$day" -v start="$start" <<'SQL'
\set body `cat :page`
insert into pages values (:'day', :start, :'body') returning jsonb_array_length(body -> 'data');
SQL
)
    [ "$records" -eq "$length" ] || break
    start=$((start + length))
  done
  day=$(date -u -d "$day + 1 day" +%F)
done
