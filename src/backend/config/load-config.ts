/** Reads the backend's configuration: defaults, the file, then the environment `DRAGOMAN_BACKEND_...`. */
import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import * as z from 'zod';
import { withPlaces } from '../../adapters/config/file-places.ts';
import { type Path, type Position, parseJsonc } from '../../adapters/config/jsonc.ts';
import { suggest } from '../../adapters/config/known-keys.ts';
import { formatPath } from '../../adapters/config/layer.ts';
import { certificateFault, ownCertificateFault, readCertificateFile } from '../../adapters/config/pem.ts';
import { placeIn } from '../../adapters/config/place-in.ts';
import { readConfigText } from '../../adapters/config/read-file.ts';
import { readKey, readPassword, readSecret } from '../../adapters/config/secret.ts';
import { showValue } from '../../adapters/config/show-value.ts';
import { unreadableReason } from '../../adapters/config/text-file.ts';
import { KeyError, type PrivateKey, parsePrivateKey } from '../../adapters/signing/signing-keys.ts';
import { type BackendConfig, backendConfigSchema, MEMORY_STORE } from '../../protocol/backend-config.ts';
import { isObject } from '../../protocol/common/json.ts';
import type { BackendSecrets } from './secrets.ts';

const PREFIX = 'DRAGOMAN_BACKEND_';
/** Largest number of problems that are listed. */
const MOST_PROBLEMS = 100;

export type Environment = Readonly<Record<string, string | undefined>>;

/** The problems of the configuration, one line each. No line contains a secret. */
export class ConfigProblems extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

interface Leaf {
  readonly path: readonly string[];
  readonly types: readonly string[];
}

/** @throws ConfigProblems with all problems that can be found at once */
export function loadBackendConfig(file: string | null, env: Environment): BackendConfig {
  const { merged, problems, place } = readLayers(file, env);
  const parsed = backendConfigSchema.safeParse(merged);
  if (parsed.success && problems.length === 0) return withPaths(withPlaces(parsed.data, file, env), file);
  for (const issue of parsed.error?.issues ?? [])
    problems.push(...explain(issue, merged, MOST_PROBLEMS, place));
  const more = problems.length - MOST_PROBLEMS;
  throw new ConfigProblems([
    ...problems.slice(0, MOST_PROBLEMS),
    ...(more > 0 ? ['... and more problems'] : []),
  ]);
}

interface Layers {
  readonly merged: unknown;
  readonly problems: string[];
  /** Where a value is set: the variable, or file, line and column; empty: nowhere. */
  place(path: readonly PropertyKey[]): string;
}

function readLayers(file: string | null, env: Environment): Layers {
  const fromFile = file === null ? NOTHING : readFile(file);
  const problems: string[] = [];
  const variables = new Map<string, string>();
  const merged = applyEnvironment(fromFile.value, env, problems, variables);
  const place = (path: readonly PropertyKey[]): string => {
    const variable = variables.get(formatPath(path));
    return variable ?? (file === null ? '' : placeIn(file, path, fromFile.locate));
  };
  return { merged, problems, place };
}

/** Prepends the place of the key to each problem that begins with a key, such as `service.apiKeyFile: ...`. */
export function withPlacesOfKeys(
  problems: readonly string[],
  file: string | null,
  env: Environment,
): ConfigProblems {
  const { place } = readLayers(file, env);
  return new ConfigProblems(
    problems.map((problem) => {
      const where = place((/^[\w.]+/.exec(problem)?.[0] ?? '').split('.'));
      return where === '' ? problem : `${where}: ${problem}`;
    }),
  );
}

/** Makes relative paths absolute: they start at the folder of the configuration, wherever the program was started. */
function withPaths(config: BackendConfig, file: string | null): BackendConfig {
  const { store, releases } = config;
  const absolute = (path: string): string => resolve(file === null ? '.' : dirname(file), path);
  return {
    ...config,
    store: { ...store, path: store.path === MEMORY_STORE ? MEMORY_STORE : absolute(store.path) },
    releases: { ...releases, path: releases.path === null ? null : absolute(releases.path) },
  };
}

/** The content of the file, and its path. */
interface Content {
  readonly value: unknown;
  locate(path: Path): Position | undefined;
}
const NOTHING: Content = { value: {}, locate: () => undefined };

function readFile(file: string): Content {
  let text: string;
  try {
    text = readConfigText(file);
  } catch (error) {
    throw new ConfigProblems([`${file}: cannot be read${unreadableReason(error)}`]);
  }
  const parsed = parseJsonc(text);
  if (parsed.ok) return parsed;
  const { line, column } = parsed.position;
  throw new ConfigProblems([`${file}:${line}:${column}: ${parsed.message}`]);
}

