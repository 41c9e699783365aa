/** Files on the device that provisioning writes. It writes no others. */

const ETC = '/etc/dragoman';

export const PLACES = {
  /** Main configuration from the package; created if missing, because the agent needs one. */
  mainConfig: `${ETC}/config.json`,
  /** Last in alphabetical order, so that its settings win. */
  config: `${ETC}/conf.d/zz-provisioned.json`,
  password: `${ETC}/secrets/mqtt-password`,
  ca: `${ETC}/broker-ca.crt`,
  certificate: `${ETC}/mqtt.crt`,
  key: `${ETC}/secrets/mqtt.key`,
  sshKeys: `${ETC}/authorized_keys`,
  localTime: '/etc/localtime',
  zoneName: '/etc/timezone',
  regulatory: '/etc/modprobe.d/dragoman-wifi.conf',
  managerWifi: '/etc/NetworkManager/system-connections/dragoman-wifi.nmconnection',
  managerWired: '/etc/NetworkManager/system-connections/dragoman-wired.nmconnection',
  managerState: '/var/lib/NetworkManager/NetworkManager.state',
  supplicant: '/etc/wpa_supplicant/wpa_supplicant-wlan0.conf',
  supplicantWanted: '/etc/systemd/system/multi-user.target.wants/wpa_supplicant@wlan0.service',
  networkdWifi: '/etc/systemd/network/10-dragoman-wlan0.network',
  networkdWired: '/etc/systemd/network/10-dragoman-wired.network',
} as const;

/** The owner's keys, counted from 0. */
export function ownerKeyPlace(index: number): string {
  return `${ETC}/owner-${index + 1}.pub.pem`;
}

export const ZONES = '/usr/share/zoneinfo';
export const SUPPLICANT_UNIT = '/usr/lib/systemd/system/wpa_supplicant@.service';

/** Owner of a file. Files of the agent are readable by it alone. */
export type FileOwner = 'root' | 'dragoman';

export interface FileWrite {
  readonly kind: 'file';
  readonly path: string;
  readonly content: string;
  readonly mode: number;
  readonly owner: FileOwner;
}

export interface LinkWrite {
  readonly kind: 'link';
  readonly path: string;
  readonly target: string;
}

export type Write = FileWrite | LinkWrite;

/** A file that every user may read. */
export function publicFile(path: string, content: string): FileWrite {
  return { kind: 'file', path, content, mode: 0o644, owner: 'root' };
}

/** A file that only its owner may read. */
export function secretFile(path: string, content: string, owner: FileOwner): FileWrite {
  return { kind: 'file', path, content, mode: 0o600, owner };
}
