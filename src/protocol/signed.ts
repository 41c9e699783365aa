/** Signed messages (docs/backend.md): `{"id","jws"}`, where the JWS holds the whole body, `device` and `iat`. */
import { z } from 'zod';
import { requestIdSchema } from './mqtt/envelope.ts';

/** The only algorithm: EdDSA with Ed25519. */
export const SIGNATURE_ALGORITHM = 'EdDSA';

/** `typ` of the JWS: what kind of message it is, so that none is taken for another. */
export type SignedType = 'dragoman+token' | 'dragoman+command' | 'dragoman+config';

/** The longest message that is looked at; a token's answer is a tenth of it. Characters. */
export const LONGEST_ANSWER = 65_536;

/** What stands outside; a retained `config/desired` has no id. */
export const signedEnvelopeSchema = z.looseObject({
  id: requestIdSchema.optional().describe('the same as the `id` that was signed'),
  jws: z.string().min(1).describe('a compact JWS, see [backend.md](backend.md#signed-answers)'),
});
