/** Checks that tokens are used correctly, and that each command of operator.ts gets exactly one answer. */
import { tokenRequestSchema } from '../../src/protocol/mqtt/token.ts';
import type { ServiceHost } from './service-host.ts';
import type { Violations } from './violations.ts';

export interface TokenOracle {
  opening(token: string | null, now: number): void;
  /** The use does not count: the token cannot have reached the service. */
  unspent(token: string | null): void;
  /** The device has received that the session of this token is revoked. */
  revoked(token: string | null): void;
}

const INTENT_FREE = new Set(['s2s']);

/** @param host has all sessions and the service's clock */
export function createTokenOracle(violations: Violations, host: ServiceHost): TokenOracle {
  const used = new Set<string>();
  const revoked = new Set<string>();
  return {
    opening(token, _now) {
      if (token === null) return violations.add('token', 'a stream was opened without a token');
      const session = host.service.sessions.withToken(token);
      if (session === undefined) return;
      const at = host.service.clockAt(host.now());
      violations.check('token', at < session.connectBy, () => 'a token was used after connect_by');
      violations.check('token', !revoked.has(token), () => 'a token was used after its revocation');
      violations.check(
        'token',
        !(session.singleUse && used.has(token)),
        () => 'a single-use token was used twice',
      );
      violations.check(
        'token',
        INTENT_FREE.has(session.intent),
        () => `a token for ${session.intent} was used`,
      );
      used.add(token);
    },
    unspent(token) {
      if (token !== null) used.delete(token);
    },
    revoked(token) {
      if (token !== null) revoked.add(token);
    },
  };
}

interface Answer {
  readonly id: string;
  readonly status: string;
  readonly error?: { readonly code: string };
}

export interface CommandOracle {
  /** The command was delivered to a running agent. */
  delivered(id: string, now: number, answerBy: number): void;
  answered(payload: string): void;
  /** The process ended: it no longer answers open commands. */
  forget(): void;
  judge(now: number): void;
  readonly answers: number;
}

export function createCommandOracle(violations: Violations): CommandOracle {
  const open = new Map<string, number>();
  /** Deliveries, answer and number of answers of each command. */
  const known = new Map<string, { delivered: number; answer: string | null; answered: number }>();
  let answers = 0;
  /** Commands from before a restart: they may get another answer, or `interrupted`. */
  const old = new Set<string>();
  const about = (id: string) => {
    const found = known.get(id) ?? { delivered: 0, answer: null, answered: 0 };
    known.set(id, found);
    if (known.size > 2000) {
      const [oldest] = known.keys();
      if (oldest !== undefined) known.delete(oldest);
    }
    return found;
  };
  return {
    get answers() {
      return answers;
    },
    delivered(id, _now, answerBy) {
      const command = about(id);
      command.delivered++;
      if (command.answer === null) open.set(id, answerBy);
    },
    answered(payload) {
      const { id, status, error } = JSON.parse(payload) as Answer;
      if (status === 'accepted') return;
      answers++;
      if (old.has(id)) return;
      const answer = `${status} ${error?.code ?? ''}`;
      const command = about(id);
      command.answered++;
      // The device answers again when the broker delivers a command twice.
      const isOnce = command.answered <= command.delivered && (command.answer ?? answer) === answer;
      violations.check('command', isOnce, () => `command ${id}: "${command.answer}", then "${answer}"`);
      command.answer = answer;
      open.delete(id);
    },
    forget() {
      for (const id of known.keys()) old.add(id);
      known.clear();
      open.clear();
    },
    judge(now) {
      for (const [id, by] of open) {
        if (now < by) continue;
        open.delete(id);
        violations.add('command', `command ${id} was never answered`);
      }
    },
  };
}

/** Checks that a token request of the device follows docs/mqtt.md. */
export function checkTokenRequest(payload: string, violations: Violations): void {
  const parsed = tokenRequestSchema.safeParse(JSON.parse(payload));
  violations.check(
    'token',
    parsed.success && parsed.data.intent === 's2s',
    () => 'a token request is malformed',
  );
}
