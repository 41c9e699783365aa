import { certificateFault, readCertificateFile, UnreadablePem } from '../../adapters/config/pem.ts';

/** A configured file that cannot be used. The message names the key, the file and the fix. */
export class UnusableFile extends Error {
  get key(): string {
    return this.message.split(':')[0] ?? '';
  }
}

/** Reads usable certificates. @throws UnusableFile */
export function certificatesOrThrow(key: string, file: string, faultOf = certificateFault): Buffer {
  try {
    return readCertificateFile(key, file, faultOf);
  } catch (error) {
    if (error instanceof UnreadablePem) throw new UnusableFile(error.message);
    throw error;
  }
}
