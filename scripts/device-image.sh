#!/usr/bin/env bash
# A Debian that boots under QEMU, as the tests on a whole machine use it: a folder with its disk (root.img, ext4 without partitions),
# kernel and initrd. Prints the folder, which is made at the first call and kept: its name is a hash of what it is made of.
# No loop device, no mount: the disk is written by mke2fs. Usage (as root): scripts/device-image.sh bookworm|trixie [amd64|arm64]
#   DRAGOMAN_CACHE         where images are kept (default: dragoman in the cache folder of the user)
#   DRAGOMAN_DEBIAN_MIRROR where the packages come from (default: where this machine's apt gets Debian)
set -euo pipefail

# Longest time to make one, seconds.
readonly LIMIT_S=2400
readonly SUITE="${1:?bookworm or trixie}"
readonly ARCH="${2:-amd64}"
readonly DISK_SIZE=1600M
# The first address of apt's own that ends in /debian.
apt_mirror() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    sed -nE 's#^(URIs:|deb)[^\#]*[[:space:]](https?://[^[:space:]]+/debian)/?([[:space:]].*)?$#\2#p' | head -n 1
}
readonly MIRROR="${DRAGOMAN_DEBIAN_MIRROR:-$(apt_mirror)}"
readonly CACHE="${DRAGOMAN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dragoman}"

case "$ARCH" in
amd64 | arm64) ;;
*) echo "device-image: there is no image for $ARCH" >&2; exit 2 ;;
esac
# What an owner's machine has before ours is installed; qemu-guest-agent is the tests' hand in it, which needs no network. The broker
# does not start by itself: only a machine that lives in a time of its own has its owner's programs in it.
packages=systemd-sysv,dbus,udev,kmod,e2fsprogs,iproute2,sudo,alsa-utils,mosquitto,qemu-guest-agent,"linux-image-$ARCH"
case "$SUITE" in
# Debian 12 has no Node that is new enough: it comes as dragoman-node.
bookworm) ;;
trixie) packages+=,nodejs ;;
*) echo "device-image: there is no image of $SUITE" >&2; exit 2 ;;
esac

made_of="$(printf '%s\n' "$SUITE" "$ARCH" | cat - "$0" | sha256sum | cut -c1-16)"
folder="$CACHE/device-$SUITE-$ARCH-$made_of"
mkdir -p "$CACHE"
exec 9>"$CACHE/device-$SUITE-$ARCH.lock"
flock -w "$LIMIT_S" 9 || { echo 'device-image: another run has been making this image for too long' >&2; exit 1; }
if [[ -d $folder ]]; then
  echo "$folder"
  exit 0
fi
# What an earlier version left, and what was broken off.
rm -rf --one-file-system "$CACHE/device-$SUITE-$ARCH"-*
draft="$folder.draft"
root="$draft/root"
log="$CACHE/device-$SUITE-$ARCH.log"
mkdir -p "$draft"
trap 'rm -rf --one-file-system "$draft"' EXIT

# Drivers that no virtual machine has are most of a kernel's package.
leave_out=()
for part in gpu media net/wireless net/ethernet net/can infiniband scsi iio staging; do
  for top in /lib /usr/lib; do leave_out+=(--dpkgopt="path-exclude=$top/modules/*/kernel/drivers/$part/*"); done
done
# The driver of USB sound cards needs this one.
for top in /lib /usr/lib; do leave_out+=(--dpkgopt="path-include=$top/modules/*/kernel/drivers/media/mc/*"); done
for part in doc man locale; do leave_out+=(--dpkgopt="path-exclude=/usr/share/$part/*"); done

