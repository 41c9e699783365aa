import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { isObject } from '../../protocol/common/json.ts';
import { type CtlProfile, ctlProfileSchema, ctlProfilesSchema } from '../../protocol/ctl-profiles.ts';
import { parseJsonc } from '../config/jsonc.ts';
import { suggest } from '../config/known-keys.ts';
import { formatPath } from '../config/layer.ts';
import { certificateFault, ownCertificateFault, readCertificateFile, UnreadablePem } from '../config/pem.ts';
import { placeIn } from '../config/place-in.ts';
import { readConfigText, UnreadableFile } from '../config/read-file.ts';
import { readPassword, readSecret, type SecretResult } from '../config/secret.ts';
import { showValue } from '../config/show-value.ts';
import type { MqttConnection } from '../mqtt/endpoint.ts';
import { KeyError, type PrivateKey, parsePrivateKey } from '../signing/signing-keys.ts';
import { type RegisteredDevice, readRegistered } from './registered.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A profile that cannot be used; the message names file and field, and what to do. */
export class ProfileError extends Error {}

/** The operator's access to the broker. */
export interface OperatorAccess {
  readonly profile: CtlProfile;
  readonly connection: MqttConnection;
  /** Null when the profile names none: devices then refuse everything that must be signed. */
  readonly signingKey: PrivateKey | null;
  /** The devices that have a login, if the profile names a set-up. */
  readonly registered?: readonly RegisteredDevice[];
  /** Warnings about files that can still be used. */
  readonly warnings?: readonly string[];
}

const EXAMPLE =
  '{"profiles": {"museum": {"url": "mqtts://broker.example:8883", "tenant": "museum", "username": "operator", "passwordFile": "password"}}}';

/** The path of the profiles: `ctl.json` in the folder `dragoman` of the user's configuration. */
export function profilesFile(env: Environment): string {
  const base = env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config');
  return join(base, 'dragoman', 'ctl.json');
}

/**
 * Reads the profile with this name, or the default one, or the only one.
 * @param clientId of the connection; two connections at a time must not share it
 * @throws ProfileError
 */
export function openProfile(name: string | undefined, env: Environment, clientId: string): OperatorAccess {
  const file = profilesFile(env);
  const read = readProfiles(file);
  const chosen = chooseProfile(read, name, file);
  const { profile } = chosen;
  /** The place of a key of the profile. */
  const placeOf = (key: string): string => read.place(['profiles', chosen.name, key]);
  const folder = dirname(file);
  const at = (path: string): string => (isAbsolute(path) ? path : join(folder, path));
  const field = <T>(path: string | null, open: (path: string) => T): T | undefined =>
    path === null ? undefined : open(at(path));
  const pem = (key: string, faultOf: typeof certificateFault) => (path: string) => {
    try {
      return readCertificateFile(key, path, faultOf);
    } catch (error) {
      if (error instanceof UnreadablePem) throw new ProfileError(`${placeOf(key)}: ${error.message}`);
      throw error;
    }
  };
  const warnings: string[] = [];
  const secret = (key: string, form: typeof readSecret) => (path: string) => {
    const found = form(path, env);
    if (found.ok && found.unseen !== undefined)
      warnings.push(`${key} names ${path}: the secret in it ${found.unseen}, which is sent with it.`);
    return secretOr(`${placeOf(key)}: ${key}`, found);
  };
  const ca = field(profile.caFile, pem('caFile', certificateFault));
  const cert = field(profile.certFile, pem('certFile', ownCertificateFault));
  const key = field(profile.keyFile, secret('keyFile', readSecret));
  const password = field(profile.passwordFile, secret('passwordFile', readPassword));
  const signing = field(profile.signingKeyFile, (path) =>
    readSigningKey(`${placeOf('signingKeyFile')}: signingKeyFile`, path, env),
  );
  return {
    profile,
    signingKey: signing ?? null,
    registered:
      field(profile.setupFile, (path) =>
        registeredAt(path, profile.tenant, warnings, placeOf('setupFile')),
      ) ?? [],
    warnings,
    connection: {
      url: profile.url,
      clientId,
      version: profile.version,
      ...(profile.username !== null && { username: profile.username }),
      ...(password !== undefined && { password: () => password }),
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key !== undefined && { key: Buffer.from(key) }),
    },
  };
}

