# Runs a program in a network of its own: far-network.sh FOLDER DELAY_MS DROPPED_ADDRESS... -- PROGRAM...
# Called by far-network.ts as the first process of new namespaces, so that everything ends with it.
set -eu
folder=$1
shift
here=$(dirname "$0")
far=
while [ "$1" != -- ]; do far="$far $1"; shift; done
shift
ip link set lo up
python3 "$here/far-side.py" $far &
tries=0
until [ -e /sys/class/net/far ] || ip link show far >/dev/null 2>&1; do
  tries=$((tries + 1))
  [ $tries -lt 200 ]
  sleep 0.05
done
ip link set far up
ip addr add 10.9.0.1/24 dev far
ip -6 addr add fd00:9::1/64 dev far nodad
# Where NAT64 maps IPv4 to.
ip -6 route add 64:ff9b::/96 dev far
# The name server of the program; no other service of the machine looks names up.
printf 'nameserver 127.0.0.1\noptions timeout:10 attempts:1\n' >"$folder/resolv.conf"
printf 'hosts: files dns\n' >"$folder/nsswitch.conf"
for file in resolv.conf nsswitch.conf; do mount --bind "$folder/$file" "/etc/$file"; done
exec "$@"
