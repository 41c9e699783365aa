import type { SignatureReader } from '../../src/ports/signature.ts';

/** Signatures are verified off the virtual clock: `settle` resolves when all pending ones are done. */
export function watchedSignatures(reader: SignatureReader) {
  const openings: Promise<unknown>[] = [];
  const signatures: SignatureReader = {
    open(jws) {
      const opening = reader.open(jws);
      openings.push(opening);
      return opening;
    },
  };
  const settle = async (): Promise<void> => {
    await Promise.all(openings.splice(0));
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { signatures, settle };
}
