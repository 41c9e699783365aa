import { dirname } from 'node:path';
import type { AudioFault } from '../../ports/audio.ts';
import { systemCode } from '../system-error.ts';

/** An `AudioFault` to throw: its message is for an operator, its stack is not shown. */
export class AudioFaultError extends Error implements AudioFault {
  readonly code: AudioFault['code'];

  constructor(code: AudioFault['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AudioFaultError';
    this.code = code;
  }
}

interface FileProblem {
  readonly code: AudioFault['code'];
  /** Completes "cannot write out.wav: ...". */
  readonly cause: string;
}

const PROBLEMS: Readonly<Record<string, FileProblem>> = {
  ENOENT: { code: 'not_found', cause: 'there is no such file or folder; check the path' },
  ENOTDIR: { code: 'not_found', cause: 'a part of the path is a file, not a folder; check the path' },
  EISDIR: { code: 'not_found', cause: 'it is a folder; name a file' },
  EACCES: { code: 'failed', cause: 'permission denied; give this user access to it' },
  EPERM: { code: 'failed', cause: 'permission denied; give this user access to it' },
  EROFS: { code: 'failed', cause: 'the disk is read-only; choose another place' },
  ENOSPC: { code: 'failed', cause: 'the disk is full; free some space' },
  EDQUOT: { code: 'failed', cause: "this user's share of the disk is used up; free some space" },
  EFBIG: { code: 'failed', cause: 'the disk does not support files of this size; choose another place' },
  EMFILE: { code: 'busy', cause: 'this program has too many files open; raise its limit' },
  ENFILE: { code: 'busy', cause: 'this machine has too many files open' },
  ETXTBSY: { code: 'busy', cause: 'it is in use by another program' },
  EBUSY: { code: 'busy', cause: 'it is in use by another program' },
  EIO: { code: 'lost', cause: 'the disk reports an error; check the disk' },
  ENODEV: { code: 'lost', cause: 'its disk is gone' },
  ESTALE: { code: 'lost', cause: 'its network share is gone' },
};

/** Folders that ProtectHome= hides from a unit, whatever their owner and mode. */
const HOME = /^\/(home|root|run\/user)(\/|$)/;
const HIDDEN_HOME =
  'permission denied; a service sees no home folders (ProtectHome=) and needs a file below /var/lib/dragoman';

/**
 * Describes a file system error and its remedy.
 * @param doing the attempted action: "read", "write"
 */
export function describeFileProblem(error: unknown, doing: string, path: string): AudioFaultError {
  const symbol = systemCode(error) ?? '';
  const problem = PROBLEMS[symbol] ?? {
    code: 'failed',
    cause: symbol === '' ? 'the system gave no reason' : `the system says ${symbol}`,
  };
  const isFolderMissing = symbol === 'ENOENT' && doing === 'write';
  const cause = isFolderMissing
    ? `the folder ${dirname(path)} does not exist; make it, or name another place`
    : symbol === 'EACCES' && HOME.test(path)
      ? HIDDEN_HOME
      : problem.cause;
  return new AudioFaultError(problem.code, `cannot ${doing} ${path}: ${cause}`, { cause: error });
}
