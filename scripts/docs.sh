#!/usr/bin/env bash
# Builds the documentation site of docs/ into build/site; `make docs` runs it.
#
# The programs that it takes (scripts/docs_requirements.txt) go to a virtual environment of their
# own, build/docs-site. Warnings are errors: a link to nowhere ends it. The pages ask nothing of
# other hosts, and can be read from the disk, but for the search, which takes a server:
# python3 -m http.server --directory build/site
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/download.sh
scripts/install_deps.sh docs

environment=build/docs-site
requirements=scripts/docs_requirements.txt
if ! cmp -s "$requirements" "$environment/installed.txt"; then
  rm -rf "$environment"
  python3 -m venv "$environment"
  pip_install "$environment" -r "$requirements"
  cp "$requirements" "$environment/installed.txt"
fi

NO_MKDOCS_2_WARNING=1 "$environment/bin/mkdocs" build --strict --quiet --clean --site-dir build/site

# A page that asks another host for anything would not work without a network, and tell who reads.
found=$(grep -rlE '(src|srcset)="(https?:)?//|<link [^>]*href="(https?:)?//' build/site \
  --include='*.html' --include='*.css' || true)
if [ -n "$found" ]; then
  printf 'these pages load something from elsewhere:\n%s\n' "$found" >&2
  exit 1
fi
echo "build/site/index.html"
