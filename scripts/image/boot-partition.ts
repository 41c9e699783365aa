import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpio, type InitramfsFile, padded } from './cpio.ts';
import { partitionId } from './partitions.ts';

/** A file of the FAT partition, in its folder. */
export interface BootFile {
  readonly name: string;
  readonly content: Buffer;
}

/** Firmware of the Raspberry Pi: for 3 and Zero 2, and for 4. */
const FIRMWARE = ['bootcode.bin', 'start.elf', 'fixup.dat', 'start4.elf', 'fixup4.dat'];
const BOARDS = /^bcm(2837|2711)-rpi-.*\.dtb$/;

export const CONFIG = `# What the Raspberry Pi reads before it starts the kernel.
arm_64bit=1
enable_uart=1
upstream_kernel=1
disable_splash=1
kernel=vmlinuz
initramfs initrd.img
`;

/** @param signature signature of the partition table */
export const commandLine = (signature: string): string =>
  [
    'console=tty0 console=ttyS1,115200',
    `root=PARTUUID=${partitionId(signature, 2)} ro boot=dragoman rootwait`,
    // A kiosk has no keyboard: it reboots after a kernel panic and repairs file systems without questions.
    'panic=10 fsck.repair=yes',
    // Names the first interfaces eth0 and wlan0 on every board.
    'net.ifnames=0',
    // MemoryMax in the agent's unit needs this.
    'cgroup_enable=memory',
    'quiet loglevel=4',
  ].join(' ');

export const README = `A kiosk of Dragoman
===================

This is the part of the card that every computer can read.

1. Copy dragoman.json.example to dragoman.json, here, and fill it in. The
   command "dragoman-backend devices template" makes such files for many
   kiosks at once.
2. Put the card into the kiosk, and switch it on. The first start takes two
   minutes.
3. dragoman-status.txt, here, lists the settings that were read and their
   problems. The kiosk also announces them.

dragoman.json is read at each start. After a mistake, or for a new Wi-Fi
password, write it again. Secrets are removed from it when they are read.

Do not change other files here. One exception is config.txt: a sound card on
the board's pins needs a line "dtoverlay=..." there.
`;

export const EXAMPLE = `// Copy this to dragoman.json and change the values. Remove lines that you do not need.
{
  "format": 1,
  // Leave it out to use a cable only. The two letters of the country determine the allowed radio channels.
  "wifi": { "ssid": "name of the network", "passphrase": "its password", "country": "DE", "hidden": false },
  // "dhcp", or { "address": "192.168.1.20/24", "gateway": "192.168.1.1", "dns": "192.168.1.1" }
  "address": "dhcp",
  "timeZone": "Europe/Berlin",
  // As in /etc/dragoman/config.json, without secrets.
  "config": {
    "device": { "id": "kiosk-01", "tenant": "museum" },
    "mqtt": { "url": "mqtts://broker.example:8883", "username": "museum.kiosk-01" },
    "lanes": [{ "id": "main", "source": "en", "targets": ["es"] }]
  },
  "secrets": { "mqtt-password": "the broker's password for this kiosk" },
  // The broker's authority, if it is your own: the text of its file, with \\n for each line end.
  // "caPem": "-----BEGIN CERTIFICATE-----\\n...",
  // Public keys for SSH logins as "owner". There is no other login.
  "sshKeys": []
}
`;

/** The files of the FAT partition, from a Debian root and from the texts above. */
export function bootFiles(root: string, signature: string, extra: readonly InitramfsFile[]): BootFile[] {
  const version = kernelVersion(root);
  const boards = join(root, 'usr/lib', `linux-image-${version}`, 'broadcom');
  const firmware = join(root, 'usr/lib/raspi-firmware');
  const read = (path: string) => readFileSync(path);
  const initrd = read(join(root, 'boot', `initrd.img-${version}`));
  return [
    ...FIRMWARE.map((name) => ({ name, content: read(join(firmware, name)) })),
    ...readdirSync(boards)
      .filter((name) => BOARDS.test(name))
      .map((name) => ({ name, content: read(join(boards, name)) })),
    { name: 'vmlinuz', content: read(join(root, 'boot', `vmlinuz-${version}`)) },
    { name: 'initrd.img', content: Buffer.concat([padded(initrd), cpio(extra)]) },
    { name: 'config.txt', content: Buffer.from(CONFIG) },
    { name: 'cmdline.txt', content: Buffer.from(`${commandLine(signature)}\n`) },
    { name: 'README.txt', content: Buffer.from(README.replaceAll('\n', '\r\n')) },
    { name: 'dragoman.json.example', content: Buffer.from(EXAMPLE) },
    { name: 'LICENCE.broadcom', content: licence(root) },
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function kernelVersion(root: string): string {
  const kernels = readdirSync(join(root, 'boot')).filter((name) => name.startsWith('vmlinuz-'));
  const [kernel] = kernels;
  if (kernel === undefined || kernels.length > 1)
    throw new Error(`there must be one kernel in ${join(root, 'boot')}, but there are ${kernels.length}`);
  return kernel.slice('vmlinuz-'.length);
}

/** The licence for redistributing the firmware. */
function licence(root: string): Buffer {
  const file = join(root, 'usr/share/doc/raspi-firmware/copyright');
  return existsSync(file) ? readFileSync(file) : Buffer.from('See the package raspi-firmware of Debian.\n');
}
