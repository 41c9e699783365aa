import { type Outcome, ok, problem, skipped, warning } from '../../report/finding.ts';

const MB = 1_000_000;

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

/** All values in bytes. */
export interface MemoryFacts {
  readonly total: number;
  readonly available: number;
  /** Limit of systemd or of the container; null: none. */
  readonly limit: number | null;
  /** Whether the kernel can limit a service's memory at all; null or missing: unknown. */
  readonly canLimit?: boolean | null;
}

/** Memory (bytes) that should be available: a running agent uses about 90 MB, the rest is for other programs. */
const SCARCE_MEMORY = 150 * MB;
const TOO_LITTLE_MEMORY = 60 * MB;
const LEAST_LIMIT = 120 * MB;

export function judgeMemory({ total, available, limit, canLimit = null }: MemoryFacts): Outcome {
  const data = {
    total_mb: Math.floor(total / MB),
    available_mb: Math.floor(available / MB),
    limit_mb: limit === null ? null : Math.floor(limit / MB),
  };
  const finding = `${size(available)} of ${size(total)} available`;
  const fix = 'Stop programs that are not needed ("ps aux --sort -rss | head" shows the largest ones).';
  if (available < TOO_LITTLE_MEMORY) return problem(`memory is used up: ${finding}`, fix, data);
  if (limit !== null && limit < LEAST_LIMIT)
    return warning(`the agent is allowed only ${size(limit)} of memory`, 'Raise MemoryMax.', data);
  if (available < SCARCE_MEMORY) return warning(`memory is short: ${finding}`, fix, data);
  if (canLimit === false)
    return warning(
      `${finding}, but the kernel limits no service's memory: MemoryMax has no effect`,
      'Add "cgroup_enable=memory" to /boot/firmware/cmdline.txt (Raspberry Pi) or to the kernel\'s command line, and restart.',
      data,
    );
  return ok(finding, data);
}

function size(bytes: number): string {
  return bytes >= 1000 * MB ? `${(bytes / (1000 * MB)).toFixed(1)} GB` : `${Math.floor(bytes / MB)} MB`;
}

const HOT_CELSIUS = 75;
const TOO_HOT_CELSIUS = 83;

/** @param celsius of the hottest sensor; null: no sensor */
export function judgeTemperature(celsius: number | null): Outcome {
  if (celsius === null) return skipped('this machine reports no temperature');
  const data = { celsius: Math.round(celsius * 10) / 10 };
  const fix = 'Give it air or a heat sink, and keep it out of the sun.';
  const found = `${Math.round(celsius)} degrees C`;
  if (celsius >= TOO_HOT_CELSIUS) return problem(`${found}: the processor slows down`, fix, data);
  if (celsius >= HOT_CELSIUS) return warning(`${found} is hot`, fix, data);
  return ok(found, data);
}

/** Power supply readings of a Raspberry Pi. */
export interface PowerFacts {
  /** Bits from the firmware; null if it does not report them. */
  readonly throttled: number | null;
  /** The kernel's under-voltage alarm; null if there is none. */
  readonly alarm: boolean | null;
}

const NOW = { underVoltage: 0x1, capped: 0x2, throttled: 0x4, tooHot: 0x8 } as const;
const EVER = 16;
const BETTER_SUPPLY = 'Use the power supply made for this board, and a short, thick cable.';

export function judgePower({ throttled, alarm }: PowerFacts): Outcome {
  if (throttled === null && alarm === null) return skipped('this platform does not report it');
  const bits = throttled ?? 0;
  const data = { throttled: throttled === null ? null : `0x${bits.toString(16)}`, alarm };
  if ((bits & NOW.underVoltage) !== 0 || alarm === true)
    return problem('the supply voltage is too low right now', BETTER_SUPPLY, data);
  if ((bits & (NOW.throttled | NOW.capped | NOW.tooHot)) !== 0)
    return warning(
      'the processor is being slowed down right now',
      'Look at the temperature; give it air or a heat sink.',
      data,
    );
  if (((bits >> EVER) & NOW.underVoltage) !== 0)
    return warning('the supply voltage was too low since the last boot', BETTER_SUPPLY, data);
  if (bits >> EVER !== 0)
    return warning(
      'the processor was slowed down since the last boot',
      'Look at the temperature under load; give it air or a heat sink.',
      data,
    );
  return ok('no trouble since the last boot', data);
}
