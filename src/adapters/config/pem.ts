import { LARGEST_CONFIG_BYTES, readBoundedFile, UnreadableFile } from './read-file.ts';

/** A certificate file cannot be read; the message names key and file. */
export class UnreadablePem extends Error {}

const CERTIFICATE = /-----BEGIN (TRUSTED )?CERTIFICATE-----/;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;

export function holdsCertificate(text: string): boolean {
  return CERTIFICATE.test(text);
}

export function holdsPrivateKey(text: string): boolean {
  return PRIVATE_KEY.test(text);
}

/** Reads a certificate or authority as it stands. @param key of the configuration, for the error. @throws UnreadablePem */
export function readPem(key: string, file: string): Buffer {
  try {
    return readBoundedFile(file, LARGEST_CONFIG_BYTES).bytes;
  } catch (error) {
    const reason = error instanceof UnreadableFile ? (error.code ?? error.message) : 'unknown reason';
    throw new UnreadablePem(`${key}: the file ${file} cannot be read (${reason})`);
  }
}
