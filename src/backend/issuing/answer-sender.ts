/** Sends the answers to token requests, signed if the backend has a key. */
import type { Signer } from '../../adapters/signing/signer.ts';
import type { Complain } from '../../machine/limited-warnings.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { EndsRecorded, TokenProbeAnswer, TokenResponse } from '../../protocol/mqtt/token.ts';
import { deviceTopics } from '../../protocol/mqtt/topics.ts';
import type { DeviceName } from '../config/owned-devices.ts';
import type { Ask, IssuerEffect, Reply } from './issue-event.ts';
import { shortId } from './session-upkeep.ts';

/** Expiry of an answer at the broker (s); the device does not wait longer. */
const ANSWER_EXPIRY_S = 30;

export interface AnswerSenderParts {
  readonly config: Pick<BackendConfig, 'mqtt' | 'service'>;
  /** Null: do not sign answers. */
  readonly signer: Signer | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly complain: Complain;
}

type Effect<T extends IssuerEffect['type']> = Extract<IssuerEffect, { type: T }>;

/** Each promise resolves when the answer has been passed to the bus, or cannot be sent. */
export class AnswerSender {
  private readonly parts: AnswerSenderParts;
  private bus: Bus | null = null;

  constructor(parts: AnswerSenderParts) {
    this.parts = parts;
  }

  /** Sets the bus for the answers. */
  use(bus: Bus): void {
    this.bus = bus;
  }

  answer(effect: Effect<'answer'>): Promise<void> {
    const { who, id, reply, answer } = effect;
    const { config, clock } = this.parts;
    this.logAnswer(effect);
    const ts = timestamp(clock.wall());
    return this.send(
      who,
      reply,
      answer.ok
        ? { ts, id, ok: true, session: answer.session, stream_url: config.service.streamUrl }
        : { ts, id, ok: false, error: answer.error },
    );
  }

  confirm({ ask, probe }: Effect<'confirm'>): Promise<void> {
    const { who, request, reply } = ask;
    const { config, clock, log } = this.parts;
    // Every device checks the backend's availability every ten minutes: too often for the info level.
    const level = probe.session === 'none' ? 'debug' : 'info';
    log[level]({ device: `${who.tenant}/${who.device}`, ...probe }, 'trial request answered');
    const stream_url = config.service.streamUrl;
    return this.send(who, reply, {
      ts: timestamp(clock.wall()),
      id: request.id,
      ok: true,
      probe,
      stream_url,
    });
  }

  /** Confirms that the store holds the ended streams reported in a request. */
  confirmEnds({ who, request: { id, ended = [] }, reply }: Ask): Promise<void> {
    const recorded = ended.map(({ session }) => session);
    return this.send(who, reply, { ts: timestamp(this.parts.clock.wall()), id, recorded });
  }

  private logAnswer({ who, answer, about, repeated }: Effect<'answer'>): void {
    const { log, complain } = this.parts;
    const device = `${who.tenant}/${who.device}`;
    const fields = { device, lane: about?.lane, reason: about?.reason, attempt: about?.attempt, repeated };
    if (answer.ok) {
      // A device may request the same answer again and again.
      const level = repeated ? 'debug' : 'info';
      log[level]({ ...fields, session: shortId(answer.session.id) }, 'session granted');
      return;
    }
    const { code, retry_after_s } = answer.error;
    complain(`denied ${device} ${code}`, { ...fields, code, retry_after_s }, 'denied');
  }

  private async send(
    who: DeviceName,
    reply: Reply,
    body: TokenResponse | TokenProbeAnswer | EndsRecorded,
  ): Promise<void> {
    const { config, signer, clock, log } = this.parts;
    if (signer === null) return this.publish(reply, body);
    const { base } = deviceTopics({ prefix: config.mqtt.prefix, ...who });
    try {
      const jws = await signer.sign('dragoman+token', base, body, clock.wall());
      this.publish(reply, { id: body.id, jws });
    } catch (error) {
      const fault = error instanceof Error ? error.message : 'unknown';
      log.error({ fault }, 'answer not sent: it could not be signed');
    }
  }

  private publish({ topic, correlationData }: Reply, message: object): void {
    this.bus?.publish(topic, JSON.stringify(message), {
      // Tokens are never queued or stored at the broker.
      qos: 0,
      properties: { expiryS: ANSWER_EXPIRY_S, ...(correlationData && { correlationData }) },
    });
  }
}
