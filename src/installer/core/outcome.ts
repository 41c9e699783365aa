/**
 * Outcomes of provisioning by `dragoman.json`, and findings about a booted kiosk. Texts, speech and exit codes are made
 * from these codes.
 */
import * as z from 'zod';

/** Outcomes of reading the file. */
export const PROVISIONING_OUTCOMES = [
  /** The file had changes, and all changes are in effect. */
  'applied',
  /** All of the file was already in effect. */
  'unchanged',
  'no_file',
  /** The file cannot be read, or has a wrong name (`dragoman.json.txt`). */
  'file_unreadable',
  /** The file has a mistake; nothing was changed. */
  'file_invalid',
  /** A certificate or key in the file cannot be read, or a pair does not match; nothing was changed. */
  'key_unreadable',
  /** Secrets that were removed from the file are lost (destroyed third partition); settings without secrets are in effect. */
  'secrets_missing',
  /** The file asks for Wi-Fi that this system does not support; nothing was changed. */
  'wifi_unsupported',
  'disk_full',
  /** Writing failed for a reason other than a full disk. */
  'write_failed',
] as const;
export type ProvisioningOutcome = (typeof PROVISIONING_OUTCOMES)[number];

/** Findings about a booted kiosk. */
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
  /** The agent is not running, or cannot use its configuration. */
  'service_down',
] as const;
export type BootFinding = (typeof BOOT_FINDINGS)[number];

export type OutcomeCode = ProvisioningOutcome | BootFinding;

/** Outcomes after which the file is in effect, or there is none. */
const GOOD: readonly ProvisioningOutcome[] = ['applied', 'unchanged', 'no_file'];

export function isGood(outcome: ProvisioningOutcome): boolean {
  return GOOD.includes(outcome);
}

/** One mistake in the file. Its texts never contain a secret. */
const problemSchema = z.strictObject({
  /** For example `wifi.passphrase`; empty if the mistake concerns the whole file. */
  field: z.string(),
  /** Continues the sentence after the field: `must have at least 8 characters`. */
  message: z.string(),
  /** One sentence about what to do; empty if the message already says it. */
  fix: z.string(),
});
export type ProvisioningProblem = z.infer<typeof problemSchema>;

/** The network manager: NetworkManager, or systemd-networkd (for Wi-Fi with wpa_supplicant). */
export const NETWORK_BACKENDS = ['networkmanager', 'networkd'] as const;
export type NetworkBackend = (typeof NETWORK_BACKENDS)[number];

/** Result that `dragoman provision` writes to `PROVISIONING_RESULT_FILE` for other programs, until the next boot. */
export const provisioningResultSchema = z.strictObject({
  format: z.literal(1),
  /** Null while the clock is not set. */
  at: z.iso.datetime().nullable(),
  outcome: z.enum(PROVISIONING_OUTCOMES),
  /** The file that was read; null if there is none. */
  file: z.string().nullable(),
  problems: z.array(problemSchema),
  /** Notes for the owner that are not mistakes: one sentence each. */
  notes: z.array(z.string()),
  /** Network manager of this system; null: unknown. */
  network: z.enum(NETWORK_BACKENDS).nullable(),
  /** The file configures Wi-Fi. */
  wifi: z.boolean(),
});
export type ProvisioningResult = z.infer<typeof provisioningResultSchema>;

export const PROVISIONING_RESULT_FILE = '/run/dragoman/provisioning.json';
/** Files on the boot partition. */
export const PROVISIONING_FILE = 'dragoman.json';
export const STATUS_FILE = 'dragoman-status.txt';
