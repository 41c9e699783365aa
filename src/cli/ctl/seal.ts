import { createSigner } from '../../adapters/signing/signer.ts';
import type { CtlDeps } from './deps.ts';

/**
 * Prepares a message for publication: signed if the profile has a key, otherwise plain. Devices that need no signature
 * accept signed messages, too.
 * @param about topic base of the target: device, group or fleet
 * @param outer fields outside the signature
 */
export async function seal(
  type: 'dragoman+command' | 'dragoman+config',
  about: string,
  body: Readonly<Record<string, unknown>>,
  { access, clock }: CtlDeps,
  outer: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  if (access.signingKey === null) return JSON.stringify(body);
  const jws = await createSigner(access.signingKey).sign(type, about, body, clock.wall());
  return JSON.stringify({ ...outer, jws });
}
