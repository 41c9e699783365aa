/** Signed messages (docs/backend.md): `{"id","jws"}`. The JWS contains the whole body, `device` and `iat`. */
import * as z from 'zod';
import { requestIdSchema } from './mqtt/envelope.ts';

/** The only algorithm: EdDSA with Ed25519. */
export const SIGNATURE_ALGORITHM = 'EdDSA';

/** `typ` of the JWS: the kind of message, which prevents the use of one kind as another. */
export type SignedType = 'dragoman+token' | 'dragoman+command' | 'dragoman+config' | 'dragoman+phrases';

/** Maximum length of a signed message (characters): ten times the answer to a token request. */
export const LONGEST_ANSWER = 65_536;

/** The envelope of a signed message; a retained `config/desired` has no id. */
export const signedEnvelopeSchema = z.looseObject({
  id: requestIdSchema.optional().describe('the same as the `id` that was signed'),
  jws: z.string().min(1).describe('a compact JWS, see [backend.md](backend.md#signed-answers)'),
});
