import * as z from 'zod';
import { requestIdSchema, timestampSchema } from './envelope.ts';

/** Maximum length of a PEM text (characters): enough for a chain of four certificates with long names. */
const MOST_PEM_CHARS = 16_384;

/** `{p}/cert/req`, retained: the device requests a new client certificate. Its private key never leaves it. */
export const certificateRequestSchema = z.looseObject({
  ts: timestampSchema.describe('time of sending; null while the clock is not set'),
  id: requestIdSchema.describe('at least 96 random bits; the command `certificate` refers to it'),
  csr: z
    .string()
    .min(1)
    .max(MOST_PEM_CHARS)
    .describe('certificate request, PEM (PKCS #10): P-256, ECDSA with SHA-256'),
  valid_to: timestampSchema.describe('expiry of the current certificate'),
});
export type CertificateRequestMessage = z.infer<typeof certificateRequestSchema>;

/** The answer, as arguments of the command `certificate`. Without arguments the device sends a request now. */
export const certificateArgsSchema = z
  .strictObject({
    request: requestIdSchema.optional().describe('the `id` of the request'),
    certificate: z
      .string()
      .min(1)
      .max(MOST_PEM_CHARS)
      .refine(
        (pem) => !pem.includes('PRIVATE KEY'),
        'must not contain a private key, which belongs to the device alone: make a new key pair',
      )
      .optional()
      .describe('the certificate, PEM; intermediate certificates may follow'),
  })
  .refine(
    ({ request, certificate }) => (request === undefined) === (certificate === undefined),
    'needs "request" and "certificate", or neither',
  );
