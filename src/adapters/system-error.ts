/** The system's error code, such as ENOENT; null: it has none. */
export function systemCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null;
}

/** Why the system does not let a program use a file or a folder. */
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
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
  EMFILE: 'this program has too many open files',
  EIO: 'the disk fails to read or write it',
  ERR_INVALID_ARG_VALUE: 'its name holds a NUL character',
};

/** The reason in words, as the end of a sentence about a file or a folder; an unknown one is the system's code. */
export function systemReason(error: unknown): string {
  const code = systemCode(error);
  return code === null ? 'unknown reason' : (REASONS[code] ?? code);
}

/** A sentence about an error of a file or a folder; null: it is another error. */
export function fileTrouble(error: unknown): string | null {
  const code = systemCode(error) ?? '';
  const path = error instanceof Error && 'path' in error ? error.path : null;
  // Linux opens a folder like a file and fails at the first read, for which Node names no path.
  const file = typeof path === 'string' ? path : code === 'EISDIR' ? 'a file that was named' : null;
  return file === null || !(code in REASONS) ? null : `${file} cannot be used: ${REASONS[code]}`;
}

/** Runs the action. Returns null, or the system's error code. @throws errors without such a code */
export function systemRefusal(act: () => void): string | null {
  try {
    act();
    return null;
  } catch (error) {
    const code = systemCode(error);
    if (code === null) throw error;
    return code;
  }
}
