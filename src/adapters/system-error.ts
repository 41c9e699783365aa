/** The system's error code, such as ENOENT; null: it has none. */
export function systemCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null;
}

/** Why the system does not let a program use a file, a folder, or a connection. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EEXIST: 'it exists already',
  ENOTEMPTY: 'the folder is not empty',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota of this user is used up',
  ELOOP: 'its links form a loop',
  ENAMETOOLONG: 'its name is too long',
  EMFILE: 'this program has too many open files',
  EIO: 'the disk fails to read or write it',
  ERR_INVALID_ARG_VALUE: 'its name holds a NUL character',
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'it cut the connection',
  // What `fetch` says of the same.
  UND_ERR_SOCKET: 'it cut the connection',
  EPIPE: 'it cut the connection',
  ENOTFOUND: 'its name is unknown',
  EAI_AGAIN: 'its name cannot be looked up',
  ETIMEDOUT: 'no answer',
  EHOSTUNREACH: 'no route to it',
  ENETUNREACH: 'no network',
  EADDRINUSE: 'another program uses this address and port',
  EADDRNOTAVAIL: 'this machine does not have this address',
  EAGAIN: 'the system lacks the resources for it now',
};

/** The reason in words, as the end of a sentence about a file, a folder or a server; an unknown one is the system's code. */
export function systemReason(error: unknown): string {
  return reasonOf(systemCode(error));
}

/** The reason for an error code, in words. */
export function reasonOf(code: string | null): string {
  return code === null ? 'unknown reason' : (REASONS[code] ?? code);
}

/** Advice for an address on which a server cannot listen. */
const LISTEN_ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'end that program, or name another port',
  EACCES: 'name a port above 1023',
  EADDRNOTAVAIL: 'name an address of this machine, or 127.0.0.1',
  ENOTFOUND: 'name an address of this machine, or 127.0.0.1',
};

/** Why a server cannot listen, and what to do: the end of a sentence that begins with its address. */
export function listenTrouble(error: unknown): string {
  const advice = LISTEN_ADVICE[systemCode(error) ?? ''] ?? 'name another address or port';
  return `cannot be used (${systemReason(error)}): ${advice}`;
}

/** A sentence about an error of a file or a folder; null: it is another error. */
export function fileTrouble(error: unknown): string | null {
  const code = systemCode(error) ?? '';
  const path = error instanceof Error && 'path' in error ? error.path : null;
  // Linux opens a folder like a file and fails at the first read, for which Node names no path.
  const file = typeof path === 'string' ? path : code === 'EISDIR' ? 'one of the files' : null;
  return file === null || !(code in REASONS) ? null : `${file} cannot be used: ${REASONS[code]}`;
}

/** Runs the action. Returns null, or the system's reason in words. @throws errors without a system code */
export function systemRefusal(act: () => void): string | null {
  try {
    act();
    return null;
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return systemReason(error);
  }
}
