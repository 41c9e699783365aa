/** The parts of a Debian root that an image is made from. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const KERNEL = '6.12.1-arm64';
export const FIRMWARE = ['bootcode.bin', 'start.elf', 'fixup.dat', 'start4.elf', 'fixup4.dat'];

export function makeFakeRoot(root: string, kernels: readonly string[] = [KERNEL]): void {
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const kernel of kernels) put(`boot/vmlinuz-${kernel}`, `kernel ${kernel}`);
  put(`boot/initrd.img-${KERNEL}`, 'initrd of Debian.');
  for (const name of FIRMWARE) put(`usr/lib/raspi-firmware/${name}`, name);
  for (const board of ['bcm2837-rpi-3-b', 'bcm2711-rpi-4-b', 'bcm2712-rpi-5-b'])
    put(`usr/lib/linux-image-${KERNEL}/broadcom/${board}.dtb`, board);
  put('usr/share/doc/raspi-firmware/copyright', 'Broadcom');
  put('etc/fstab', 'of Debian');
  put('etc/machine-id', 'uninitialized');
  put('etc/ssh/ssh_host_ed25519_key', 'a key that every kiosk would share');
  put('var/log/dpkg.log', 'when it was made');
  put('usr/bin/large', 'x'.repeat(3_000_000));
  for (const folder of ['dev', 'proc', 'sys', 'run', 'tmp', 'var/tmp', 'var/cache/apt', 'var/lib/apt/lists'])
    mkdirSync(join(root, folder), { recursive: true });
}
