/** Plans the writes for a document on a known device: all of them, or none and the reasons. */
import { unseenCharacters } from '../../protocol/common/plain-text.ts';
import type { ProvisioningDocument, WifiPart } from '../../protocol/provisioning.ts';
import { configPart } from './config-part.ts';
import { addressFault } from './ipv4.ts';
import { keyKeptFor, keyPlace, networkWrites, radioWrites } from './network-rules.ts';
import type { NetworkBackend, ProvisioningOutcome, ProvisioningProblem } from './outcome.ts';
import { ownerKeyPlace, PLACES, publicFile, secretFile, type Write, ZONES } from './places.ts';

/** Facts about the device, and results of checks that need the machine. */
export interface Facts {
  /** Null: no supported network manager for the network in the file. */
  readonly network: NetworkBackend | null;
  /** Key from the passphrase in the file, 64 hexadecimal digits; null: no passphrase. */
  readonly wifiKey: string | null;
  /** Present content of a file; null: none. */
  present(place: string): string | null;
  /** The system's name of a time zone; null: the system does not have it. */
  zoneFor(name: string): string | null;
  /** Whether the SSH server reads the agent's file of keys. */
  readonly readsSshKeys: boolean;
  /** Whether the agent has a configuration and all secrets that it names. */
  readonly isSetUp: boolean;
  /** Mistakes in certificates and keys. */
  readonly keyProblems: readonly ProvisioningProblem[];
  /** Mistakes in the resulting configuration. */
  readonly configProblems: readonly ProvisioningProblem[];
}

export type Plan =
  | {
      readonly ok: true;
      readonly writes: readonly Write[];
      /** Secrets that were removed from the file and that the device has lost; parts that need them are not written. */
      readonly missing: readonly ProvisioningProblem[];
      readonly notes: readonly string[];
    }
  | {
      readonly ok: false;
      readonly outcome: ProvisioningOutcome;
      readonly problems: readonly ProvisioningProblem[];
    };

/** Plan of one part: its writes, its mistakes, its lost secrets, and notes for the owner. */
interface Part {
  readonly writes: readonly Write[];
  readonly problems: readonly ProvisioningProblem[];
  readonly missing: readonly ProvisioningProblem[];
  readonly notes: readonly string[];
}

const part = (found: Partial<Part>): Part => ({
  writes: [],
  problems: [],
  missing: [],
  notes: [],
  ...found,
});
const problem = (field: string, message: string, fix: string): Part =>
  part({ problems: [{ field, message, fix }] });

const TAKEN = 'was removed from the file, and this device has none';
const writeAgain = (name: string): string => `Write the ${name} again in place of null.`;
/**
 * For a secret that was removed from the file. If the device has no such secret, it is lost, and the rest is set up. If
 * the device works with another one, the file belongs to another kiosk, and nothing is changed.
 */
const lost = (field: string, name: string): Part => {
  const message = 'was removed from the file, and this device has lost it';
  return part({ missing: [{ field, message, fix: writeAgain(name) }] });
};

export function planProvisioning(document: ProvisioningDocument, facts: Facts): Plan {
  const network = planNetwork(document, facts);
  const others = [
    planZone(document, facts),
    planConfig(document, facts),
    planPassword(document, facts),
    planSshKeys(document, facts),
  ];
  const keys = planKeys(document, facts);
  const all = [network, ...others, keys];
  const problems = all.flatMap((one) => one.problems);
  const missing = all.flatMap((one) => one.missing);
  if (problems.length > 0) {
    const isOf = (one: Part): boolean => one.problems.length === problems.length;
    const isUnsupported = document.wifi !== undefined && isOf(network) && facts.network === null;
    const outcome = isUnsupported ? 'wifi_unsupported' : isOf(keys) ? 'key_unreadable' : 'file_invalid';
    return { ok: false, outcome, problems: [...problems, ...missing] };
  }
  return {
    ok: true,
    missing,
    writes: all.flatMap((one) => one.writes),
    notes: [...all.flatMap((one) => one.notes), ...unseenNotes(document), ...wayIn(document, facts, missing)],
  };
}

/** Notes on invisible characters in texts that must match those of a router or a broker. */
function unseenNotes({ wifi, secrets }: ProvisioningDocument): string[] {
  const texts = [
    ['wifi.ssid', wifi?.ssid],
    ['wifi.passphrase', wifi?.passphrase],
    ['secrets.mqtt-password', secrets?.['mqtt-password']],
  ] as const;
  return texts.flatMap(([field, text]) => {
    const unseen = unseenCharacters(text ?? '');
    return unseen === null ? [] : [`${field} ${unseen}, which is kept: write it again if that is wrong.`];
  });
}

/** Explains how to log in to a device that lacks secrets. */
function wayIn(
  { sshKeys = [] }: ProvisioningDocument,
  { readsSshKeys }: Facts,
  missing: readonly ProvisioningProblem[],
): string[] {
  if (missing.length === 0 || sshKeys.length === 0 || !readsSshKeys) return [];
  const way = missing.some(({ field }) => field === WIFI_SECRET) ? ' over a network cable' : '';
  return [`You can log in with a key of "sshKeys"${way}.`];
}

