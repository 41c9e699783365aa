/**
 * Applies the new files at once, as far as possible; otherwise their readers use them at the next boot. At the first boot none of
 * those programs runs yet, so most of this does nothing.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { PLACES, type Write } from './core/places.ts';

const CALL_LIMIT_MS = 5000;
/** linux/rfkill.h: index 0, type WLAN, operation "change all", not blocked. */
const UNBLOCK_WIFI = Buffer.from([0, 0, 0, 0, 1, 3, 0, 0]);
const NETWORK: readonly string[] = [PLACES.managerWifi, PLACES.managerWired];
const NETWORKD: readonly string[] = [PLACES.networkdWifi, PLACES.networkdWired];
const AGENT: readonly string[] = [
  PLACES.mainConfig,
  PLACES.config,
  PLACES.password,
  PLACES.ca,
  PLACES.certificate,
  PLACES.key,
];

/** The commands to run; most of them fail when nothing runs yet. */
export function callsFor(
  changed: readonly Write[],
  country: string | undefined,
): readonly (readonly [string, ...string[]])[] {
  const has = (places: readonly string[]): boolean =>
    changed.some(({ path }) => places.includes(path) || (places === AGENT && path.includes('/owner-')));
  const supplicant = 'wpa_supplicant@wlan0.service';
  return [
    ...(country === undefined ? [] : [['iw', 'reg', 'set', country] as const]),
    ...(has(NETWORK) ? [['nmcli', 'connection', 'reload'] as const] : []),
    ...(has([PLACES.managerState]) ? [['nmcli', 'radio', 'wifi', 'on'] as const] : []),
    ...(has(NETWORKD) ? [['networkctl', 'reload'] as const] : []),
    // `--no-block`: the supplicant starts later in the boot.
    ...(has([PLACES.supplicant, PLACES.supplicantWanted])
      ? [['systemctl', '--no-block', 'restart', supplicant] as const]
      : []),
    ...(has(AGENT) ? [['systemctl', '--no-block', 'try-restart', 'dragoman.service'] as const] : []),
  ];
}

export function takeEffect(
  changed: readonly Write[],
  wifi: { readonly country?: string | undefined } | undefined,
): void {
  if (wifi !== undefined) unblockWifi();
  for (const [program, ...words] of callsFor(changed, wifi?.country)) {
    try {
      execFileSync(program, words, { stdio: 'ignore', timeout: CALL_LIMIT_MS });
    } catch {
      // Not installed, or not running yet.
    }
  }
}

/** Raspberry Pi OS blocks Wi-Fi until its own tool has set a country. */
function unblockWifi(): void {
  try {
    const fd = openSync('/dev/rfkill', 'r+');
    try {
      writeSync(fd, UNBLOCK_WIFI);
    } finally {
      closeSync(fd);
    }
  } catch {
    // There is no radio, or no switch for it.
  }
}
