/** The folder of a broker's set-up: private files, files for the broker, and logins. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LARGEST_CONFIG_BYTES, UnreadableFile } from '../../adapters/config/read-file.ts';
import { readTextFile } from '../../adapters/config/text-file.ts';
import { systemCode, systemReason } from '../../adapters/system-error.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { parseJson } from '../../protocol/common/json.ts';
import type { KeyedCertificate } from './authority.ts';
import { brokerFiles } from './render.ts';
import { type Setup, setupSchema } from './setup.ts';

export const SETUP_FILE = 'setup.json';
const AUTHORITY = 'authority';
const BROKER = 'broker';
export const LOGINS = 'logins';
/** The owner's public key. */
export const OWNER_KEY = 'owner.pub.pem';

/** @throws Failure if the folder is not a set-up */
export function readSetup(folder: string): Setup {
  const file = join(folder, SETUP_FILE);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Failure(
      `${file} cannot be read (${systemReason(error)}): give the folder that "dragoman-backend broker init" has made`,
      EXIT.usage,
    );
  }
  const json = parseJson(text);
  if (json === undefined)
    throw new Failure(`${file} is not JSON: take it from a copy of the folder`, EXIT.usage);
  const read = setupSchema.safeParse(json);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Failure(
    `${file}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not valid'}; take it from a copy of the folder`,
    EXIT.usage,
  );
}

/** Writes the set-up first, then the files generated from it. The next call repairs an interrupted write. */
export function writeSetup(folder: string, setup: Setup): void {
  guarded(folder, () => {
    replace(join(folder, SETUP_FILE), `${JSON.stringify(setup, null, 2)}\n`);
    for (const [name, text] of Object.entries(brokerFiles(setup))) replace(join(folder, BROKER, name), text);
  });
}

/** Writes the set-up only, after a change that does not affect the broker's files. */
export function writeSetupOnly(folder: string, setup: Setup): void {
  guarded(folder, () => replace(join(folder, SETUP_FILE), `${JSON.stringify(setup, null, 2)}\n`));
}

export function createFolders(folder: string): void {
  guarded(folder, () => {
    if (existsSync(folder) && readdirSync(folder).length > 0)
      throw new Failure(`${folder} is not empty and is left as it is: give a new folder`);
    for (const part of ['', AUTHORITY, BROKER, join(BROKER, 'store'), LOGINS])
      mkdirSync(join(folder, part), { recursive: true, mode: 0o700 });
  });
}

export function writeCertificates(
  folder: string,
  authority: KeyedCertificate,
  server: KeyedCertificate,
): void {
  guarded(folder, () => {
    writeNew(join(folder, AUTHORITY, 'ca.key'), authority.key);
    writeNew(join(folder, AUTHORITY, 'ca.crt'), authority.certificate);
    writeNew(join(folder, BROKER, 'ca.crt'), authority.certificate);
    writeNew(join(folder, BROKER, 'server.crt'), server.certificate);
    writeNew(join(folder, BROKER, 'server.key'), server.key);
  });
}

export function writeOwnerKey(folder: string, publicPem: string): void {
  guarded(folder, () => writeNew(join(folder, OWNER_KEY), publicPem));
}

/** PEM of all valid authorities. */
export function readAuthorityCertificate(folder: string): string {
  return guarded(folder, () => readPemText(join(folder, BROKER, 'ca.crt')));
}

/** Reads one authority by its name. @throws Failure that names the missing key file */
export function readAuthority(folder: string, name: string): KeyedCertificate {
  const certificate = guarded(folder, () => readPemText(join(folder, AUTHORITY, `${name}.crt`)));
  const file = join(folder, AUTHORITY, `${name}.key`);
  try {
    return { key: readPemText(file), certificate };
  } catch (error) {
    throw new Failure(
      `the authority's key ${file} cannot be read (${whyUnreadable(error)}): copy it there from its safe place for this command`,
    );
  }
}

/** @throws Failure if an authority of this name exists */
export function writeAuthority(folder: string, name: string, authority: KeyedCertificate): void {
  guarded(folder, () => {
    writeNew(join(folder, AUTHORITY, `${name}.key`), authority.key);
    writeNew(join(folder, AUTHORITY, `${name}.crt`), authority.certificate);
  });
}

/** Writes the authorities that the broker accepts. */
export function writeTrusted(folder: string, names: readonly string[]): void {
  guarded(folder, () => {
    const all = names.map((name) => readPemText(join(folder, AUTHORITY, `${name}.crt`)));
    replace(join(folder, BROKER, 'ca.crt'), all.join(''));
  });
}

/** Writes the broker's key and certificate. If a crash leaves only the new key, mosquitto refuses to start. */
export function writeServer(folder: string, server: KeyedCertificate): void {
  guarded(folder, () => {
    replace(join(folder, BROKER, 'server.key'), server.key);
    replace(join(folder, BROKER, 'server.crt'), server.certificate);
  });
}

/** Writes a login to a folder with the login's name. @throws Failure if the folder exists */
export function writeLogin(folder: string, who: string, files: Readonly<Record<string, string>>): string {
  const own = join(folder, LOGINS, who);
  guarded(folder, () => {
    try {
      mkdirSync(own, { mode: 0o700 });
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
      throw new Failure(`${own} exists already and is not overwritten: move it away first`);
    }
    for (const [name, text] of Object.entries(files)) writeNew(join(own, name), text);
  });
  return own;
}

/** Deletes a login folder that is not in the set-up. */
export function deleteLogin(own: string): void {
  rmSync(own, { recursive: true, force: true });
}

export function writeNew(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
}

/** Replaces a file atomically: mosquitto may read it at any moment. */
function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function guarded<T>(folder: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof Failure || !(error instanceof Error) || !('code' in error)) throw error;
    throw new Failure(
      `${folder} cannot be read or written (${whyUnreadable(error)}): check its path and rights`,
    );
  }
}

/** Keeps the line end of the last block: certificates are concatenated. */
function readPemText(file: string): string {
  return readTextFile(file, LARGEST_CONFIG_BYTES).bytes.toString('utf8');
}

function whyUnreadable(error: unknown): string {
  return error instanceof UnreadableFile ? error.message : systemReason(error);
}
