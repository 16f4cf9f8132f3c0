# Reads texts from standard input, each ended by a zero byte, and runs each in a subshell. Every command
# that is started is reported on standard output: the number of the text and the words, each ended by \1,
# then \2. $1 is run before each text.
exec 97>&1 98<&0 </dev/null >/dev/null
PATH=/nonexistent
enable -n kill suspend
# One write for each command: at a line break Bash would write the first part, and another process come between.
command_not_found_handle() {
  local __words
  printf -v __words '%s\1' "$__index" "$@" $'\2'
  printf %s "${__words//$'\n'/$'\3'}" >&97
  case $1 in *[a-m]) return 0 ;; esac
  return 127
}
run_shell() {
  local __command=("$@")
  shift
  while :; do
    case $1 in
    -*c) (eval "$2"); return ;;
    -*o) shift 2 ;;
    -*) shift ;;
    '') return ;;
    *) command_not_found_handle "${__command[@]}"; return ;;
    esac
  done
}
bash() { run_shell bash "$@"; }
sh() { run_shell sh "$@"; }
dash() { run_shell dash "$@"; }
ash() { run_shell ash "$@"; }
env() {
  while :; do
    case $1 in
    -u) shift 2 ;;
    -*) shift ;;
    *) break ;;
    esac
  done
  while [[ $1 == *=* ]]; do shift; done
  [ $# -eq 0 ] || "$@"
}
nice() {
  [ "$1" != -n ] || shift 2
  "$@"
}
__index=0
while IFS= read -r -d '' __text <&98; do
  (
    ulimit -t 1
    $1
    eval "$__text"
  ) </dev/null >/dev/null 2>&1 98<&-
  __index=$((__index + 1))
done
exit 0
