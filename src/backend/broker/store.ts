/** The folder of a broker's set-up: what is kept here, what goes to the broker, and what is handed out. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../adapters/system-error.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { parseJson } from '../../protocol/json.ts';
import { brokerFiles } from '../core/broker/render.ts';
import { type Setup, setupSchema } from '../core/broker/setup.ts';
import type { KeyedCertificate } from './authority.ts';

const SETUP_FILE = 'setup.json';
const AUTHORITY = 'authority';
const BROKER = 'broker';
export const LOGINS = 'logins';

/** @throws Failure where the folder is no set-up */
export function readSetup(folder: string): Setup {
  const file = join(folder, SETUP_FILE);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Failure(
      `${file} cannot be read (${codeOf(error)}): give the folder that "dragoman-backend broker init" has made`,
      EXIT.usage,
    );
  }
  const json = parseJson(text);
  if (json === undefined)
    throw new Failure(`${file} is no JSON: take it from a copy of the folder`, EXIT.usage);
  const read = setupSchema.safeParse(json);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Failure(
    `${file}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not valid'}; take it from a copy of the folder`,
    EXIT.usage,
  );
}

/** The set-up first, then what is made of it: whatever is cut short between is made good by the next call. */
export function writeSetup(folder: string, setup: Setup): void {
  guarded(folder, () => {
    replace(join(folder, SETUP_FILE), `${JSON.stringify(setup, null, 2)}\n`);
    for (const [name, text] of Object.entries(brokerFiles(setup))) replace(join(folder, BROKER, name), text);
  });
}

/** The set-up alone, where nothing of the broker's files depends on what has changed. */
export function noteSetup(folder: string, setup: Setup): void {
  guarded(folder, () => replace(join(folder, SETUP_FILE), `${JSON.stringify(setup, null, 2)}\n`));
}

/** Makes the folders of a new set-up. */
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

/** Of all authorities whose certificates are good: what everybody trusts. PEM. */
export function readAuthorityCertificate(folder: string): string {
  return guarded(folder, () => readFileSync(join(folder, BROKER, 'ca.crt'), 'utf8'));
}

/** One of them, by its name. @throws Failure that says where the key may be: it is kept apart */
export function readAuthority(folder: string, name: string): KeyedCertificate {
  const certificate = guarded(folder, () => readFileSync(join(folder, AUTHORITY, `${name}.crt`), 'utf8'));
  const file = join(folder, AUTHORITY, `${name}.key`);
  try {
    return { key: readFileSync(file, 'utf8'), certificate };
  } catch (error) {
    throw new Failure(
      `the authority's key ${file} cannot be read (${codeOf(error)}): bring it from where it is kept, for as long as this takes`,
    );
  }
}

/** @throws Failure where there is one of this name */
export function writeAuthority(folder: string, name: string, authority: KeyedCertificate): void {
  guarded(folder, () => {
    writeNew(join(folder, AUTHORITY, `${name}.key`), authority.key);
    writeNew(join(folder, AUTHORITY, `${name}.crt`), authority.certificate);
  });
}

/** Whom the broker believes from now on. */
export function writeTrusted(folder: string, names: readonly string[]): void {
  guarded(folder, () => {
    const all = names.map((name) => readFileSync(join(folder, AUTHORITY, `${name}.crt`), 'utf8'));
    replace(join(folder, BROKER, 'ca.crt'), all.join(''));
  });
}

/** What the broker shows from now on. The key goes first: with the old certificate mosquitto would not start. */
export function writeServer(folder: string, server: KeyedCertificate): void {
  guarded(folder, () => {
    replace(join(folder, BROKER, 'server.key'), server.key);
    replace(join(folder, BROKER, 'server.crt'), server.certificate);
  });
}

/** Writes what somebody gets; the folder's name tells who. @throws Failure where there is such a folder */
export function handOut(folder: string, who: string, files: Readonly<Record<string, string>>): string {
  const own = join(folder, LOGINS, who);
  guarded(folder, () => {
    try {
      mkdirSync(own, { mode: 0o700 });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      throw new Failure(`${own} exists already and is not overwritten: move it away first`);
    }
    for (const [name, text] of Object.entries(files)) writeNew(join(own, name), text);
  });
  return own;
}

/** What was handed out is taken back: the set-up does not know it. */
export function takeBack(own: string): void {
  rmSync(own, { recursive: true, force: true });
}

export function writeNew(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
}

/** Whole or not at all: mosquitto may read it at any moment. */
function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function guarded<T>(folder: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof Failure || !(error instanceof Error) || !('code' in error)) throw error;
    throw new Failure(`${folder} cannot be read or written (${codeOf(error)}): check its path and rights`);
  }
}

function codeOf(error: unknown): string {
  return systemCode(error) ?? 'unknown reason';
}