/** Keys by environment variable: `service.apiKeyFile` is DRAGOMAN_BACKEND_SERVICE_API_KEY_FILE. */
export function backendVariables(): ReadonlyMap<string, Leaf> {
  const root = z.toJSONSchema(backendConfigSchema, { io: 'input' }) as Node;
  return new Map(leavesOf(root, []).map((leaf) => [PREFIX + leaf.path.map(snake).join('_'), leaf]));
}

interface Node {
  readonly type?: string;
  readonly anyOf?: readonly Node[];
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node;
}

function leavesOf(node: Node, path: readonly string[]): Leaf[] {
  const properties = Object.entries(node.properties ?? {});
  if (properties.length > 0) return properties.flatMap(([name, child]) => leavesOf(child, [...path, name]));
  const types = (node.anyOf ?? [node]).flatMap(({ type }) => type ?? []);
  // A variable cannot express exceptions by device or group; they can only be in the file.
  return types.includes('object') || node.items?.type === 'object' ? [] : [{ path, types }];
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** @param used receives the variable's name for each key that a variable sets */
function applyEnvironment(
  base: unknown,
  env: Environment,
  problems: string[],
  used: Map<string, string>,
): unknown {
  const variables = backendVariables();
  let merged = base;
  for (const [name, text] of Object.entries(env).sort()) {
    if (!name.startsWith(PREFIX) || text === undefined) continue;
    const leaf = variables.get(name);
    if (leaf === undefined) {
      const near = suggest(name, [...variables.keys()]);
      problems.push(`unknown variable ${name}${near === null ? '' : `; did you mean ${near}?`}`);
      continue;
    }
    used.set(formatPath(leaf.path), name);
    merged = withValue(merged, leaf.path, parseValue(text, leaf.types));
  }
  return merged;
}

function withValue(base: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const holder = isObject(base) ? base : {};
  return { ...holder, [key]: withValue(holder[key], rest, value) };
}

function parseValue(text: string, types: readonly string[]): unknown {
  if (text === '' && types.includes('null')) return null;
  if (types.includes('array')) return text.split(',').map((part) => part.trim());
  if (types.includes('boolean')) return text === 'true' ? true : text === 'false' ? false : text;
  const isNumber = types.includes('integer') || types.includes('number');
  return isNumber && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function explain(
  issue: z.core.$ZodIssue,
  value: unknown,
  most: number,
  place: (path: readonly PropertyKey[]) => string,
): string[] {
  const line = (path: readonly PropertyKey[], words: string): string =>
    [place(path), formatPath(path) || 'the whole', words].filter((part) => part !== '').join(': ');
  if (issue.code === 'unrecognized_keys') {
    const names = namesAt(issue.path);
    return issue.keys.slice(0, most + 1).map((key) => {
      const near = suggest(key, names);
      const hint = near === null ? '' : `; did you mean "${near}"?`;
      return line([...issue.path, key], `is not a known key${hint}`);
    });
  }
  return [line(issue.path, wordsOf(issue, value))];
}

function wordsOf(issue: z.core.$ZodIssue, value: unknown): string {
  const valueInFile = issue.path.reduce<unknown>(
    (here, step) =>
      isObject(here) ? here[String(step)] : Array.isArray(here) ? here[Number(step)] : undefined,
    value,
  );
  if (valueInFile === undefined) return 'is missing';
  const must = demandOf(issue);
  const isShown = must.startsWith('must ') && (typeof valueInFile !== 'object' || Array.isArray(valueInFile));
  const shown = isShown ? showValue(valueInFile, issue.path) : null;
  return shown === null ? must : `is ${shown}; ${must}`;
}

function demandOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  const isNumber = 'origin' in issue && (issue.origin === 'number' || issue.origin === 'int');
  if (issue.code === 'too_small' && isNumber) return `must be ${issue.minimum} or more`;
  if (issue.code === 'too_big' && isNumber) return `must be ${issue.maximum} or less`;
  return issue.message;
}

/** The names that the object at a path may have. */
function namesAt(path: readonly PropertyKey[]): string[] {
  let node: Node | undefined = z.toJSONSchema(backendConfigSchema, { io: 'input' }) as Node;
  for (const step of path) node = node?.properties?.[String(step)] ?? node?.additionalProperties;
  return Object.keys(node?.properties ?? {});
}

/**
 * Reads the secrets from the files that the configuration names. Keys are read at each use, so that they can change while the
 * backend runs.
 * @throws ConfigProblems if a file cannot be used now
 */
export function readBackendSecrets(
  config: BackendConfig,
  env: Environment,
): BackendSecrets & { jwt?: () => string; warnings: readonly string[] } {
  const problems: string[] = [];
  const warnings: string[] = [];
  const secretAt = (key: string, file: string, form: typeof readSecret): (() => string) => {
    const read = (): string => {
      const result = form(file, env);
      if (result.ok) return result.secret;
      throw new Error(`${key}: ${result.message}`);
    };
    const first = form(file, env);
    if (first.ok && first.unseen !== undefined)
      warnings.push(`${key} names ${file}: the secret in it ${first.unseen}, which is sent with it.`);
    note(problems, read);
    return read;
  };
  const pemAt = (key: string, file: string | null, faultOf = certificateFault): Buffer | undefined =>
    file === null ? undefined : note(problems, () => readCertificateFile(key, file, faultOf));
  const { mqtt, service } = config;

  const ca = pemAt('mqtt.caFile', mqtt.caFile);
  const cert = pemAt('mqtt.certFile', mqtt.certFile, ownCertificateFault);
  const privateKey =
    mqtt.keyFile === null ? undefined : note(problems, secretAt('mqtt.keyFile', mqtt.keyFile, readSecret));
  const serviceCa = pemAt('service.caFile', service.caFile);
  const { signingKeyFile } = config;
  const signingKey =
    signingKeyFile === null
      ? undefined
      : note(problems, () =>
          signingKeyAt(secretAt('signingKeyFile', signingKeyFile, readSecret), signingKeyFile),
        );
  const consoleTls = tlsAt(config.console.tls, pemAt, secretAt, problems);
  const secrets = {
    ...(signingKey && { signingKey }),
    apiKey:
      service.apiKeyFile === null
        ? () => {
            throw new Error('service.apiKeyFile is not set');
          }
        : secretAt('service.apiKeyFile', service.apiKeyFile, readKey),
    ...(service.jwtFile !== null && { jwt: secretAt('service.jwtFile', service.jwtFile, readKey) }),
    ...(mqtt.passwordFile !== null && {
      mqttPassword: secretAt('mqtt.passwordFile', mqtt.passwordFile, readPassword),
    }),
    ...(config.store.passwordFile !== null && {
      storePassword: secretAt('store.passwordFile', config.store.passwordFile, readPassword),
    }),
    ...(consoleTls !== undefined && { consoleTls }),
    ...(config.webhook !== null && {
      webhookSecret: secretAt('webhook.secretFile', config.webhook.secretFile, readKey),
    }),
    brokerTls: {
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(privateKey !== undefined && { key: Buffer.from(privateKey) }),
    },
    ...(serviceCa && { serviceCa }),
    warnings,
  };
  if (problems.length > 0) throw new ConfigProblems([...new Set(problems)]);
  return secrets;
}

/** @throws ConfigProblems if the file cannot be used now */
export function readStorePassword({ store }: BackendConfig, env: Environment): (() => string) | undefined {
  const { passwordFile } = store;
  if (passwordFile === null) return undefined;
  const read = (): string => {
    const result = readPassword(passwordFile, env);
    if (result.ok) return result.secret;
    throw new Error(`store.passwordFile: ${result.message}`);
  };
  const problems: string[] = [];
  note(problems, read);
  if (problems.length > 0) throw new ConfigProblems(problems);
  return read;
}

type Pem = (key: string, file: string | null, faultOf?: typeof certificateFault) => Buffer | undefined;
type SecretAt = (key: string, file: string, form: typeof readSecret) => () => string;

/** Returns a function that reads certificate and key of the console at each call. Undefined: the configuration names none. */
function tlsAt(
  { certFile, keyFile }: BackendConfig['console']['tls'],
  pemAt: Pem,
  secretAt: SecretAt,
  problems: string[],
): (() => { cert: string; key: string }) | undefined {
  if (certFile === null || keyFile === null) return undefined;
  pemAt('console.tls.certFile', certFile, ownCertificateFault);
  const readKeyFile = secretAt('console.tls.keyFile', keyFile, readSecret);
  const read = () => {
    const cert = readCertificateFile('console.tls.certFile', certFile, ownCertificateFault).toString('utf8');
    const key = readKeyFile();
    try {
      createSecureContext({ cert, key });
    } catch {
      throw new Error(
        'console.tls: the key does not belong to the certificate: name the two files of one pair',
      );
    }
    return { cert, key };
  };
  if (problems.length === 0) note(problems, read);
  return read;
}

function signingKeyAt(read: () => string, file: string): PrivateKey {
  try {
    return parsePrivateKey(read(), file);
  } catch (error) {
    throw error instanceof KeyError ? new Error(`signingKeyFile: ${error.message}`) : error;
  }
}

function note<T>(problems: string[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    problems.push(error instanceof Error ? error.message : 'a file cannot be read');
    return undefined;
  }
}
