/** Each command that reaches the device gets exactly one final answer, despite disconnects, restarts and disk faults. */
import type { Violations } from './violations.ts';

/** A command that was sent. */
export interface SentCommand {
  readonly id: string;
  readonly name: string;
  /** Allowed answers: `ok`, `expired`, or the code of an error. */
  readonly expect: readonly string[];
  readonly notAfter: string | null;
  /** The command is delayed and may expire before it is carried out. */
  readonly waits: boolean;
  /** Time that its answer may take without faults (ms). */
  readonly withinMs: number;
}

export interface CommandOracle {
  sent(command: SentCommand): void;
  /** The same id was sent with other content. */
  reused(id: string): void;
  delivered(id: string, wall: number | null): void;
  /** The broker has dropped the command: the device was away for too long. */
  lost(id: string): void;
  /** A final answer has reached the broker. */
  answered(payload: string): void;
  /** The process ended. */
  ended(now: number): void;
  /** A second has passed. @param isUsable the process ran and was connected all the time */
  second(isUsable: boolean): void;
  readonly answers: number;
}

interface Followed {
  readonly command: SentCommand;
  copies: number;
  reused: number;
  deliveredAt: number;
  /** The command had expired when it was delivered; null: unknown. */
  isLate: boolean | null;
  answer: string | null;
  answers: number;
  usableMs: number;
}

/** Extra time (ms) beyond that of the answer itself, for the disk and the connection. */
const SLACK_MS = 12_000;
const MOST_KNOWN = 3000;
/** Commands within `CROWD_MS` above which the device may answer `busy`. */
const CROWD = 60;
const CROWD_MS = 60_000;

export interface CommandOracleSetup {
  readonly violations: Violations;
  readonly now: () => number;
  /** When the disk was last full or hung. */
  readonly troubledAt: () => number;
  /** Whether opening hours or the budget forbid sessions; null: unknown. */
  readonly isHeld: () => boolean | null;
  readonly isStopping: () => boolean;
}

export function createCommandOracle({
  violations,
  now,
  troubledAt,
  isHeld,
  isStopping,
}: CommandOracleSetup): CommandOracle {
  const known = new Map<string, Followed>();
  const open = new Set<Followed>();
  let crowd: number[] = [];
  let endedAt = Number.NEGATIVE_INFINITY;
  let answers = 0;

  const since = (at: number, moment: number): boolean => moment >= at - SLACK_MS;
  const expected = ({ name, expect }: SentCommand): readonly string[] => {
    if (name !== 'start' || !expect.includes('ok')) return expect;
    const held = isHeld();
    return held === false ? expect : held ? ['closed', 'budget'] : [...expect, 'closed', 'budget'];
  };
  const allowed = ({ command, deliveredAt, isLate }: Followed): readonly string[] => [
    ...(isLate === true ? ['expired'] : expected(command)),
    ...(isLate === null || (command.waits && command.notAfter !== null) ? ['expired'] : []),
    // A command that takes minutes may still run when the process stops.
    ...(isStopping() ? ['stopping'] : []),
    ...(crowd.length > CROWD ? ['busy'] : []),
    ...(since(deliveredAt, endedAt) ? ['interrupted', 'stopping', 'expired'] : []),
    // A command is stored before it is carried out, and may expire while the disk hangs.
    ...(since(deliveredAt, troubledAt())
      ? ['interrupted', ...(command.notAfter === null ? [] : ['expired'])]
      : []),
  ];
  const checkAgain = (one: Followed, answer: string): void => {
    const isExcused = since(one.deliveredAt, endedAt) || since(one.deliveredAt, troubledAt());
    violations.check(
      'command',
      answer === one.answer || isExcused,
      () => `command ${one.command.name} ${one.command.id}: "${one.answer}", then "${answer}"`,
    );
    violations.check(
      'command',
      one.answers <= one.copies || isExcused,
      () => `command ${one.command.name} ${one.command.id} has ${one.answers} answers`,
    );
  };

  return {
    get answers() {
      return answers;
    },
    sent(command) {
      const before = known.get(command.id);
      if (before !== undefined) {
        before.copies += 1;
        return;
      }
      const deliveredAt = Number.POSITIVE_INFINITY;
      const counts = { copies: 1, reused: 0, answers: 0, usableMs: 0 };
      known.set(command.id, { command, ...counts, deliveredAt, isLate: null, answer: null });
      if (known.size > MOST_KNOWN) known.delete(known.keys().next().value ?? '');
    },
    reused(id) {
      const one = known.get(id);
      if (one !== undefined) one.reused += 1;
    },
    delivered(id, wall) {
      const one = known.get(id);
      crowd = [...crowd.filter((at) => at > now() - CROWD_MS), now()];
      if (one === undefined || one.answer !== null) return;
      if (one.deliveredAt === Number.POSITIVE_INFINITY) one.deliveredAt = now();
      const { notAfter } = one.command;
      const isLate = notAfter === null ? false : wall === null ? false : wall > Date.parse(notAfter);
      // After a second delivery it is unknown whether the first one was in time.
      one.isLate = one.isLate === null || one.isLate === isLate ? isLate : null;
      if (one.command.expect.length > 0) open.add(one);
    },
    lost(id) {
      const one = known.get(id);
      if (one !== undefined) open.delete(one);
    },
    answered(payload) {
      const { id, status, error } = JSON.parse(payload) as {
        id: string;
        status: string;
        error?: { code: string; message: string };
      };
      if (status === 'accepted') return;
      answers++;
      const one = known.get(id);
      const answer = error?.code ?? status;
      if (one === undefined) {
        violations.add('command', `${id} was answered, but never sent`);
        return;
      }
      if (answer === 'id_reused' && one.reused > 0) {
        one.reused -= 1;
        return;
      }
      one.answers += 1;
      if (one.answer !== null) return checkAgain(one, answer);
      violations.check(
        'command',
        allowed(one).includes(answer),
        () =>
          `command ${one.command.name} ${id}: answer "${answer}", expected "${allowed(one).join(' or ')}"`,
      );
      violations.check(
        'command',
        error === undefined || error.message.length > 8,
        () => `command ${one.command.name} was refused without a message`,
      );
      one.answer = answer;
      open.delete(one);
    },
    ended(at) {
      endedAt = at;
    },
    second(isUsable) {
      if (!isUsable) return;
      for (const one of open) {
        one.usableMs += 1000;
        if (one.usableMs <= one.command.withinMs + SLACK_MS) continue;
        open.delete(one);
        if (since(one.deliveredAt, troubledAt())) continue;
        violations.add('command', `command ${one.command.name} ${one.command.id} was never answered`);
      }
    },
  };
}
