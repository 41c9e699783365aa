import { createSigner } from '../../adapters/signing/signer.ts';
import type { CtlDeps } from './deps.ts';

/**
 * A message as it is published: signed where the profile has a key (a device that asks for no signature
 * reads it all the same), and else as it is.
 * @param about the topic base of the device, group or fleet that it is for
 * @param outer what stands beside the signature
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
