# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Common parts of the bash tools; sourced, never run.

set -euo pipefail

me=${0##*/}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034 # for the tools that source this file
build=$root/build
lib_fd=

# die TEXT: one line that says what to do, status 2.
die() { echo "$me: $*" >&2; exit 2; }

warn() { echo "$me: $*" >&2; }

# usage: print the comment block at the top of the tool.
usage() { awk 'NR <= 2 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$0"; }

# base KEY: a value of the file BASE, or of what a tool has set base_file to.
base_file=$root/BASE
base() {
	local v
	v=$(sed -n "s/^$1=//p" "$base_file") || die "cannot read $base_file"
	[[ -n $v ]] || die "${base_file#"$root/"} has no line $1=..."
	echo "$v"
}

# Long steps say what they do and how long it took: step TEXT ... step_done.
step() { step_text=$*; step_start=$SECONDS; echo "$me: $step_text ..."; }
step_done() { echo "$me: $step_text: done in $((SECONDS - step_start)) s"; }

# kgit ARGS: git on the kernel tree, with nothing from the user's own settings
# that would change what am and format-patch do.
kgit() {
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 \
		git -C "${linux:-$build/linux}" -c am.threeWay=false \
		-c core.autocrlf=false -c commit.gpgSign=false -c gc.auto=0 \
		-c core.hooksPath=/dev/null -c advice.detachedHead=false "$@"
}

# lock NAME: only one run of a kind at a time; waits for the other.
lock() {
	mkdir -p "$build"
	exec {lib_fd}>"$build/.lock-$1"
	if ! flock -n "$lib_fd"; then
		echo "$me: waiting for another run on build/$1"
		flock "$lib_fd"
	fi
}
