/** `broker init`: writes a mosquitto configuration in which each device reaches only its own topics. */
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createKeyPair } from '../../adapters/signing/signing-keys.ts';
import { BACKEND_GROUP } from '../../protocol/mqtt/topics.ts';
import type { Role } from './access.ts';
import { createAuthority, issueCertificate } from './authority.ts';
import { explainSetup } from './explanation.ts';
import { backendFiles, personFiles } from './login-files.ts';
import { createPassword } from './password.ts';
import type { Setup } from './setup.ts';
import {
  createFolders,
  SETUP_FILE,
  writeCertificates,
  writeLogin,
  writeOwnerKey,
  writeSetup,
} from './store.ts';

/** Choices that never change after `broker init`. */
export type Chosen = Omit<Setup, 'format' | 'backend' | 'people' | 'devices' | 'revoked' | 'authorities'> & {
  readonly people: readonly { readonly name: string; readonly role: Role }[];
};

/** Validity of the broker's certificate (days). The owner renews it manually, see docs/fleet.md. */
export const SERVER_DAYS = 3650;

/** A random name, because a client that knew the name could join the group. */
function shareGroup(): string {
  return `${BACKEND_GROUP}-${randomBytes(12).toString('hex')}`;
}

/** @returns the folders of the logins, by name */
export function initBroker(given: string, chosen: Chosen): { folder: string; handedOut: string[] } {
  const folder = resolve(given);
  createFolders(folder);
  try {
    const authority = createAuthority(`${chosen.tenant} broker authority`);
    const server = issueCertificate(authority, { usage: 'server', name: chosen.host, days: SERVER_DAYS });
    writeCertificates(folder, authority, server);
    const backend = createPassword();
    const owner = createKeyPair();
    writeOwnerKey(folder, owner.publicPem);
    const people = chosen.people.map((person) => ({ ...person, made: createPassword() }));
    const setup: Setup = {
      ...chosen,
      format: 1,
      devices: [],
      revoked: null,
      authorities: ['ca'],
      backend: { password: backend.hash, shareGroup: shareGroup() },
      people: people.map(({ name, role, made }) => ({ name, role, password: made.hash })),
    };
    const ca = authority.certificate;
    const handedOut = [
      writeLogin(folder, 'backend', backendFiles(setup, backend.password, ca, owner.privatePem)),
      ...people.map(({ name, role, made }) => {
        const signingKey = role === 'administrator' ? owner.privatePem : null;
        return writeLogin(
          folder,
          name,
          personFiles(setup, name, made.password, ca, signingKey, join(folder, SETUP_FILE)),
        );
      }),
    ];
    writeFileSync(join(folder, 'README.txt'), explainSetup(setup), { mode: 0o600 });
    writeSetup(folder, setup);
    return { folder, handedOut };
  } catch (error) {
    // Safe, because the folder was empty or missing before.
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}
