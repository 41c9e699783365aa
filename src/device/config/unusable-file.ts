import { certificateFault, readCertificateFile, UnreadablePem } from '../../adapters/config/pem.ts';
import { createSignatureReader } from '../../adapters/signing/reader.ts';
import { KeyError, readPublicKey } from '../../adapters/signing/signing-keys.ts';
import type { SignatureReader } from '../../ports/signature.ts';
import type { Config } from '../../protocol/config.ts';

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

/** PEM of the service's certificate authority; undefined: the system's authorities. @throws UnusableFile */
export function serviceAuthority({ service: { caFile } }: Config): Buffer | undefined {
  return caFile === null ? undefined : certificatesOrThrow('service.caFile', caFile);
}

/** Checks the owner's signatures; null without configured keys. @throws UnusableFile */
export function ownerSignatures({ owner }: Pick<Config, 'owner'>): SignatureReader | null {
  if (owner.publicKeyFiles.length === 0) return null;
  const keys = owner.publicKeyFiles.map((file, index) => {
    try {
      return readPublicKey(file);
    } catch (error) {
      if (!(error instanceof KeyError)) throw error;
      throw new UnusableFile(`owner.publicKeyFiles[${index}]: ${error.message}`);
    }
  });
  return createSignatureReader(keys);
}
