import { z } from 'zod';
import { requestIdSchema, timestampSchema } from './envelope.ts';

/** A chain of four with long names; nobody needs more. */
const MOST_PEM_CHARS = 16_384;

/** `{p}/cert/req`, retained: the device needs a new client certificate. The private key stays with it. */
export const certificateRequestSchema = z.looseObject({
  ts: timestampSchema.describe('when it was sent; null while the clock is not set'),
  id: requestIdSchema.describe('96 random bits or more; the command `certificate` names it'),
  csr: z
    .string()
    .min(1)
    .max(MOST_PEM_CHARS)
    .describe('the request in PEM (PKCS #10): P-256, ECDSA with SHA-256'),
  valid_to: timestampSchema.describe('when the present certificate ends'),
});
export type CertificateRequestMessage = z.infer<typeof certificateRequestSchema>;

/** The answer, as arguments of the command `certificate`; without any, the device is to ask now. */
export const certificateArgsSchema = z
  .strictObject({
    request: requestIdSchema.optional().describe('the `id` of the request'),
    certificate: z
      .string()
      .min(1)
      .max(MOST_PEM_CHARS)
      .optional()
      .describe('the certificate in PEM; those between it and the authority may follow'),
  })
  .refine(
    ({ request, certificate }) => (request === undefined) === (certificate === undefined),
    'needs "request" and "certificate", or neither',
  );
