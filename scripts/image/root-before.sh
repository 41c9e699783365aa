#!/bin/sh
# Runs before the packages that make a kiosk of a minimal Debian are unpacked. $1: the root.
set -eu
root="$1"
# The initrd is made only once, at the end, with the drivers of all boards. The watchdog's is loaded early, so that systemd finds it.
mkdir -p "$root/etc/initramfs-tools/conf.d"
printf '%s\n' 'MODULES=most' 'COMPRESS=zstd' 'RUNSIZE=20%' >"$root/etc/initramfs-tools/conf.d/kiosk"
printf '%s\n' overlay ext4 vfat nls_ascii nls_cp437 bcm2835_wdt virtio_pci virtio_mmio virtio_blk >"$root/etc/initramfs-tools/modules"
echo 'update_initramfs=no' >"$root/etc/initramfs-tools/update-initramfs.conf"
# Programs of another processor are emulated. Emulated unpacking would take most of the time, so the machine's own dpkg-deb does it.
own="$(dpkg --print-architecture)"
[ "$own" != "$(chroot "$root" dpkg --print-architecture)" ] || exit 0
native="$root/.native"
mkdir -p "$native"
cp "$(command -v dpkg-deb)" "$native/dpkg-deb"
ldd "$native/dpkg-deb" | sed -nE 's/.*[[:space:]](\/[^[:space:]]+) \(.*/\1/p' | while read -r library; do cp "$library" "$native/"; done
loader="$(basename "$(ls "$native"/ld-linux* | head -n 1)")"
mv "$root/usr/bin/dpkg-deb" "$root/usr/bin/dpkg-deb.own"
cat >"$root/usr/bin/dpkg-deb" <<END
#!/bin/sh
exec /.native/$loader --library-path /.native /.native/dpkg-deb "\$@"
END
chmod 0755 "$root/usr/bin/dpkg-deb"
