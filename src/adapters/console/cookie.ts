/** The cookie of a session. */

/** Browsers accept `__Host-` only with Secure, Path=/ and without Domain: no other host or subdomain can set it. */
const SECURE_NAME = '__Host-dragoman';
/** On loopback without TLS, where `__Host-` is impossible. */
const PLAIN_NAME = 'dragoman-loopback';

/** How the browser reaches the console. */
export interface Reached {
  readonly isSecure: boolean;
  /** `https://name:port` */
  readonly origin: string;
}

/** Cookies are shared by all ports of a host: the port is in the name, so that two consoles keep their sessions apart. */
function nameFor({ isSecure, origin }: Reached): string {
  const [, port] = /:(\d{1,5})$/.exec(origin) ?? [];
  const name = isSecure ? SECURE_NAME : PLAIN_NAME;
  return port === undefined ? name : `${name}-${port}`;
}

export function readCookie(header: string | undefined, reached: Reached): string | null {
  const wanted = nameFor(reached);
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=');
    if (part.slice(0, at).trim() === wanted) return part.slice(at + 1).trim();
  }
  return null;
}

/** @param maxAgeS 0 deletes it */
export function setCookie(value: string, reached: Reached, maxAgeS: number): string {
  const secure = reached.isSecure ? '; Secure' : '';
  return `${nameFor(reached)}=${value}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${secure}`;
}
