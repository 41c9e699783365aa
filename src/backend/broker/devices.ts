import { X509Certificate } from 'node:crypto';
import { createSystemClock } from '../../adapters/clock.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { asWall, type WallMs } from '../../protocol/common/time.ts';
import { issueCertificate, type KeyedCertificate, listRevoked } from './authority.ts';
import { type Credential, type DeviceConfig, deviceConfig, deviceFiles } from './login-files.ts';
import { createPassword } from './password.ts';
import { deviceName, type IssuedCertificate, type Setup, type SetupDevice } from './setup.ts';
import {
  deleteLogin,
  readAuthority,
  readAuthorityCertificate,
  readSetup,
  writeLogin,
  writeSetup,
  writeSetupOnly,
} from './store.ts';

type Name = Pick<SetupDevice, 'tenant' | 'device'>;

/** The login created for a device. The password is only in its folder. */
export interface Added {
  readonly device: string;
  readonly folder: string;
  readonly config: object;
}

/** Validity of a device's certificate (days). Devices renew it after two thirds of this time. */
export const DEVICE_DAYS = 3650;

export interface AddOptions {
  /** Folder of the login files on the device. */
  readonly files: string;
  /** Validity of a certificate (days). */
  readonly days: number;
  /** Writes a device's login. Default: files in a folder below `logins`. @returns the folder of the files */
  give?(login: DeviceLogin): string;
}

/** A device's part of the configuration, its credentials, and the PEM of the authorities that it trusts. */
export interface DeviceLogin extends Name {
  readonly groups: readonly string[];
  readonly config: DeviceConfig;
  readonly credential: Credential;
  readonly ca: string;
}

type Wanted = Name & {
  /** Undefined for an existing device: its groups stay. */
  readonly groups?: readonly string[];
};

/** Adds all devices or none. */
export function addDevices(folder: string, wanted: readonly Wanted[], options: AddOptions): Added[] {
  const setup = readSetup(folder);
  refuseKnown(setup, wanted);
  return handOutAll(folder, setup, wanted, options);
}

/** Makes new logins for replacement boards and ends those of the old boards, for all devices or for none. */
export function replaceDevices(folder: string, wanted: readonly Wanted[], options: AddOptions): Added[] {
  const setup = readSetup(folder);
  const names = wanted.map(deviceName);
  if (new Set(names).size < names.length) throw new Failure('a device is named twice', EXIT.usage);
  const old = wanted.map((one) => findDevice(setup, one));
  const rest = setup.devices.filter((one) => !names.includes(deviceName(one)));
  const revoked = setup.deviceLogin === 'certificate' ? revoke(folder, setup, old) : setup.revoked;
  const asWere = wanted.map((one, index) => ({ groups: old[index]?.groups ?? [], ...one }));
  return handOutAll(folder, { ...setup, devices: rest, revoked }, asWere, options);
}

function revoke(folder: string, setup: Setup, boards: readonly SetupDevice[]): NonNullable<Setup['revoked']> {
  const nameless = boards.find(({ certificates }) => certificates.length === 0);
  if (nameless !== undefined)
    throw new Failure(
      `the certificate of ${deviceName(nameless)} is not known and cannot be revoked: disable the device, and give the new board another name`,
    );
  const before = setup.revoked?.certificates ?? [];
  const certificates = stillGood([...before, ...boards.flatMap((board) => board.certificates)]);
  return { certificates, list: listFor(folder, setup.authorities, certificates) };
}

/** One revocation list per authority, with its revoked certificates: mosquitto requires a list from each. */
export function listFor(
  folder: string,
  authorities: readonly string[],
  revoked: readonly IssuedCertificate[],
): string {
  const lists = authorities.map((name) => {
    const own = revoked.filter(({ by }) => by === name);
    const serials = own.map(({ serial, validTo }) => ({ serial, validTo: Date.parse(validTo) }));
    return listRevoked(readAuthority(folder, name), serials, now());
  });
  return lists.join('');
}