# Before the kernel's package makes its initrd: only what finds the disk goes into it.
cat >"$draft/before" <<'END'
#!/bin/sh -eu
mkdir -p "$1/etc/initramfs-tools/conf.d"
echo MODULES=list >"$1/etc/initramfs-tools/conf.d/small"
printf '%s\n' virtio_pci virtio_blk virtio_console ext4 crc32c_generic >"$1/etc/initramfs-tools/modules"
END
# For a machine whose disk is memory (test/whole-machine/virtual), which says so in its kernel's words: nothing has to be waited for.
if [[ $SUITE-$ARCH == trixie-amd64 ]]; then
  cat >>"$draft/before" <<'END'
mkdir -p "$1/etc/initramfs-tools/hooks"
printf '%s\n' nfit nd_pmem >>"$1/etc/initramfs-tools/modules"
cat >"$1/etc/initramfs-tools/hooks/memory-disk" <<'HOOK'
#!/bin/sh -eu
test "${1:-}" != prereqs || exit 0
cp /etc/initramfs-tools/memory-disk "$DESTDIR/memory-disk"
HOOK
cat >"$1/etc/initramfs-tools/memory-disk" <<'INIT'
#!/bin/sh
mkdir -p /proc /sys /dev /mnt
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
for module in nfit nd_pmem virtio_pci virtio_console ext4 crc32c_generic; do modprobe "$module"; done
until test -e /dev/pmem0; do sleep 0.01; done
mount -t ext4 /dev/pmem0 /mnt
for place in proc sys dev; do mount -o move "/$place" "/mnt/$place"; done
exec run-init /mnt /sbin/init
INIT
chmod +x "$1/etc/initramfs-tools/hooks/memory-disk" "$1/etc/initramfs-tools/memory-disk"
END
fi
# Addresses are fixed; of a fresh Debian's housekeeping nothing runs into the tests, which load the sound cards they want.
cat >"$draft/after" <<'END'
#!/bin/sh -eu
echo kiosk >"$1/etc/hostname"
printf '127.0.0.1 localhost kiosk\n10.0.2.100 owner.test\n' >"$1/etc/hosts"
echo '/dev/vda / ext4 defaults 0 1' >"$1/etc/fstab"
mkdir -p "$1/var/log/journal" "$1/etc/systemd/network" "$1/etc/systemd/system/qemu-guest-agent.service.d"
# Each question would be a line in the journal: what is written to the disk is measured.
printf '[Service]\nLogLevelMax=err\n' >"$1/etc/systemd/system/qemu-guest-agent.service.d/quiet.conf"
printf '[Match]\nName=e*\n[Network]\nAddress=10.0.2.15/24\nGateway=10.0.2.2\n' >"$1/etc/systemd/network/wired.network"
systemctl --root="$1" --quiet enable systemd-networkd
systemctl --root="$1" --quiet mask systemd-networkd-wait-online apt-daily.timer apt-daily-upgrade.timer e2scrub_reap \
  e2scrub_all.timer fstrim.timer dpkg-db-backup.timer getty@tty1 mosquitto
echo uninitialized >"$1/etc/machine-id"
END
chmod +x "$draft/before" "$draft/after"
timeout -k 5 "$LIMIT_S" mmdebstrap --mode=root --variant=minbase --architectures="$ARCH" --include="$packages" \
  --aptopt='APT::Install-Recommends "false"' --dpkgopt=force-unsafe-io --dpkgopt=force-confold "${leave_out[@]}" \
  --essential-hook="$draft/before" --customize-hook="$draft/after" \
  "$SUITE" "$root" ${MIRROR:+"$MIRROR"} 9>&- >"$log" 2>&1 || { tail -n 15 "$log" >&2; exit 1; }
cp "$root"/boot/vmlinuz-* "$draft/vmlinuz"
cp "$root"/boot/initrd.img-* "$draft/initrd"
rm -rf "$root"/boot/* "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*
mke2fs -q -t ext4 -L root -d "$root" "$draft/root.img" "$DISK_SIZE" >>"$log" 2>&1
rm -rf --one-file-system "$root" "$draft/before" "$draft/after"
trap - EXIT
mv "$draft" "$folder"
echo "$folder"
