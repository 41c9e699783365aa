import type { CommandResponse } from '../protocol/mqtt/command.ts';
import { type DeviceEntry, isReachable, isUnknown } from './roster.ts';

/** The result of a command at one device. */
export type Outcome =
  | { readonly device: string; readonly kind: 'answered'; readonly answer: CommandResponse }
  /** No final answer in time. */
  | { readonly device: string; readonly kind: 'silent'; readonly why: string };

/** The final answers to one command so far, and the devices that have only accepted it. */
export interface Answers {
  readonly final: ReadonlyMap<string, CommandResponse>;
  readonly accepted: ReadonlySet<string>;
}

export const NO_ANSWERS: Answers = { final: new Map(), accepted: new Set() };

/** Notes an answer; the first final answer of a device counts. */
export function noteAnswer(answers: Answers, device: string, answer: CommandResponse): Answers {
  if (answer.status === 'accepted') {
    return { ...answers, accepted: new Set([...answers.accepted, device]) };
  }
  if (answers.final.has(device)) return answers;
  return { ...answers, final: new Map([...answers.final, [device, answer]]) };
}

/** Whether all reachable devices have answered. */
export function isComplete(answers: Answers, expected: readonly DeviceEntry[]): boolean {
  const waiting = expected.filter((entry) => isReachable(entry) && !answers.final.has(entry.device));
  const begun = [...answers.accepted].filter((device) => !answers.final.has(device));
  return waiting.length === 0 && begun.length === 0;
}

/**
 * The result at each expected device, and at any other device that answered, sorted by name.
 * @param queued what becomes of the command for a disconnected device, as the end of a sentence; empty: it is lost
 */
export function outcomes(
  answers: Answers,
  expected: readonly DeviceEntry[],
  waitedS: number,
  queued = '',
): Outcome[] {
  const silent = expected
    .filter(({ device }) => !answers.final.has(device))
    .map((entry): Outcome => {
      const why = whySilent(entry, answers, waitedS);
      return { device: entry.device, kind: 'silent', why: isAway(entry, answers) ? `${why}${queued}` : why };
    });
  const answered = [...answers.final].map(
    ([device, answer]): Outcome => ({ device, kind: 'answered', answer }),
  );
  return [...silent, ...answered].sort((one, other) => (one.device < other.device ? -1 : 1));
}

/** Whether the device is disconnected, so that the broker may queue the command for it. */
function isAway(entry: DeviceEntry, { accepted }: Answers): boolean {
  return !isReachable(entry) && !isUnknown(entry) && !accepted.has(entry.device);
}

function whySilent(entry: DeviceEntry, { accepted }: Answers, waitedS: number): string {
  const { device, status } = entry;
  if (accepted.has(device)) return `has begun, but was not finished within ${waitedS} s`;
  if (isUnknown(entry)) return UNKNOWN;
  const last = status === null ? 'it has published no status' : `its last status was ${status.status}`;
  return isReachable(entry) ? `no answer within ${waitedS} s; ${last}` : `is not connected: ${last}`;
}

/** Why a device that `isUnknown` is silent. */
export const UNKNOWN = 'the broker knows no such device';

/** Whether a device carried the command out. */
export function isDone(outcome: Outcome): boolean {
  return outcome.kind === 'answered' && outcome.answer.status === 'ok';
}
