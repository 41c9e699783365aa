const ADVICE: readonly (readonly [reason: RegExp, advice: string])[] = [
  [/(?:digest algorithm|\bmd) too weak/i, 'have the certificate issued again with SHA-256'],
  [/\bkey too (?:small|weak)/i, 'have the certificate issued again for a key of RSA 2048 bits or EC P-256'],
  [/alert protocol version|unsupported protocol/i, 'the server must allow TLS 1.2 or newer'],
  [/wrong version number|packet length too long/i, 'check the port, which does not speak TLS'],
];

/** Advice about a TLS failure, by OpenSSL's reason; null: no reliable advice. */
export function tlsAdvice(reason: string): string | null {
  return ADVICE.find(([pattern]) => pattern.test(reason))?.[1] ?? null;
}

/** Advice as a sentence. */
export const fixOf = (advice: string): string => `${advice.charAt(0).toUpperCase()}${advice.slice(1)}.`;
