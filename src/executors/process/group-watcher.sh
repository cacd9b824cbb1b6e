# Reads the running calls from a pipe, which closes when the server ends for any reason. It then kills the process groups of
# running calls and all processes with the mark, $0, until two scans in a row find none, because a killed process may have
# forked.
live=' '
while read -r sign pid; do
  case $sign in
    +) live="$live$pid " ;;
    -) case $live in *" $pid "*) live="${live%% $pid *} ${live#* $pid }" ;; esac ;;
  esac
done
for pid in $live; do kill -s KILL -- "-$pid"; done
marked() {
  if [ -r /proc/self/environ ]; then grep -ls "$1" /proc/[0-9]*/environ | cut -d / -f 3
  else ps -Eww -axo pid=,command= | grep "$1" | awk '!/grep/ { print $1 }'; fi
}
quiet=0
looks=0
while [ $quiet -lt 2 ] && [ $looks -lt 200 ]; do
  found=$(marked "$0")
  if [ -z "$found" ]; then quiet=$((quiet + 1)); else quiet=0; kill -s KILL $found; fi
  looks=$((looks + 1))
done
