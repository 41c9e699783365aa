import { MB, size } from '../../report/bytes.ts';
import { type Outcome, ok, problem, warning } from '../../report/finding.ts';

/** A folder to which the agent may write. */
export interface DiskFacts {
  readonly folder: string;
  /** Content of the folder, such as "the recording of lane main". */
  readonly purpose: string;
  /** Whether the agent cannot work without the folder. */
  readonly isNeeded: boolean;
  readonly freeBytes: number;
  /** Share of free inodes, 0 to 1; 1 if the file system does not count them. */
  readonly freeFiles: number;
  readonly access: 'writable' | 'read-only' | 'forbidden' | 'missing';
}

const SCARCE_BYTES = 200 * MB;
const EMPTY_BYTES = 20 * MB;
const SCARCE_FILES = 0.02;

export function judgeDisk(facts: DiskFacts): Outcome {
  const { folder, freeBytes, access, isNeeded, purpose } = facts;
  const data = { folder, free_mb: Math.floor(freeBytes / MB), access };
  const complain = isNeeded ? problem : warning;
  if (access === 'missing')
    return complain(
      `the folder ${folder} for ${purpose} does not exist`,
      `Make it: mkdir -p ${folder}.`,
      data,
    );
  if (access === 'read-only')
    return complain(
      `${folder} is on a read-only disk: ${purpose} cannot be kept`,
      'Mount it writable. If it became read-only by itself, the disk is failing (see "dmesg").',
      data,
    );
  if (access === 'forbidden')
    return complain(
      `this user may not write to ${folder} (${purpose})`,
      isNeeded
        ? "Run this as the agent's user. If that user may not write there either, name a file below /var/lib/dragoman."
        : "Run this as the agent's user, in a folder such as /var/lib/dragoman.",
      data,
    );
  const free = `${size(freeBytes)} free in ${folder}`;
  const fix = 'Remove files that are not needed; "journalctl --vacuum-size=50M" shortens old logs.';
  if (freeBytes < EMPTY_BYTES) return problem(`the disk is full: ${free}`, fix, data);
  if (freeBytes < SCARCE_BYTES) return warning(`the disk is nearly full: ${free}`, fix, data);
  if (facts.freeFiles < SCARCE_FILES)
    return warning(`the disk has room for hardly any more files, although ${free}`, fix, data);
  return ok(free, data);
}