/** A profile from "broker init" names a file on the owner's computer. Elsewhere it is missing, which must not stop anything else. */
function registeredAt(
  file: string,
  tenant: string,
  warnings: string[],
  place: string,
): readonly RegisteredDevice[] {
  try {
    const registered = readRegistered(file, tenant);
    if (registered !== null) return registered;
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    warnings.push(
      `setupFile: ${file} cannot be read: ${error.message}; kiosks that have never connected are not listed. Correct it, or set it to null.`,
    );
    return [];
  }
  throw new ProfileError(
    `${place}: setupFile: ${file} is not the setup.json of "dragoman-backend broker init"`,
  );
}

interface Profiles {
  readonly profiles: Readonly<Record<string, CtlProfile>>;
  readonly default?: string | undefined;
  /** File, line and column of a value. */
  place(path: readonly PropertyKey[]): string;
}

function readProfiles(file: string): Profiles {
  let text: string;
  try {
    text = readConfigText(file);
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    if (error.code !== 'ENOENT') throw new ProfileError(`${file} cannot be read: ${error.message}`);
    throw new ProfileError(
      `there is no ${file}, which describes how to reach the broker; create it, for example: ${EXAMPLE}`,
    );
  }
  const json = parseJsonc(text);
  if (!json.ok) {
    const { line, column } = json.position;
    throw new ProfileError(`${file}:${line}:${column}: ${json.message}`);
  }
  const parsed = ctlProfilesSchema.safeParse(json.value);
  const placeOf = (path: readonly PropertyKey[]): string => placeIn(file, path, json.locate);
  if (parsed.success) return { profiles: parsed.data.profiles, default: parsed.data.default, place: placeOf };
  const [issue] = parsed.error.issues;
  if (issue === undefined) throw new ProfileError(`${file}: is not valid`);
  const key = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const place = placeOf([...issue.path, ...key]);
  throw new ProfileError(`${place}: ${wordIssue(issue, json.value)}`);
}

function wordIssue(
  issue: { code?: string; path: PropertyKey[]; message: string; keys?: string[] },
  value: unknown,
): string {
  const path = formatPath(issue.path) || 'the whole';
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys ?? [];
    const near = suggest(
      key,
      issue.path.length === 0 ? ['profiles', 'default'] : Object.keys(ctlProfileSchema.shape),
    );
    const hint = near === null ? '' : `; did you mean "${near}"?`;
    return `${formatPath([...issue.path, key])}: is not a known key${hint}`;
  }
  const valueInFile = issue.path.reduce<unknown>(
    (here, step) => (isObject(here) ? here[String(step)] : undefined),
    value,
  );
  if (valueInFile === undefined && issue.path.length > 0) return `${path}: is missing`;
  const { message } = issue;
  const isShown =
    message.startsWith('must ') && (typeof valueInFile !== 'object' || Array.isArray(valueInFile));
  const shown = isShown ? showValue(valueInFile, issue.path) : null;
  return `${path}: ${shown === null ? message : `is ${shown}; ${message}`}`;
}

function chooseProfile(
  { profiles, default: usual, place }: Profiles,
  wanted: string | undefined,
  file: string,
): { readonly name: string; readonly profile: CtlProfile } {
  const names = Object.keys(profiles);
  const name = wanted ?? usual ?? (names.length === 1 ? names[0] : undefined);
  if (name === undefined) {
    throw new ProfileError(
      `${file} has several profiles (${names.join(', ')}): name one with --profile, or set "default"`,
    );
  }
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile !== undefined) return { name, profile };
  const near = suggest(name, names);
  const hint = near === null ? `there are ${names.join(', ')}` : `did you mean "${near}"?`;
  if (wanted === undefined)
    throw new ProfileError(`${place(['default'])}: default: is "${name}", which is not a profile; ${hint}`);
  throw new ProfileError(`${file} has no profile "${name}"; ${hint}`);
}

function secretOr(key: string, read: SecretResult): string {
  if (!read.ok) throw new ProfileError(`${key}: ${read.message}`);
  return read.secret;
}

function readSigningKey(what: string, file: string, env: Environment): PrivateKey {
  try {
    return parsePrivateKey(secretOr(what, readSecret(file, env)), file);
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    throw new ProfileError(`${what}: ${error.message}`);
  }
}
