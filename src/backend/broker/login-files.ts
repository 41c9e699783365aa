/** The files of each login, for the folder of the device, the backend or the person. */
import { join } from 'node:path';
import type { KeyedCertificate } from './authority.ts';
import { BACKEND_NAME, deviceName, type Setup, type SetupDevice } from './setup.ts';

export type Credential = { readonly password: string } | KeyedCertificate;

/** File name, and name of the systemd credential in the units. */
const PASSWORD_FILE = 'mqtt-password';
const CA_FILE = 'broker-ca.crt';
/** The owner's private key, for logins that may sign. */
const SIGNING_FILE = 'signing.key.pem';

function address(host: string, port: number): string {
  return `mqtts://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** A device's part of the configuration. */
export interface DeviceConfig {
  readonly device: { readonly tenant: string; readonly id: string; readonly groups: readonly string[] };
  readonly mqtt: {
    readonly url: string;
    readonly prefix: string;
    readonly username: string;
    readonly caFile: string;
    readonly certFile?: string;
    readonly keyFile?: string;
    readonly passwordFile?: string;
  };
}

/** @param files folder of the files on the device; ".": beside its configuration, or in `secrets` there */
export function deviceConfig(setup: Setup, device: SetupDevice, files: string): DeviceConfig {
  const at = (name: string): string => join(files, name);
  const login =
    device.password === null
      ? { certFile: at('mqtt.crt'), keyFile: at('mqtt.key') }
      : { passwordFile: at(PASSWORD_FILE) };
  return {
    device: { tenant: device.tenant, id: device.device, groups: device.groups },
    mqtt: {
      url: address(setup.host, setup.devicePort),
      prefix: setup.prefix,
      username: deviceName(device),
      ...login,
      caFile: at(CA_FILE),
    },
  };
}

export function deviceFiles(config: object, credential: Credential, ca: string): Record<string, string> {
  const login =
    'password' in credential
      ? { [PASSWORD_FILE]: credential.password }
      : { 'mqtt.crt': credential.certificate, 'mqtt.key': credential.key };
  return { 'broker.json': pretty(config), ...login, [CA_FILE]: ca };
}

export function backendFiles(
  setup: Setup,
  password: string,
  ca: string,
  signingKey: string,
): Record<string, string> {
  const mqtt = {
    url: address(setup.host, setup.peoplePort),
    prefix: setup.prefix,
    username: BACKEND_NAME,
    passwordFile: PASSWORD_FILE,
    caFile: CA_FILE,
    shareGroup: setup.backend.shareGroup,
  };
  const config = { mqtt, signingKeyFile: SIGNING_FILE };
  return {
    'backend.json': pretty(config),
    [PASSWORD_FILE]: password,
    [CA_FILE]: ca,
    [SIGNING_FILE]: signingKey,
  };
}

/**
 * Files for `~/.config/dragoman`: the profile, and beside it the files that the profile names.
 * @param signingKey null: this person signs nothing
 * @param setupFile on this computer; it holds hashes of passwords and is not handed out
 */
export function personFiles(
  setup: Setup,
  name: string,
  password: string,
  ca: string,
  signingKey: string | null,
  setupFile: string,
): Record<string, string> {
  const { tenant, prefix } = setup;
  const profile = {
    url: address(setup.host, setup.peoplePort),
    prefix,
    tenant,
    username: name,
    passwordFile: PASSWORD_FILE,
    caFile: CA_FILE,
    ...(signingKey !== null && { signingKeyFile: SIGNING_FILE }),
    setupFile,
  };
  const profiles = { profiles: { [tenant]: profile }, default: tenant };
  return {
    'ctl.json': pretty(profiles),
    [PASSWORD_FILE]: password,
    [CA_FILE]: ca,
    ...(signingKey !== null && { [SIGNING_FILE]: signingKey }),
  };
}

function pretty(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
