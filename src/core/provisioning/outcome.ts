/**
 * How provisioning by `dragoman.json` ended, and what is found of a kiosk that has booted: one code each, of which texts,
 * speech and exit codes are made.
 */
import { z } from 'zod';

/** How the reading of the file ended. */
export const PROVISIONING_OUTCOMES = [
  /** Something was new, and all of the file is in effect. */
  'applied',
  /** All of the file was in effect already. */
  'unchanged',
  'no_file',
  /** It cannot be read at all, or has a wrong name (`dragoman.json.txt`). */
  'file_unreadable',
  /** Something in it is wrong; nothing was changed. */
  'file_invalid',
  /** A certificate or key in it cannot be read, or they do not belong together; nothing was changed. */
  'key_unreadable',
  /** Secrets that were taken out of it are lost, as on a card whose third partition was destroyed; what needs none is in effect. */
  'secrets_missing',
  /** It asks for a kind of Wi-Fi that this system cannot do; nothing was changed. */
  'wifi_unsupported',
  'disk_full',
  /** The system's disk cannot be written for another reason. */
  'write_failed',
] as const;
export type ProvisioningOutcome = (typeof PROVISIONING_OUTCOMES)[number];

/** What is found of a kiosk that has booted. */
export const BOOT_FINDINGS = [
  'ready',
  'no_network',
  'wifi_password_wrong',
  'wifi_not_found',
  'no_address',
  'clock_wrong',
  'broker_unreachable',
  'broker_refused',
  'backend_silent',
  'no_microphone',
  'no_loudspeaker',
  /** The agent does not run, or cannot use its configuration. */
  'service_down',
] as const;
export type BootFinding = (typeof BOOT_FINDINGS)[number];

export type OutcomeCode = ProvisioningOutcome | BootFinding;

/** Outcomes after which the file is in effect, or there was none. */
const GOOD: readonly ProvisioningOutcome[] = ['applied', 'unchanged', 'no_file'];

export function isGood(outcome: ProvisioningOutcome): boolean {
  return GOOD.includes(outcome);
}

/** One thing that is wrong with the file. No text of it holds a secret. */
const problemSchema = z.strictObject({
  /** `wifi.passphrase`; empty where it is about the whole file. */
  field: z.string(),
  /** Goes on after the field: `must have at least 8 characters`. */
  message: z.string(),
  /** A sentence that says what to do; empty where the message says it. */
  fix: z.string(),
});
export type ProvisioningProblem = z.infer<typeof problemSchema>;

/** What manages the network: NetworkManager, or systemd-networkd with wpa_supplicant. */
export const NETWORK_BACKENDS = ['networkmanager', 'networkd'] as const;
export type NetworkBackend = (typeof NETWORK_BACKENDS)[number];

/** What `dragoman provision` leaves in `PROVISIONING_RESULT_FILE` for other programs, until the next boot. */
export const provisioningResultSchema = z.strictObject({
  format: z.literal(1),
  /** Null while the clock is not set. */
  at: z.iso.datetime().nullable(),
  outcome: z.enum(PROVISIONING_OUTCOMES),
  /** The file that was read; null where there is none. */
  file: z.string().nullable(),
  problems: z.array(problemSchema),
  /** What the owner should know, though it is no fault: a sentence each. */
  notes: z.array(z.string()),
  /** What manages this system's network; null: nothing that is known here. */
  network: z.enum(NETWORK_BACKENDS).nullable(),
  /** The file names a Wi-Fi network. */
  wifi: z.boolean(),
});
export type ProvisioningResult = z.infer<typeof provisioningResultSchema>;

export const PROVISIONING_RESULT_FILE = '/run/dragoman/provisioning.json';
/** Both on the boot partition, side by side. */
export const PROVISIONING_FILE = 'dragoman.json';
export const STATUS_FILE = 'dragoman-status.txt';
