/** Checks public keys of OpenSSH in the form of `authorized_keys`, because sshd ignores a damaged key silently. */

const LINE =
  /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-ssh-ed25519@openssh\.com|sk-ecdsa-sha2-nistp256@openssh\.com) ([A-Za-z0-9+/]{40,2000}={0,2})( [^\p{Cc}]{0,200})?$/u;
/** Number of parts after the key type within the key (RFC 4253, 5656, 8709; OpenSSH's PROTOCOL.u2f). */
const PARTS: Readonly<Record<string, number>> = {
  'ssh-ed25519': 1,
  'ssh-rsa': 2,
  'sk-ssh-ed25519@openssh.com': 2,
  'sk-ecdsa-sha2-nistp256@openssh.com': 3,
};
const ECDSA_PARTS = 2;
const LENGTH_BYTES = 4;

/** Whether a line has a key type, a key and optionally a comment, and no options before them. */
export function isSshKeyLine(text: string): boolean {
  return LINE.test(text);
}

/** Whether the key matches the type before it, and is neither truncated nor too long. */
export function isWholeSshKey(line: string): boolean {
  const [, kind = '', , encoded = ''] = LINE.exec(line) ?? [];
  const parts = partsOf(encoded);
  if (parts === null || parts[0] !== kind) return false;
  if (parts.some((part) => part === '')) return false;
  if (kind === 'ssh-ed25519' && parts[1]?.length !== 32) return false;
  return parts.length === 1 + (PARTS[kind] ?? ECDSA_PARTS);
}

/** Splits the key into its parts, each with a length prefix; null if the lengths do not match the size. */
function partsOf(encoded: string): string[] | null {
  const bytes = decoded(encoded);
  if (bytes === null) return null;
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = [0, 1, 2, 3].reduce((sum, index) => sum * 256 + bytes.charCodeAt(at + index), 0);
    at += LENGTH_BYTES;
    // `length` is NaN if the prefix itself is truncated.
    if (!(at + length <= bytes.length)) return null;
    parts.push(bytes.slice(at, at + length));
    at += length;
  }
  return parts;
}

/** Decodes base64 to one character per byte. */
function decoded(encoded: string): string | null {
  try {
    return atob(encoded);
  } catch {
    return null;
  }
}
