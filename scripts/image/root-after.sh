#!/bin/sh
# Runs when all packages of Debian are installed. $1: the root.
set -eu
root="$1"
if [ -e "$root/usr/bin/dpkg-deb.own" ]; then
  mv "$root/usr/bin/dpkg-deb.own" "$root/usr/bin/dpkg-deb"
  rm -r "$root/.native"
fi
rm -f "$root"/etc/ssh/ssh_host_*
# Hooks of raspi-firmware would write to the boot partition, which is made later.
rm -f "$root"/etc/kernel/*/z50-raspi-firmware "$root"/etc/initramfs/post-update.d/z50-raspi-firmware
rm -rf "$root"/boot/firmware
chroot "$root" update-initramfs -c -k all
ls "$root"/boot/initrd.img-*
