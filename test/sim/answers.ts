/** The way of a token answer from the backend through the broker, with what can happen to it. */
import type { TokenResponse } from '../../src/protocol/mqtt/token.ts';
import type { Broker } from './broker.ts';
import type { Dice } from './dice.ts';
import type { Network } from './network.ts';
import type { SimClock } from './sim-clock.ts';

/** What is done to the next answers of the backend. */
export interface AnswerFaults {
  lost: number;
  doubled: number;
  misaddressed: number;
  wrongIntent: number;
  lateMs: number;
  /** All answers are malformed, each in another way. */
  malformed: boolean;
  /** The host that the backend names; null: the one where the service is. */
  streamHost: string | null;
}

export const NO_ANSWER_FAULTS: AnswerFaults = {
  ...{ lost: 0, doubled: 0, misaddressed: 0, wrongIntent: 0, lateMs: 0, malformed: false, streamHost: null },
};

export type SendAnswer = (topic: string, body: TokenResponse, correlation: Uint8Array | undefined) => void;

/** What a backend may answer whose programmer did not read the description. */
const MALFORMED: readonly ((body: TokenResponse) => unknown)[] = [
  ({ id }) => ({ id }),
  ({ id }) => ({ id, ok: true, session: null }),
  ({ id }) => ({ id, ok: false, error: 'no' }),
  (body) => ({ ...body, ok: 'true' }),
  (body) => (body.ok ? { ...body, stream_url: 7 } : body),
  (body) => (body.ok ? { ...body, session: { ...body.session, connect_by: 'soon' } } : body),
  () => 'internal error',
];

function withHost(body: TokenResponse, from: string, to: string | null): TokenResponse {
  if (to === null || !body.ok || !('stream_url' in body)) return body;
  return { ...body, stream_url: String(body.stream_url).replace(from, to) } as TokenResponse;
}

export function createAnswers(
  clock: SimClock,
  dice: Dice,
  broker: () => Broker,
  network: Network,
  answers: AnswerFaults,
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
    if (answers.lost > 0) answers.lost -= 1;
    else if (answers.malformed && body.ok) {
      send(MALFORMED[malformed++ % MALFORMED.length]?.(right));
    } else if (answers.misaddressed > 0) {
      answers.misaddressed -= 1;
      send({ ...right, id: `x${right.id}` });
    } else if (answers.wrongIntent > 0 && right.ok && 'token' in right.session) {
      answers.wrongIntent -= 1;
      send({ ...right, session: { ...right.session, intent: 'stt' } });
    } else {
      send(right);
      if (answers.doubled > 0) {
        answers.doubled -= 1;
        clock.at(clock.now() + dice.between(0, 9000), () => send(right));
      }
    }
  };
}
