# The self-test of the bubblewrap sandbox, run inside of it. Each line checks one property; a failed check prints a line.
# $1 is the work folder.
[ -e /etc/passwd ] && echo 'files of the machine are visible'
[ -e /root ] && echo 'homes are visible'
(: > /usr/tooldex-trial) 2>/dev/null && echo 'the system is writable'
(: > /tooldex-trial) 2>/dev/null && echo 'the root is writable'
(: > "$1/trial") 2>/dev/null || echo 'the work folder is not writable'
grep -q '^NoNewPrivs:.*1$' /proc/self/status || echo 'privileges can be gained'
grep -q '^Seccomp:.*2$' /proc/self/status || echo 'system calls are not filtered'
grep -q '^CapEff:.*[1-9a-f]' /proc/self/status && echo 'capabilities are left'
[ "$(grep -c : /proc/net/dev)" -gt 1 ] && echo 'there is a network'
[ "$$" -lt 20 ] || echo 'processes of the machine are visible'
echo tried
