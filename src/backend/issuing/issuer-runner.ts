/** Runs the pure issuer: passes it the requests from the bus, and carries out its effects at the service. */
import type { Signer } from '../../adapters/signing/signer.ts';
import type { Bus, BusMessage } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Store } from '../../ports/store.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { EndsRecorded, TokenProbeAnswer, TokenResponse } from '../../protocol/mqtt/token.ts';
import { deviceTopics, tokenRequester } from '../../protocol/mqtt/topics.ts';
import { MOST_KNOWN } from '../core/issuing/device-registry.ts';
import type { Ask, IssuerEffect, IssuerEvent, Reply } from '../core/issuing/issue-event.ts';
import { createIssuer } from '../core/issuing/issuer.ts';
import { settledMs } from '../core/issuing/mint/claim.ts';
import { type DeviceName, nameOf } from '../core/issuing/policy.ts';
import type { DeviceReports } from '../device-reports.ts';
import { limitDevices } from '../limit-devices.ts';
import { type Complain, createLimitedWarnings } from '../limited-warnings.ts';
import type { ServiceClient } from '../service/service-client.ts';
import type { TokenCounts } from '../watch/token-counts.ts';
import { within } from '../within.ts';
import { complainOfStore, createMintJobs } from './mint-jobs.ts';
import { startReconciler } from './reconciler.ts';
import { readRequest } from './request.ts';
import { createServiceJobs } from './service-jobs.ts';
import { shortId } from './session-upkeep.ts';

/**
 * Requests of a device that are read, as a multiple of those allowed: more than get any answer, trials included. Further ones
 * cost no more than their topic.
 */
const READ_PER_REQUEST = 16;
/** Expiry of an answer at the broker (s); the device waits no longer. */
const ANSWER_EXPIRY_S = 30;

export interface IssuerRunnerParts {
  readonly config: BackendConfig;
  readonly service: ServiceClient;
  readonly store: Store;
  /** Name of this backend in the store, unique for each start. */
  readonly instance: string;
  /** Null: do not sign answers. */
  readonly signer: Signer | null;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: () => number;
  readonly counts: Pick<TokenCounts, 'event' | 'effect'>;
  /** Writes the ended streams that a request reports. */
  readonly reports: Pick<DeviceReports, 'repeat'>;
  /** Longest wait for running requests at the end (ms). */
  readonly closeWithinMs: number;
}