/** Without "wifi", the address is for the wired network. With neither "wifi" nor "address", the network stays unchanged. */
function planNetwork({ wifi, address: given }: ProvisioningDocument, facts: Facts): Part {
  if (wifi === undefined && given === undefined) return part({});
  const address = given ?? 'dhcp';
  const fault = address === 'dhcp' ? null : addressFault(address.address, address.gateway);
  const wrong =
    fault === null
      ? []
      : problem(`address.${fault.field}`, fault.message, 'Ask the network administrator for the right value.')
          .problems;
  if (facts.network === null) {
    const unset = problem(
      wifi === undefined ? 'address' : 'wifi',
      `cannot be set on this system, which has neither NetworkManager nor ${wifi === undefined ? 'an enabled systemd-networkd' : 'systemd-networkd with wpa_supplicant'}`,
      'Leave it out and set up the network by hand, or install network-manager.',
    );
    return part({ problems: [...unset.problems, ...wrong] });
  }
  if (wifi === undefined)
    return part({ problems: wrong, writes: networkWrites(facts.network, null, address) });
  const key = wifi.passphrase === null ? keptKey(wifi, facts.network, facts) : facts.wifiKey;
  if (wifi.passphrase === null && key === null) {
    const isLost = facts.present(keyPlace(facts.network)) === null;
    const taken = isLost ? lost(WIFI_SECRET, 'passphrase') : TAKEN_ELSEWHERE;
    return part({ ...taken, problems: [...wrong, ...taken.problems] });
  }
  return part({
    problems: wrong,
    writes: [
      ...networkWrites(facts.network, { part: wifi, key }, address),
      ...radioWrites(facts.network, facts.present(PLACES.managerState)),
    ],
    notes: wifiNotes(wifi),
  });
}

const WIFI_SECRET = 'wifi.passphrase';
const TAKEN_ELSEWHERE = problem(
  WIFI_SECRET,
  'was removed from the file, and this device has none for a network of this name',
  writeAgain('passphrase'),
);

function keptKey({ ssid }: WifiPart, network: NetworkBackend, facts: Facts): string | null {
  return keyKeptFor(network, ssid, facts.present(keyPlace(network)));
}

function wifiNotes({ passphrase, country }: WifiPart): string[] {
  return [
    ...(passphrase === undefined
      ? ['The Wi-Fi has no passphrase: anyone nearby can read traffic that is not encrypted otherwise.']
      : []),
    ...(country === undefined
      ? ['No country is set for the Wi-Fi: it uses only channels that are allowed everywhere.']
      : []),
  ];
}

function planZone({ timeZone }: ProvisioningDocument, { zoneFor }: Facts): Part {
  if (timeZone === undefined) return part({});
  const zone = zoneFor(timeZone);
  if (zone === null)
    return problem(
      'timeZone',
      'is a time zone without data on this system',
      'Install the package tzdata again, or write a time zone such as "Europe/Berlin".',
    );
  return part({
    writes: [
      { kind: 'link', path: PLACES.localTime, target: `${ZONES}/${zone}` },
      publicFile(PLACES.zoneName, `${zone}\n`),
    ],
    notes: zone === timeZone ? [] : [`timeZone: "${timeZone}" is set as "${zone}".`],
  });
}

function planConfig(document: ProvisioningDocument, facts: Facts): Part {
  const { value, problems } = configPart(document, facts.present(PLACES.config));
  const problemList = [...problems, ...facts.configProblems];
  if (value === null || problemList.length > 0) return part({ problems: problemList });
  const isMain = facts.present(PLACES.mainConfig) !== null;
  const main = publicFile(PLACES.mainConfig, '// The settings are in conf.d.\n{}\n');
  const own = publicFile(PLACES.config, `${JSON.stringify(value, null, 2)}\n`);
  return part({ writes: [...(isMain ? [] : [main]), own] });
}

function planPassword({ secrets }: ProvisioningDocument, facts: Facts): Part {
  const [field, password] = ['secrets.mqtt-password', secrets?.['mqtt-password']];
  if (typeof password === 'string')
    return part({ writes: [secretFile(PLACES.password, password, 'dragoman')] });
  if (password === undefined || facts.present(PLACES.password) !== null) return part({});
  return facts.isSetUp ? problem(field, TAKEN, writeAgain('password')) : lost(field, 'password');
}

function planSshKeys({ sshKeys }: ProvisioningDocument, { readsSshKeys }: Facts): Part {
  if (sshKeys === undefined) return part({});
  const note = `The SSH server of this system does not read ${PLACES.sshKeys}: add it to AuthorizedKeysFile in /etc/ssh/sshd_config.`;
  return part({
    writes: [publicFile(PLACES.sshKeys, sshKeys.map((key) => `${key}\n`).join(''))],
    notes: readsSshKeys ? [] : [note],
  });
}

/** Requires checked keys: pairs match, and only keys that were removed from the file are missing. */
function planKeys({ caPem, certPem, keyPem, ownerKeysPem }: ProvisioningDocument, facts: Facts): Part {
  const isTaken = certPem !== undefined && keyPem === null && facts.present(PLACES.key) === null;
  const whose = 'private key of "certPem"';
  const own = facts.isSetUp ? problem('keyPem', TAKEN, writeAgain(whose)) : lost('keyPem', whose);
  const taken = isTaken ? own : part({});
  return part({
    problems: [...facts.keyProblems, ...taken.problems],
    missing: taken.missing,
    writes: [
      ...(caPem === undefined ? [] : [publicFile(PLACES.ca, tidyPem(caPem))]),
      ...(certPem === undefined ? [] : [publicFile(PLACES.certificate, tidyPem(certPem))]),
      ...(typeof keyPem === 'string' ? [secretFile(PLACES.key, tidyPem(keyPem), 'dragoman')] : []),
      ...(ownerKeysPem ?? []).map((pem, index) => publicFile(ownerKeyPlace(index), tidyPem(pem))),
    ],
  });
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[A-Za-z0-9+/=\s]+-----END \1-----/g;

/** Keeps only the PEM blocks of a text. */
function tidyPem(text: string): string {
  return (text.match(BLOCK) ?? [])
    .map((block) => `${block.replaceAll(/[ \t]*\r?\n[ \t]*/g, '\n')}\n`)
    .join('');
}
