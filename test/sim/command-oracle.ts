/** Each command that reaches the device has exactly one final answer, over lost connections, restarts and broken disks. */
import type { Violations } from './violations.ts';

/** A command as it was sent. */
export interface SentCommand {
  readonly id: string;
  readonly name: string;
  /** The answers of which it must get one: `ok`, `expired`, or the code of an error. */
  readonly expect: readonly string[];
  readonly notAfter: string | null;
  /** It waits for its moment, and may expire meanwhile. */
  readonly waits: boolean;
  /** How long its answer may take when everything works. */
  readonly withinMs: number;
}

export interface CommandOracle {
  sent(command: SentCommand): void;
  /** The same id came with another content. */
  reused(id: string): void;
  delivered(id: string, wall: number | null): void;
  /** The broker has given it up: the device was away for too long. */
  lost(id: string): void;
  /** A final answer has reached the broker. */
  answered(payload: string): void;
  /** The process ended. */
  ended(now: number): void;
  /** A second has passed. @param isUsable the process ran and had its connection all the time */
  second(isUsable: boolean): void;
  readonly answers: number;
}

interface Followed {
  readonly command: SentCommand;
  copies: number;
  reused: number;
  deliveredAt: number;
  /** Carried out late: it had expired when it came. */
  isLate: boolean | null;
  answer: string | null;
  answers: number;
  usableMs: number;
}

/** Beyond what the answer itself may take: the disk has its time, and the connection. */
const SLACK_MS = 12_000;
const MOST_KNOWN = 3000;
const CROWD_MS = 60_000;
const CROWD = 60;

export interface CommandOracleSetup {
  readonly violations: Violations;
  readonly now: () => number;
  /** When the disk was full or hung last, or the connection threw. */
  readonly troubledAt: () => number;
  /** Whether no session may be begun; null: unknown. */
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
    // What takes minutes may be under way when the end comes.
    ...(isStopping() ? ['stopping'] : []),
    ...(crowd.length > CROWD ? ['busy'] : []),
    ...(since(deliveredAt, endedAt) ? ['interrupted', 'stopping', 'expired'] : []),
    // What is written down before it is carried out may expire while the disk hangs.
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
      // Delivered again, it may have been in time before.
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
        violations.add('command', `an answer to ${id}, which was never sent`);
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
          `command ${one.command.name} ${id} was answered "${answer}" and not "${allowed(one).join(' or ')}"`,
      );
      violations.check(
        'command',
        error === undefined || error.message.length > 8,
        () => `command ${one.command.name} was refused without words`,
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
