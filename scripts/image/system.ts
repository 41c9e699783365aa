import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from '../deb/file-tree.ts';
import { partitionId } from './partitions.ts';

/** User that may log in, with a key from dragoman.json. */
export const LOGIN = 'owner';

const TABLE_OF_FILE_SYSTEMS = (
  signature: string,
) => `# The root and the data partition are mounted before this file is read: /usr/lib/dragoman-image/mount-root
PARTUUID=${partitionId(signature, 1)} /boot/firmware vfat rw,noatime,flush,umask=0077,nofail,x-systemd.device-timeout=120s 0 2
tmpfs /tmp tmpfs mode=1777,nosuid,nodev,size=25% 0 0
`;

const WATCHDOG = `# The processor's own watchdog restarts a kiosk whose system hangs. The Raspberry Pi's cannot wait longer than 15 s.
[Manager]
RuntimeWatchdogSec=14
`;

const JOURNAL = `# Cards wear out: logs are kept in memory until the kiosk is switched off.
[Journal]
Storage=volatile
RuntimeMaxUse=32M
RuntimeMaxFileSize=4M
`;

const WIRED = `# Any wired network with DHCP, unless dragoman.json has other settings.
[Match]
Type=ether
Kind=!*

[Link]
RequiredForOnline=no

[Network]
DHCP=yes
MulticastDNS=resolve

[DHCPv4]
RouteMetric=100
`;

const MULTICAST_DNS = `# For a broker named in ".local". Only for queries: the kiosk does not announce its own name.
[Resolve]
MulticastDNS=resolve
`;

const SSH = `# Only the owner, and only with a key from dragoman.json.
AllowUsers ${LOGIN}
HostKey /etc/ssh/ssh_host_ed25519_key
AuthorizedKeysFile /etc/dragoman/authorized_keys
PermitRootLogin no
PasswordAuthentication no
KbdInteractiveAuthentication no
X11Forwarding no
`;

const SSH_KEYS_UNIT = `[Unit]
Description=Key of this kiosk's SSH, made at its first start
Before=ssh.service

[Service]
Type=oneshot
RemainAfterExit=yes
# A power cut may have left an incomplete key.
ExecStart=/bin/sh -euc 'key=/etc/ssh/ssh_host_ed25519_key; ssh-keygen -yf $$key >/dev/null 2>&1 </dev/null || { rm -f $$key $$key.pub; ssh-keygen -q -t ed25519 -N "" -C kiosk -f $$key; sync $$key $$key.pub /etc/ssh; }'

[Install]
WantedBy=ssh.service
`;

const ALWAYS_PROVISION = `# Runs without dragoman.json, too, to report that it is missing. Emulated boards need a long time for it.
[Unit]
ConditionPathExistsGlob=

[Service]
TimeoutStartSec=180
`;

const FAT_CHECK = `# A read-only card cannot be repaired, but its boot partition can still be read.
[Service]
SuccessExitStatus=1
`;

const MASKED = [
  // No user has a password.
  'getty@.service',
  'serial-getty@.service',
  // Each interface has its own unit.
  'wpa_supplicant.service',
  // Nothing is installed on a read-only root.
  'apt-daily.timer',
  'apt-daily-upgrade.timer',
  'dpkg-db-backup.timer',
  'e2scrub_all.timer',
  'e2scrub_reap.service',
  'systemd-networkd-wait-online.service',
];
const ENABLED: Readonly<Record<string, string>> = {
  'ssh.service': 'multi-user.target',
  'systemd-networkd.service': 'multi-user.target',
  'systemd-resolved.service': 'sysinit.target',
  'systemd-timesyncd.service': 'sysinit.target',
  'dragoman-clock.path': 'paths.target',
  'dragoman-reboot.path': 'paths.target',
};
const UNITS = 'etc/systemd/system';

/** Files of the image that belong to no package. @param signature of the partition table @param epoch the time in the image */
export function systemFiles(sources: string, signature: string, epoch: number): Entry[] {
  const own = (name: string) => readFileSync(join(sources, 'scripts/image/system', name));
  const link = (path: string, target: string): Entry => ({ path, content: { link: target } });
  return [
    { path: 'etc/fstab', content: TABLE_OF_FILE_SYSTEMS(signature) },
    { path: 'etc/hostname', content: 'kiosk\n' },
    { path: 'etc/hosts', content: '127.0.0.1 localhost kiosk\n::1 localhost kiosk\n' },
    // Filled at the first start, on the data partition.
    { path: 'etc/machine-id', content: '' },
    // Without these, each start takes the image for an update and makes caches again, which are then lost.
    { path: 'etc/.updated', content: `TIMESTAMP_NSEC=${epoch}000000000\n` },
    { path: 'var/.updated', content: `TIMESTAMP_NSEC=${epoch}000000000\n` },
    link('etc/resolv.conf', '/run/systemd/resolve/stub-resolv.conf'),
    { path: 'etc/systemd/system.conf.d/watchdog.conf', content: WATCHDOG },
    { path: 'etc/systemd/journald.conf.d/memory.conf', content: JOURNAL },
    { path: 'etc/systemd/network/80-wired.network', content: WIRED },
    { path: 'etc/systemd/resolved.conf.d/multicast-dns.conf', content: MULTICAST_DNS },
    { path: 'etc/ssh/sshd_config.d/kiosk.conf', content: SSH },
    { path: `etc/sudoers.d/${LOGIN}`, content: `${LOGIN} ALL=(ALL) NOPASSWD: ALL\n`, mode: 0o440 },
    { path: `${UNITS}/systemd-fsck@.service.d/card.conf`, content: FAT_CHECK },
    { path: `${UNITS}/dragoman-provision.service.d/card.conf`, content: ALWAYS_PROVISION },
    { path: `${UNITS}/dragoman-ssh-keys.service`, content: SSH_KEYS_UNIT },
    link(`${UNITS}/ssh.service.wants/dragoman-ssh-keys.service`, '../dragoman-ssh-keys.service'),
    ...MASKED.map((unit) => link(`${UNITS}/${unit}`, '/dev/null')),
    ...Object.entries(ENABLED).map(([unit, by]) =>
      link(`${UNITS}/${by}.wants/${unit}`, `/usr/lib/systemd/system/${unit}`),
    ),
    { path: 'etc/initramfs-tools/scripts/dragoman', content: own('initramfs-mount') },
    { path: 'usr/lib/dragoman-image/mount-root', content: own('mount-root'), mode: 0o755 },
    { path: 'boot/firmware', content: { folder: true } },
  ];
}

/** The mount script, which is added to the finished initramfs. */
export const initramfsScript = (sources: string) => ({
  path: 'scripts/dragoman',
  content: readFileSync(join(sources, 'scripts/image/system/initramfs-mount')),
});
