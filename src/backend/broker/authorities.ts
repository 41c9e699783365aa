/** Adds a second authority beside the first, and retires the first when all certificates come from the second. */
import { Failure } from '../../program/problem.ts';
import { createAuthority, issueCertificate } from './authority.ts';
import { listFor } from './devices.ts';
import { SERVER_DAYS } from './init.ts';
import { deviceName, type Setup } from './setup.ts';
import { readAuthority, readSetup, writeAuthority, writeServer, writeSetup, writeTrusted } from './store.ts';

/** Creates a second authority. Both are valid; the first still issues. @returns the name of the second */
export function addAuthority(folder: string): string {
  const setup = readSetup(folder);
  const [first = '', second] = setup.authorities;
  if (second !== undefined)
    throw new Failure(
      'there are two authorities already: end the change that is under way with "broker authority retire"',
    );
  const number = Number(first.split('-')[1] ?? 1) + 1;
  const name = `ca-${number}`;
  writeAuthority(folder, name, createAuthority(`${setup.tenant} broker authority ${number}`));
  writeTrusted(folder, [first, name]);
  writeSetup(folder, withList(folder, { ...setup, authorities: [first, name] }));
  return name;
}

/** Makes the other authority the issuing one, and issues the broker's certificate from it. @returns the authority's name */
export function useAuthority(folder: string): string {
  const setup = readSetup(folder);
  const [first = '', second] = setup.authorities;
  if (second === undefined)
    throw new Failure('there is one authority only: make a second one with "broker authority add"');
  const server = { usage: 'server', name: setup.host, days: SERVER_DAYS } as const;
  writeServer(folder, issueCertificate(readAuthority(folder, second), server));
  writeTrusted(folder, [second, first]);
  writeSetup(folder, { ...setup, authorities: [second, first] });
  return second;
}

/**
 * Makes the authority that no longer issues invalid.
 * @param regardless retires the authority even if devices still have its certificates
 */
export function retireAuthority(folder: string, regardless: boolean): string {
  const setup = readSetup(folder);
  const [first = '', second] = setup.authorities;
  if (second === undefined) throw new Failure('there is one authority only: nothing can be retired');
  const left = devicesBy(setup, first);
  if (left.length > 0 && !regardless) {
    const some = left.slice(0, 5).join(', ') + (left.length > 5 ? `, and ${left.length - 5} more` : '');
    throw new Failure(
      `${some}: no certificate of the new authority yet, so they could no longer log in. Run "dragoman-backend devices renew --now" first, or retire it with --regardless`,
    );
  }
  writeTrusted(folder, [first]);
  writeSetup(folder, withList(folder, { ...setup, authorities: [first] }));
  return second;
}

/** Devices that may log in but have no certificate of this authority. */
function devicesBy({ devices }: Setup, authority: string): string[] {
  return devices
    .filter(({ disabled, password, certificates }) => {
      return !disabled && password === null && !certificates.some(({ by }) => by === authority);
    })
    .map(deviceName);
}

/** Once a certificate is revoked, each authority needs a revocation list: otherwise the broker refuses all devices of that authority. */
function withList(folder: string, setup: Setup): Setup {
  if (setup.revoked === null) return setup;
  const certificates = setup.revoked.certificates.filter(({ by }) => setup.authorities.includes(by));
  return { ...setup, revoked: { certificates, list: listFor(folder, setup.authorities, certificates) } };
}