/** The shell around the pure issuer. */
export function createIssuerRunner(parts: IssuerRunnerParts) {
  const { config, service, store, instance, signer, log, clock, random, counts, reports, closeWithinMs } =
    parts;
  const issuer = createIssuer(config, instance);
  const complain = createLimitedWarnings(log, clock);
  const jobs = createServiceJobs({ service, log, random });
  const mint = createMintJobs({ store, service: jobs, instance, complain, log, random });
  const reconciler = startReconciler({
    store,
    service: jobs,
    instance,
    clock,
    log,
    complain,
    settledMs: settledMs(config.service.timeout),
    isMinting: () => issuer.jobs > 0,
  });
  const isUnread = limitDevices(clock, {
    burst: config.limits.burst * READ_PER_REQUEST,
    perMinute: config.limits.perMinute * READ_PER_REQUEST,
  });
  const underWay = new Set<Promise<void>>();
  let bus: Bus | null = null;
  let isClosing = false;
  let cancelWake = (): void => {};

  const dispatch = (event: IssuerEvent): void => {
    const now = clock.now();
    counts.event(event, now);
    for (const effect of issuer.handle(event, now)) {
      counts.effect(effect, now);
      run(effect);
    }
  };

  const follow = (work: Promise<void>): void => {
    const done = work.finally(() => underWay.delete(done));
    underWay.add(done);
  };
  const track = (work: Promise<IssuerEvent>): void => follow(work.then(dispatch));

  const run = (effect: IssuerEffect): void => {
    switch (effect.type) {
      case 'answer':
        return answer(effect);
      case 'create':
        return track(jobs.create(effect.job, effect.input));
      case 'confirm':
        return confirm(effect);
      case 'probe':
        return track(jobs.probe(effect.job, effect.input));
      case 'claim':
        return track(mint.claim(effect));
      case 'fetch':
        return track(jobs.fetch(effect.job, effect.session));
      case 'end':
        return track(mint.end(effect));
      case 'settle':
        return track(mint.settle(effect));
      case 'release':
        return follow(mint.release(effect));
      case 'revoke':
        return follow(mint.revoke(effect));
      case 'discard':
        return follow(mint.discard(effect));
      case 'hold':
        clock.at(clock.now() + effect.afterMs, () => {
          if (!isClosing) dispatch({ type: 'held', job: effect.job, draw: random() });
        });
        return;
      case 'wake':
        cancelWake();
        cancelWake = clock.at(clock.now() + effect.afterMs, () =>
          dispatch({ type: 'woken', draw: random() }),
        );
        return;
      case 'ignore': {
        const fields = { device: `${effect.who.tenant}/${effect.who.device}`, why: effect.why };
        if (effect.why === 'flood') {
          complain(`flood ${fields.device}`, fields, 'too many requests from one device; they get no answer');
        } else log.debug(fields, 'request not answered');
      }
    }
  };

  const publish = ({ topic, correlationData }: Reply, message: object): void =>
    bus?.publish(topic, JSON.stringify(message), {
      // Tokens are never queued or stored at the broker.
      qos: 0,
      properties: { expiryS: ANSWER_EXPIRY_S, ...(correlationData && { correlationData }) },
    });

  const send = (
    who: DeviceName,
    reply: Reply,
    body: TokenResponse | TokenProbeAnswer | EndsRecorded,
  ): void => {
    if (signer === null) return publish(reply, body);
    const { base } = deviceTopics({ prefix: config.mqtt.prefix, ...who });
    follow(
      signer.sign('dragoman+token', base, body, clock.wall()).then(
        (jws) => publish(reply, { id: body.id, jws }),
        (error: unknown) => {
          const fault = error instanceof Error ? error.message : 'unknown';
          log.error({ fault }, 'answer not sent: it could not be signed');
        },
      ),
    );
  };

  const answer = (effect: Extract<IssuerEffect, { type: 'answer' }>): void => {
    const { who, id, reply, answer: given, about, repeated } = effect;
    const ts = timestamp(clock.wall());
    send(
      who,
      reply,
      given.ok
        ? { ts, id, ok: true, session: given.session, stream_url: config.service.streamUrl }
        : { ts, id, ok: false, error: given.error },
    );
    const device = `${who.tenant}/${who.device}`;
    const fields = { device, lane: about?.lane, reason: about?.reason, attempt: about?.attempt, repeated };
    if (given.ok) {
      // A device may ask for the same answer again and again.
      log[repeated ? 'debug' : 'info']({ ...fields, session: shortId(given.session.id) }, 'session granted');
      return;
    }
    const { code, retry_after_s } = given.error;
    complain(`denied ${device} ${code}`, { ...fields, code, retry_after_s }, 'denied');
  };

  const confirm = ({ ask, probe }: Extract<IssuerEffect, { type: 'confirm' }>): void => {
    const { who, request, reply } = ask;
    const stream_url = config.service.streamUrl;
    send(who, reply, { ts: timestamp(clock.wall()), id: request.id, ok: true, probe, stream_url });
    // Every device sends a check that only concerns the backend every ten minutes.
    const level = probe.session === 'none' ? 'debug' : 'info';
    log[level]({ device: `${who.tenant}/${who.device}`, ...probe }, 'trial request answered');
  };

  /** The session does not wait for it. */
  const record = ({ who, request: { id, ended = [] }, reply }: Ask): void => {
    if (ended.length === 0) return;
    reports.repeat(`${who.tenant}/${who.device}`, ended, () =>
      send(who, reply, { ts: timestamp(clock.wall()), id, recorded: ended.map(({ session }) => session) }),
    );
  };

  const learn = async (): Promise<void> => {
    try {
      const names = await store.knownDevices(MOST_KNOWN);
      issuer.know(names.map(nameOf), clock.now());
    } catch (error) {
      complainOfStore(error, complain, log);
    }
  };
  follow(learn());

  return {
    answerOn(opened: Bus): void {
      bus = opened;
    },
    hear(message: BusMessage): void {
      const who = tokenRequester(config.mqtt.prefix, message.topic);
      const device = who === null ? null : `${who.tenant}/${who.device}`;
      if (isClosing) return;
      if (device !== null && isUnread(device))
        complain(`flood ${device}`, { device }, 'too many requests from one device; they get no answer');
      else hear(message, config.mqtt.prefix, dispatch, record, complain, random);
    },
    /** Requests that have arrived get their answers, if the service gives them soon; later ones are not heard. */
    async close(): Promise<void> {
      isClosing = true;
      cancelWake();
      const idle = async (): Promise<void> => {
        while (underWay.size > 0) await Promise.all(underWay);
        await reconciler.close();
      };
      await within(clock, closeWithinMs, idle());
      void reconciler.close();
    },
  };
}

function hear(
  message: BusMessage,
  prefix: string,
  dispatch: (event: IssuerEvent) => void,
  record: (ask: Ask) => void,
  complain: Complain,
  random: () => number,
): void {
  const read = readRequest(prefix, message);
  if (read.kind === 'nothing') {
    const device = read.who === null ? 'unknown' : `${read.who.tenant}/${read.who.device}`;
    complain(`${read.why} ${device}`, { device, why: read.why }, 'message ignored: not a token request');
    return;
  }
  if (read.kind === 'misask') {
    const { who, id, reply, detail } = read;
    dispatch({ type: 'malformed', who, id, reply, detail });
    return;
  }
  if (read.foreignReply) {
    const device = `${read.ask.who.tenant}/${read.ask.who.device}`;
    complain(`reply ${device}`, { device }, 'response topic ignored: it is outside token/res');
  }
  dispatch({ type: 'asked', ask: read.ask, draw: random() });
  record(read.ask);
}
