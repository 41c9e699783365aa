import { accessSync, constants, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { describeFileProblem } from '../../../../adapters/audio/fault.ts';
import { checkWritable } from '../../../../adapters/audio/wav-writer.ts';
import {
  certificateFault,
  ownCertificateFault,
  pairFault,
  privateKeyFault,
} from '../../../../adapters/config/pem.ts';
import { LARGEST_CONFIG_BYTES, UnreadableFile } from '../../../../adapters/config/read-file.ts';
import { readPassword, readSecret } from '../../../../adapters/config/secret.ts';
import { readTextFile, unreadableReason } from '../../../../adapters/config/text-file.ts';
import { KeyError, readPublicKey } from '../../../../adapters/signing/signing-keys.ts';
import type { Config } from '../../../../protocol/config.ts';
import type { ConfigWarning } from '../../../config/config-warning-rules.ts';
import type { NamedFile } from './configuration-rules.ts';

const WRITABLE_BY_ALL = 0o002;

/** Checks every configured file with a secret or a certificate. The result reveals nothing of their content. */
export function readNamedFiles(
  { mqtt, owner, service }: Config,
  env: Readonly<Record<string, string | undefined>>,
): NamedFile[] {
  const secrets: [
    key: string,
    file: string | null,
    read: typeof readSecret,
    faultOf: (text: string) => string | null,
  ][] = [
    ['mqtt.passwordFile', mqtt.passwordFile, readPassword, () => null],
    ['mqtt.keyFile', mqtt.keyFile, readSecret, (key) => troubleWithPair(mqtt.certFile, key)],
  ];
  const certificates: [key: string, file: string | null, faultOf: typeof certificateFault][] = [
    ['mqtt.caFile', mqtt.caFile, certificateFault],
    ['mqtt.certFile', mqtt.certFile, ownCertificateFault],
    ['service.caFile', service.caFile, certificateFault],
  ];
  return [
    ...secrets.flatMap(([key, file, readFrom, faultOf]): NamedFile[] => {
      if (file === null) return [];
      const read = readFrom(file, env);
      if (!read.ok) return [{ key, trouble: read.message, path: file }];
      const fault = faultOf(read.secret);
      const warning = read.unseen === undefined ? {} : { warning: unseenWarning(key, file, read.unseen) };
      return [{ key, trouble: fault === null ? null : `the file ${file} ${fault}`, ...warning }];
    }),
    ...owner.publicKeyFiles.map((file) => ({
      key: 'owner.publicKeyFiles',
      trouble: troubleWithKey(file),
      path: file,
    })),
    ...certificates.flatMap(([key, file, faultOf]) =>
      file === null ? [] : [{ key, trouble: troubleWith(file, faultOf), path: file }],
    ),
  ];
}

/** Warnings about files that can still be used. */
export function fileWarnings(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): ConfigWarning[] {
  return readNamedFiles(config, env).flatMap(({ warning }) => warning ?? []);
}

/** @param unseen such as "ends with a blank" */
function unseenWarning(key: string, file: string, unseen: string): ConfigWarning {
  return {
    key,
    message: `names ${file}: the secret in it ${unseen}, which is sent with it`,
    fix: 'Unless the broker expects that, write the file again without it.',
  };
}

/** The fault of a key, alone or with its certificate. An unusable certificate is reported separately. */
function troubleWithPair(certFile: string | null, key: string): string | null {
  const fault = privateKeyFault(key);
  if (fault !== null || certFile === null || troubleWith(certFile) !== null) return fault;
  return pairFault(readText(certFile), key);
}

function troubleWithKey(file: string): string | null {
  try {
    readPublicKey(file);
    return null;
  } catch (error) {
    if (error instanceof KeyError) return error.message;
    throw error;
  }
}

function troubleWith(file: string, faultOf = certificateFault): string | null {
  try {
    const fault = faultOf(readText(file));
    return fault === null ? null : `the file ${file} ${fault}`;
  } catch (error) {
    return error instanceof UnreadableFile && error.code === 'ENOENT'
      ? `the file ${file} does not exist`
      : `the file ${file} cannot be read${unreadableReason(error)}`;
  }
}

function readText(file: string): string {
  return readTextFile(file, LARGEST_CONFIG_BYTES).text;
}

/** Checks the files that lanes read and write, without changing them. */
export function checkSoundFiles({ lanes }: Config): NamedFile[] {
  return lanes.flatMap(({ capture, playback }, lane): NamedFile[] => {
    const written = playback.driver === 'file' ? checkWritable(playback.path, playback.overwrite) : null;
    return [
      ...(capture.driver === 'file'
        ? [{ key: `lanes[${lane}].capture.path`, trouble: troubleHearing(capture.path) }]
        : []),
      ...(written === null ? [] : [{ key: `lanes[${lane}].playback.path`, trouble: written.message }]),
    ];
  });
}

function troubleHearing(file: string): string | null {
  try {
    accessSync(file, constants.R_OK);
    return statSync(file).isFile() ? null : `${file} is not a regular file`;
  } catch (error) {
    return describeFileProblem(error, 'read', file).message;
  }
}

/** Whether everyone on this machine may change a file. */
export function isOpenToAll(file: string): boolean {
  try {
    return (statSync(file).mode & WRITABLE_BY_ALL) !== 0;
  } catch {
    return false;
  }
}

/** The name of the user of this process; null: it has none. */
export function ownUser(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}
