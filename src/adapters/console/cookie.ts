/** The cookie of a session. */

/** Browsers take `__Host-` only with Secure, Path=/ and without Domain: no other host or subdomain can set it. */
const SECURE_NAME = '__Host-dragoman';
/** On loopback without TLS, where `__Host-` is impossible. */
const PLAIN_NAME = 'dragoman-loopback';

const nameFor = (isSecure: boolean): string => (isSecure ? SECURE_NAME : PLAIN_NAME);

export function readCookie(header: string | undefined, isSecure: boolean): string | null {
  const wanted = nameFor(isSecure);
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=');
    if (part.slice(0, at).trim() === wanted) return part.slice(at + 1).trim();
  }
  return null;
}

/** @param maxAgeS 0 deletes it */
export function setCookie(value: string, isSecure: boolean, maxAgeS: number): string {
  const secure = isSecure ? '; Secure' : '';
  return `${nameFor(isSecure)}=${value}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${secure}`;
}
