#!/usr/bin/env bash
# A small Debian with systemd, as the tests under systemd boot it, in a folder. Prints the folder, which is made at the first
# call and kept: its name is a hash of what it is made of.
# Usage (as root): scripts/debian-root.sh bookworm|trixie
#   DRAGOMAN_CACHE         where roots are kept (default: dragoman in the cache folder of the user)
#   DRAGOMAN_DEBIAN_MIRROR where the packages come from (default: where this machine's apt gets Debian)
set -euo pipefail

# Longest time to make one, seconds.
readonly LIMIT_S=400
readonly SUITE="${1:?bookworm or trixie}"
# The first address of apt's own that ends in /debian; without one debootstrap has a default.
apt_mirror() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    sed -nE 's#^(URIs:|deb)[^\#]*[[:space:]](https?://[^[:space:]]+/debian)/?([[:space:]].*)?$#\2#p' | head -n 1
}
readonly MIRROR="${DRAGOMAN_DEBIAN_MIRROR:-$(apt_mirror)}"
readonly CACHE="${DRAGOMAN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dragoman}"

# Debian 12 has no Node that is new enough: there the tests lend the machine's own.
packages=systemd-sysv,alsa-utils,mosquitto,mosquitto-clients,sudo
case "$SUITE" in
bookworm) ;;
trixie) packages+=,nodejs ;;
*) echo "debian-root: there is no root for $SUITE" >&2; exit 2 ;;
esac
# For these debootstrap does not find a working set; apt does.
readonly SOUND_SERVER=(dbus pipewire pipewire-alsa wireplumber)

made_of="$(printf '%s\n' "$SUITE" "$(dpkg --print-architecture)" | cat - "$0" | sha256sum | cut -c1-16)"
folder="$CACHE/root-$SUITE-$made_of"
mkdir -p "$CACHE"
exec 9>"$CACHE/root-$SUITE.lock"
flock -w "$LIMIT_S" 9 || { echo 'debian-root: another run has been making this root for too long' >&2; exit 1; }
if [[ ! -d $folder ]]; then
  # What an earlier list of packages left, and what was broken off.
  rm -rf --one-file-system "$CACHE/root-$SUITE"-*
  timeout -k 5 "$LIMIT_S" debootstrap --variant=minbase --include="$packages" "$SUITE" "$folder.draft" ${MIRROR:+"$MIRROR"} \
    9>&- >"$CACHE/root-$SUITE.log" 2>&1 || { tail -n 5 "$CACHE/root-$SUITE.log" >&2; exit 1; }
  DEBIAN_FRONTEND=noninteractive LC_ALL=C timeout -k 5 "$LIMIT_S" chroot "$folder.draft" sh -ec '
    apt-get update -q; apt-get install -yq --no-install-recommends "$@"' sh "${SOUND_SERVER[@]}" \
    9>&- >>"$CACHE/root-$SUITE.log" 2>&1 || { tail -n 5 "$CACHE/root-$SUITE.log" >&2; exit 1; }
  rm -rf "$folder.draft"/var/cache/apt/archives/*.deb
  # ALSA's device "pipewire" stays; "default" is the card, as on a kiosk without a sound server.
  rm "$folder.draft"/etc/alsa/conf.d/99-pipewire-default.conf
  mv "$folder.draft" "$folder"
fi
echo "$folder"
