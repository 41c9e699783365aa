/** Carries the backend's token answers to the device, and applies the faults that are switched on. */
import type { TokenProbeAnswer, TokenResponse } from '../../src/protocol/mqtt/token.ts';
import type { Broker } from './broker.ts';
import type { Dice } from './dice.ts';
import type { Network } from './network.ts';
import type { SimClock } from './sim-clock.ts';
import type { OnStrike } from './strikes.ts';

/** Faults that apply to the backend's next answers. */
export interface AnswerFaults {
  lost: number;
  doubled: number;
  misaddressed: number;
  wrongIntent: number;
  lateMs: number;
  /** All answers are malformed, in different ways. */
  malformed: boolean;
  /** The host in the backend's answers; null: the service's host. */
  streamHost: string | null;
}

export const NO_ANSWER_FAULTS: AnswerFaults = {
  lost: 0,
  doubled: 0,
  misaddressed: 0,
  wrongIntent: 0,
  lateMs: 0,
  malformed: false,
  streamHost: null,
};

/** Names of the faults that strike with an answer: the bound of recovery is listed under the same name. */
const STRIKES = {
  lost: 'token_lost',
  misaddressed: 'token_misaddressed',
  wrongIntent: 'token_of_another_intent',
} as const;

/** An answer of the backend: a token, a refusal, or the answer to a probe. */
export type BackendAnswer = TokenResponse | TokenProbeAnswer;
export type SendAnswer = (topic: string, body: BackendAnswer, correlation: Uint8Array | undefined) => void;

/** Answers of a backend that does not follow the protocol. */
const MALFORMED: readonly ((body: BackendAnswer) => unknown)[] = [
  ({ id }) => ({ id }),
  ({ id }) => ({ id, ok: true, session: null }),
  ({ id }) => ({ id, ok: false, error: 'no' }),
  (body) => ({ ...body, ok: 'true' }),
  (body) => (body.ok ? { ...body, stream_url: 7 } : body),
  (body) => ({ ...body, session: { ...sessionOf(body), connect_by: 'soon' }, probe: 'no' }),
  () => 'internal error',
];

function sessionOf(body: BackendAnswer): object {
  return 'session' in body ? (body.session as object) : {};
}

function withHost(body: BackendAnswer, from: string, to: string | null): BackendAnswer {
  if (to === null || !body.ok || !('stream_url' in body)) return body;
  return { ...body, stream_url: String(body.stream_url).replace(from, to) } as BackendAnswer;
}

export function createAnswers(
  clock: SimClock,
  dice: Dice,
  broker: () => Broker,
  network: Network,
  answers: AnswerFaults,
  onStrike: OnStrike,
): SendAnswer {
  let malformed = 0;
  return (topic, body, correlationData) => {
    const send = (given: unknown): void => {
      const properties = correlationData === undefined ? {} : { correlationData };
      const message = { topic, payload: JSON.stringify(given), retain: false, properties };
      if (answers.lateMs === 0) broker().toDevice(message);
      else clock.at(clock.now() + answers.lateMs, () => broker().toDevice(message));
    };
    const right = withHost(body, network.serviceName, answers.streamHost ?? network.serviceHost);
    const spend = (kind: keyof typeof STRIKES): void => {
      answers[kind] -= 1;
      onStrike(STRIKES[kind], 0);
    };
    if (answers.lost > 0) spend('lost');
    else if (answers.malformed && body.ok) {
      send(MALFORMED[malformed++ % MALFORMED.length]?.(right));
    } else if (answers.misaddressed > 0) {
      spend('misaddressed');
      send({ ...right, id: `x${right.id}` });
    } else if (answers.wrongIntent > 0 && 'token' in sessionOf(right)) {
      spend('wrongIntent');
      send({ ...right, session: { ...sessionOf(right), intent: 'stt' } });
    } else {
      send(right);
      if (answers.doubled > 0) {
        answers.doubled -= 1;
        clock.at(clock.now() + dice.between(0, 9000), () => send(right));
      }
    }
  };
}
