/**
 * Makes certificates with the `openssl` of this machine, because Node makes keys and signatures only. A library would bring
 * a dozen packages into the program that holds the account's API key. Every Debian with ca-certificates has `openssl`.
 * Only `broker init` and the `devices` verbs call it, never the running backend.
 */
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemCode } from '../../adapters/system-error.ts';
import { Failure } from '../../program/problem.ts';
import type { WallMs } from '../../protocol/common/time.ts';

/** PEM. */
export interface KeyedCertificate {
  readonly certificate: string;
  readonly key: string;
}

const AUTHORITY_DAYS = 7300;
/** Limit of RFC 5280 (characters). */
const LONGEST_COMMON_NAME = 64;
const MOST_WAIT_MS = 30_000;

/** @param name what people see as the issuer */
export function createAuthority(name: string): KeyedCertificate {
  return inFolder((folder) => {
    const key = newKey(folder, 'own.key');
    writeConfig(folder, name, [
      'basicConstraints = critical, CA:TRUE, pathlen:0',
      'keyUsage = critical, keyCertSign, cRLSign',
      'subjectKeyIdentifier = hash',
    ]);
    const made = ['-new', '-x509', '-key', 'own.key', '-days', String(AUTHORITY_DAYS), '-extensions', 'ext'];
    openssl(folder, ['req', '-config', 'own.cnf', '-sha256', ...made, '-out', 'own.crt']);
    return { key, certificate: readFileSync(join(folder, 'own.crt'), 'utf8') };
  });
}

export interface Wanted {
  /** `server`: the host that clients connect to. `client`: the user name at the broker. */
  readonly usage: 'server' | 'client';
  readonly name: string;
  readonly days: number;
}

/** Issues a certificate for a new key. */
export function issueCertificate(authority: KeyedCertificate, wanted: Wanted): KeyedCertificate {
  return inFolder((folder) => {
    const key = newKey(folder, 'own.key');
    return { key, certificate: issue(folder, authority, wanted, []) };
  });
}

/**
 * Issues a certificate for a given public key. Only the key is taken from the request.
 * @returns PEM
 */
export function certify(authority: KeyedCertificate, publicKey: KeyObject, wanted: Wanted): string {
  return inFolder((folder) => {
    // openssl needs a complete request: this one has a key of its own, which `-force_pubkey` replaces.
    newKey(folder, 'own.key');
    writeFileSync(join(folder, 'their.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
    return issue(folder, authority, wanted, ['-force_pubkey', 'their.pub']);
  });
}

/** @returns PEM of a certificate for `own.key`, unless `more` names another key */
function issue(
  folder: string,
  authority: KeyedCertificate,
  { usage, name, days }: Wanted,
  more: readonly string[],
): string {
  // A truncated name could be the name of another client.
  if (usage === 'client' && name.length > LONGEST_COMMON_NAME)
    throw new Failure(
      `"${name}" is too long for a certificate (${LONGEST_COMMON_NAME} characters): give tenant and device shorter names, or use passwords`,
    );
  writeFileSync(join(folder, 'ca.key'), authority.key, { mode: 0o600 });
  writeFileSync(join(folder, 'ca.crt'), authority.certificate);
  writeConfig(folder, name.slice(0, LONGEST_COMMON_NAME), [
    'basicConstraints = critical, CA:FALSE',
    'keyUsage = critical, digitalSignature',
    `extendedKeyUsage = ${usage}Auth`,
    ...(usage === 'server' ? [`subjectAltName = ${isIP(name) === 0 ? 'DNS' : 'IP'}:${name}`] : []),
    'subjectKeyIdentifier = hash',
    'authorityKeyIdentifier = keyid',
  ]);
  openssl(folder, ['req', '-new', '-config', 'own.cnf', '-sha256', '-key', 'own.key', '-out', 'own.csr']);
  const serial = `0x01${randomBytes(15).toString('hex')}`;
  const by = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-set_serial', serial, '-days', String(days), '-sha256'];
  const extended = ['-extfile', 'own.cnf', '-extensions', 'ext'];
  openssl(folder, ['x509', '-req', '-in', 'own.csr', ...by, ...extended, ...more, '-out', 'own.crt']);
  return readFileSync(join(folder, 'own.crt'), 'utf8');
}

/** A revoked certificate, by its serial number (hexadecimal). Times are wall-clock milliseconds. */
export interface Revoked {
  readonly serial: string;
  readonly validTo: number;
}

/**
 * The revocation list. It is valid as long as the authority, because a broker with an expired list refuses all clients.
 * @returns PEM
 */
export function listRevoked(authority: KeyedCertificate, revoked: readonly Revoked[], wall: WallMs): string {
  return inFolder((folder) => {
    writeFileSync(join(folder, 'ca.key'), authority.key, { mode: 0o600 });
    writeFileSync(join(folder, 'ca.crt'), authority.certificate);
    const line = ({ serial, validTo }: Revoked): string =>
      ['R', asnTime(validTo), asnTime(wall), serial, 'unknown', '/CN=revoked'].join('\t');
    writeFileSync(join(folder, 'index.txt'), revoked.map((one) => `${line(one)}\n`).join(''));
    writeFileSync(join(folder, 'index.txt.attr'), 'unique_subject = no\n');
    writeFileSync(join(folder, 'own.cnf'), '[ca]\ndefault_ca = own\n[own]\ndatabase = index.txt\n');
    const by = ['-config', 'own.cnf', '-keyfile', 'ca.key', '-cert', 'ca.crt', '-md', 'sha256'];
    openssl(folder, ['ca', '-gencrl', ...by, '-crldays', String(AUTHORITY_DAYS), '-out', 'own.crl']);
    return readFileSync(join(folder, 'own.crl'), 'utf8');
  });
}

/** UTCTime until 2049, GeneralizedTime after that, as X.509 requires. */
function asnTime(wallMs: number): string {
  const digits = new Date(wallMs).toISOString().replace(/\D/g, '').slice(0, 14);
  return `${digits < '2050' ? digits.slice(2) : digits}Z`;
}

function newKey(folder: string, file: string): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  writeFileSync(join(folder, file), pem, { mode: 0o600 });
  return pem;
}

/** Writes a complete configuration for openssl: the machine's own openssl.cnf must not add anything. */
function writeConfig(folder: string, name: string, extensions: readonly string[]): void {
  const lines = [
    '[req]',
    'distinguished_name = dn',
    'prompt = no',
    '[dn]',
    `CN = ${name}`,
    '[ext]',
    ...extensions,
  ];
  writeFileSync(join(folder, 'own.cnf'), `${lines.join('\n')}\n`);
}

function openssl(cwd: string, args: readonly string[]): void {
  try {
    execFileSync('openssl', args, { cwd, stdio: ['ignore', 'ignore', 'pipe'], timeout: MOST_WAIT_MS });
  } catch (error) {
    if (systemCode(error) === 'ENOENT')
      throw new Failure(
        'openssl is needed to make certificates and is not installed: install it ("apt install openssl") and try again',
      );
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    const last = said.split('\n').at(-1) ?? '';
    throw new Failure(
      `openssl ${args[0]} failed (${last.slice(0, 200) || 'no message'}): check the installation of openssl`,
    );
  }
}

/** Runs `use` in a temporary folder and deletes the folder with its keys afterwards. */
function inFolder<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-authority-'));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