function handOutAll(
  folder: string,
  setup: Setup,
  wanted: readonly Wanted[],
  { files, days, give = (login) => handOutLogin(folder, login) }: AddOptions,
): Added[] {
  const ca = readAuthorityCertificate(folder);
  const [signing = ''] = setup.authorities;
  const authority = setup.deviceLogin === 'certificate' ? readAuthority(folder, signing) : null;
  const devices: SetupDevice[] = [];
  const added: Added[] = [];
  try {
    for (const { tenant, device, groups = [] } of wanted) {
      const name = deviceName({ tenant, device });
      const { credential, password } = createLogin(name, authority, days);
      const certificates = 'certificate' in credential ? [issuedOf(credential.certificate, signing)] : [];
      const one = { tenant, device, groups: [...groups], disabled: false, password, certificates };
      const config = deviceConfig(setup, one, files);
      const own = give({ tenant, device, groups, config, credential, ca });
      devices.push(one);
      added.push({ device: `${tenant}/${device}`, folder: own, config });
    }
    writeSetup(folder, { ...setup, devices: [...setup.devices, ...devices] });
  } catch (error) {
    for (const one of added) deleteLogin(one.folder);
    throw error;
  }
  return added;
}

function handOutLogin(folder: string, { config, credential, ca, ...name }: DeviceLogin): string {
  return writeLogin(folder, deviceName(name), deviceFiles(config, credential, ca));
}

function createLogin(
  name: string,
  authority: KeyedCertificate | null,
  days: number,
): { credential: Credential; password: SetupDevice['password'] } {
  if (authority === null) {
    const { password, hash } = createPassword();
    return { credential: { password }, password: hash };
  }
  const credential = issueCertificate(authority, { usage: 'client', name, days });
  return { credential, password: null };
}

function issuedOf(pem: string, by: string): IssuedCertificate {
  const { serialNumber, validTo } = new X509Certificate(pem);
  return { serial: serialNumber.toUpperCase(), validTo: new Date(validTo).toISOString(), by };
}

/** Records a certificate before the device gets it. @returns when the certificate expires */
export function recordCertificate(folder: string, name: Name, pem: string): number {
  const setup = readSetup(folder);
  const issued = issuedOf(pem, setup.authorities[0] ?? '');
  const wanted = deviceName(name);
  writeSetupOnly(folder, {
    ...setup,
    devices: setup.devices.map((one) =>
      deviceName(one) === wanted ? { ...one, certificates: [...stillGood(one.certificates), issued] } : one,
    ),
  });
  return Date.parse(issued.validTo);
}

/** Wall-clock time for revocation lists; 0 if the clock was never set. */
function now(): WallMs {
  return createSystemClock().wall() ?? asWall(0);
}

function stillGood(issued: readonly IssuedCertificate[]): IssuedCertificate[] {
  return issued.filter(({ validTo }) => Date.parse(validTo) > now());
}

function refuseKnown({ devices }: Setup, wanted: readonly Name[]): void {
  const known = new Set(devices.map(deviceName));
  for (const one of wanted) {
    const name = deviceName(one);
    if (known.has(name))
      throw new Failure(
        `${one.tenant}/${one.device} has a login already, or is named twice; --replace gives a device a new login, and ends the old one`,
        EXIT.usage,
      );
    known.add(name);
  }
}

export function changeDevice(
  folder: string,
  name: Name,
  changes: Partial<Pick<SetupDevice, 'groups' | 'disabled'>>,
): void {
  const setup = readSetup(folder);
  const wanted = deviceName(findDevice(setup, name));
  const devices = setup.devices.map((one) => (deviceName(one) === wanted ? { ...one, ...changes } : one));
  writeSetup(folder, { ...setup, devices });
}

/** @throws Failure if the set-up does not know the device */
function findDevice({ devices }: Setup, name: Name): SetupDevice {
  const wanted = deviceName(name);
  const device = devices.find((one) => deviceName(one) === wanted);
  if (device !== undefined) return device;
  throw new Failure(
    `${name.tenant}/${name.device} has no login here: "dragoman-backend devices list" shows those that have`,
    EXIT.usage,
  );
}
