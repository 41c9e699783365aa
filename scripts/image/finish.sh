#!/bin/sh
# Turns a Debian root into the card's root. $1: the root.
#   DRAFT  a folder with system.tar (files of the image that belong to no package), and the packages of Dragoman in debs;
#          what the boot partition needs, and the list of all packages, are written there
#   LOGIN  who may log in
set -eu
root="$1"
if [ -d "$DRAFT/debs" ]; then
  cp -r "$DRAFT/debs" "$root/var/tmp/debs"
  chroot "$root" sh -euc 'dpkg --install /var/tmp/debs/*.deb
    useradd --create-home --shell /bin/bash --groups sudo,audio,systemd-journal --password "*" "$1"' sh "$LOGIN"
  rm -r "$root/var/tmp/debs"
fi
tar --extract --file "$DRAFT/system.tar" --directory "$root" --no-overwrite-dir --keep-directory-symlink
mkdir -p "$DRAFT/boot"
cp -a "$root/boot/." "$DRAFT/boot/"
for folder in raspi-firmware linux-image-* ; do
  for found in "$root"/usr/lib/$folder; do [ -d "$found" ] && mkdir -p "$DRAFT/usr/lib" && cp -a "$found" "$DRAFT/usr/lib/"; done
done
mkdir -p "$DRAFT/usr/share/doc/raspi-firmware"
cp "$root/usr/share/doc/raspi-firmware/copyright" "$DRAFT/usr/share/doc/raspi-firmware/" 2>/dev/null || true
if [ -e "$root/var/lib/dpkg/status" ]; then
  dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${Package} ${Version} ${Architecture}\n' >"$DRAFT/packages"
fi
# Removes files that are on the boot partition, that each start makes again, or that differ between builds.
rm -rf "$root"/boot/vmlinuz-* "$root"/boot/initrd.img-* "$root"/usr/lib/linux-image-* "$root"/usr/lib/raspi-firmware
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/* "$root"/var/tmp/* "$root"/tmp/* "$root"/run/*
rm -rf "$root"/var/cache/ldconfig/aux-cache "$root"/var/lib/dbus/machine-id "$root"/var/lib/systemd/random-seed
rm -f "$root"/etc/ssh/ssh_host_* "$root"/etc/*- "$root"/var/lib/dpkg/*-old
