/** An error of apt, explained for people. */
export interface AptTrouble {
  readonly message: string;
  /** Whether the trouble may pass by itself. */
  readonly mayPass: boolean;
}

/** The first matching row counts. Texts of apt 2.6 (Debian 12) and 3.0 (Debian 13) in English. */
const ANSWERS: readonly [RegExp, string, boolean][] = [
  [
    /No space left on device|not have enough free space/i,
    'the disk is full; remove something, and order the update again',
    false,
  ],
  [/Read-only file system/i, 'the disk is read-only: the card may be worn out', false],
  [
    /is not valid yet|Not live until/i,
    'the list of the repository is from the future: the clock of this device is behind',
    true,
  ],
  [
    /is expired|Valid-Until/i,
    'the list of the repository has expired: the address no longer delivers new lists, or the clock of this device is ahead',
    false,
  ],
  [
    /Hash Sum mismatch|unexpected size/i,
    'the repository is damaged, or is being changed: a file differs from its signed list',
    true,
  ],
  [
    /does the network require authentication/i,
    'a page of the network answers instead of the repository: the Wi-Fi asks people to sign in',
    true,
  ],
  [
    /NO_PUBKEY|is not signed|couldn't be verified|could not be verified|not be trusted|BADSIG|Missing key|NODATA|Splitting up|Clearsigned file|no valid|signatures? (were|was) invalid|error occurred during the signature verification/i,
    'the repository is not signed with a key that this device trusts (/usr/share/keyrings/dragoman-archive-keyring.gpg)',
    false,
  ],
  [/does not have a Release file|404/i, 'there is no repository at the address', false],
  [
    /Malformed|The list of sources could not be read/i,
    'the list of sources of this device cannot be read (/etc/dragoman/update/dragoman.sources)',
    false,
  ],
  [
    /Could not resolve|Temporary failure resolving|Unable to connect|Could not connect|Connection (failed|timed out|refused|reset)|timed out|Network is unreachable|Cannot initiate|Could not handshake|Error reading from server|50\d /i,
    'the repository cannot be reached',
    true,
  ],
];

/** Why apt failed. @param output all that it printed */
export function explainApt(output: string): AptTrouble {
  for (const [pattern, message, mayPass] of ANSWERS) if (pattern.test(output)) return { message, mayPass };
  const line = output.split('\n').find((one) => /^E: /.test(one)) ?? '';
  return { message: `apt failed: ${line.slice(3, 203).trim() || 'it gave no reason'}`, mayPass: false };
}

/** Parses the first paragraph of apt-cache's answer. */
export function readParagraph(text: string): ReadonlyMap<string, string> {
  const [paragraph = ''] = text.split(/\n\n/);
  const rows = paragraph.split('\n').flatMap((line): [string, string][] => {
    const [, name, value] = /^([A-Za-z0-9-]+): (.*)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
  return new Map(rows);
}
