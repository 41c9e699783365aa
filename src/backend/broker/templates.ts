/** Reads a template and writes the provisioning files generated from it. Each file passes the same checks as on the device. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { decodeText, SAVE_AS_UTF8 } from '../../adapters/config/encoding.ts';
import { parseJsonc } from '../../adapters/config/jsonc.ts';
import { readBoundedFile, UnreadableFile } from '../../adapters/config/read-file.ts';
import { KeyError, readPublicKey } from '../../adapters/signing/signing-keys.ts';
import { systemReason } from '../../adapters/system-error.ts';
import { checkConfigPart } from '../../installer/config-check.ts';
import { configPart } from '../../installer/core/config-part.ts';
import { PROVISIONING_FILE, type ProvisioningProblem } from '../../installer/core/outcome.ts';
import { type Facts, planProvisioning } from '../../installer/core/plan.ts';
import { problemLine } from '../../installer/core/status-text.ts';
import { readDocument, syntaxProblem } from '../../installer/document.ts';
import { checkKeys } from '../../installer/key-check.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { isObject } from '../../protocol/common/json.ts';
import {
  brokenPartOf,
  cloudInit,
  namesHosts,
  ownKeyIn,
  provisioningFile,
  withNumber,
} from './card-settings.ts';
import type { DeviceLogin } from './devices.ts';
import { OWNER_KEY, writeNew } from './store.ts';

const LARGEST_TEMPLATE_BYTES = 1_000_000;
const MOST_TOLD = 5;
/** Facts of a device at the first boot from its card. */
const FRESH_DEVICE: Omit<Facts, 'keyProblems' | 'configProblems'> = {
  network: 'networkd',
  wifiKey: '',
  present: () => null,
  zoneFor: (name) => name,
  readsSshKeys: true,
  isSetUp: false,
};

export type Template = Readonly<Record<string, unknown>>;

/** @throws Failure */
export function readTemplate(file: string): Template {
  const parsed = parseJsonc(readTemplateText(file));
  if (!parsed.ok) {
    const { field, message, fix } = syntaxProblem(parsed);
    throw new Failure(`${file}, ${field}: ${message}. ${fix}`, EXIT.usage);
  }
  if (!isObject(parsed.value)) throw new Failure(`${file} must hold one object, in braces`, EXIT.usage);
  const own = ownKeyIn(parsed.value);
  if (own !== null)
    throw new Failure(`${file}: ${own} must be left out: each device gets its own value`, EXIT.usage);
  const broken = brokenPartOf(parsed.value);
  if (broken !== null) throw new Failure(`${file}: ${broken} must be an object, in braces`, EXIT.usage);
  if (!namesHosts(parsed.value))
    throw new Failure(
      `${file}: config.service.hosts is missing: list the hosts of the translation service, such as ["stream.example"]; tokens go nowhere else`,
      EXIT.usage,
    );
  return parsed.value;
}

/**
 * PEM of public keys: those that the operator names, otherwise the one of the set-up.
 * @throws Failure, also if there is no key: the devices would accept answers from anyone
 */
export function readOwnerKeys(broker: string, named: readonly string[]): string[] {
  const own = join(broker, OWNER_KEY);
  if (named.length === 0 && !existsSync(own))
    throw new Failure(
      `the set-up has no ${OWNER_KEY}: make keys with "dragoman-backend keys create", and give the public one with --owner-key`,
      EXIT.usage,
    );
  return (named.length === 0 ? [own] : named).map((file) => {
    try {
      readPublicKey(file);
    } catch (error) {
      if (error instanceof KeyError)
        throw new Failure(`the owner's key (--owner-key): ${error.message}`, EXIT.usage);
      throw error;
    }
    return readText('the key', file);
  });
}

/** Reads a template in any encoding that a text editor may have written. */
function readTemplateText(file: string): string {
  const text = decodeText(readBytes('the template', file));
  if (text !== null) return text;
  throw new Failure(`${file} holds letters in another encoding than UTF-8. ${SAVE_AS_UTF8}`, EXIT.usage);
}

const readText = (what: string, file: string): string => readBytes(what, file).toString('utf8');

function readBytes(what: string, file: string): Buffer {
  try {
    return readBoundedFile(file, LARGEST_TEMPLATE_BYTES).bytes;
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    const meant = error.code === 'ENOENT' && existsSync(`${file}.txt`);
    const fix = meant ? ` But ${file}.txt exists: Windows hides file extensions. Rename it.` : '';
    throw new Failure(`${what} ${file} cannot be read: ${error.message}.${fix}`, EXIT.usage);
  }
}

/** Makes a private folder. @throws Failure if the folder is not empty */
export function makeOutFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (readdirSync(folder).length === 0) return;
  } catch (error) {
    throw new Failure(`${folder} cannot be made (${systemReason(error)}): give another folder`);
  }
  throw new Failure(`${folder} is not empty and is left as it is: give a new folder`);
}

export interface FileForm {
  readonly out: string;
  readonly isCloudInit: boolean;
  readonly ownerKeys: readonly string[];
}

/** @returns the folder of the device's file. @throws Failure that names the problem in the template */
export function writeDeviceFile(
  template: Template,
  number: string,
  login: DeviceLogin,
  { out, isCloudInit, ownerKeys }: FileForm,
): string {
  const filled = withNumber(template, number);
  // The device fills in the names of the credential files.
  const { url, prefix, username } = login.config.mqtt;
  const { sshKeys, ...others } = provisioningFile(
    isObject(filled) ? filled : {},
    { ...login, mqtt: { url, prefix, username } },
    ownerKeys,
  );
  const keys = check({ ...others, ...(sshKeys !== undefined && { sshKeys }) });
  const isKept = sshKeys !== undefined && !isCloudInit;
  const text = `${JSON.stringify({ ...others, ...(isKept && { sshKeys }) }, null, 2)}\n`;
  const folder = join(out, login.device);
  mkdirSync(folder, { mode: 0o700 });
  if (isCloudInit) {
    const encoded = Buffer.from(text).toString('base64');
    writeNew(join(folder, 'user-data'), cloudInit(login, encoded, keys));
  } else writeNew(join(folder, PROVISIONING_FILE), text);
  return folder;
}

/** @returns the public keys of the people. @throws Failure */
function check(value: object): readonly string[] {
  const read = readDocument(JSON.stringify(value));
  if (!read.ok) throw asFailure(read.problems);
  const { document } = read;
  const plan = planProvisioning(document, {
    ...FRESH_DEVICE,
    keyProblems: checkKeys(document, null, null).problems,
    configProblems: checkConfigPart(configPart(document, null).value, () => undefined, null).problems,
  });
  const problems = plan.ok ? plan.missing : plan.problems;
  if (problems.length > 0) throw asFailure(problems);
  return document.sshKeys ?? [];
}

function asFailure(problems: readonly ProvisioningProblem[]): Failure {
  // Line numbers would be those of the generated file, not of the template.
  const listed = problems
    .slice(0, MOST_TOLD)
    .map((problem) => problemLine(problem).replace(/ \(line \d+, column \d+\)/, ''))
    .join('\n- ');
  return new Failure(
    `the template makes files that a device would refuse; nothing was made. Correct the template:\n- ${listed}`,
    EXIT.usage,
  );
}
