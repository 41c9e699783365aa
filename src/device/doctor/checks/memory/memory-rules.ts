import { MB, size } from '../../report/bytes.ts';
import { type Outcome, ok, problem, warning } from '../../report/finding.ts';

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
