/** Requests the next client certificate in time, tries it, and reports the result. */

import { day } from '../../core/offered-certificate.ts';
import { logRepeated, type RepeatFilter } from '../../machine/repeat-filter.ts';
import type { Bus, BusProblem } from '../../ports/bus.ts';
import type { DeviceCertificate } from '../../ports/certificate.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { CertificateRequestMessage } from '../../protocol/mqtt/certificate.ts';
import type { CommandArgs } from '../../protocol/mqtt/commands/registry.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { EventDetail, EventKind } from '../../protocol/mqtt/event.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import { asWall } from '../../protocol/time.ts';
import { CommandError } from '../commands/command-request.ts';
import {
  type CertificateTrial,
  type ConnectionOutcome,
  NEW_TRIAL,
  noteConnection,
  renewalAt,
  WARN_BEFORE_MS,
} from './certificate-renewal-rules.ts';

/** Interval of checks (ms): the wall clock may be set at any time, and timers cannot run for years. */
const LOOK_EACH_MS = 3_600_000;
const LOOK_SLACK_MS = 60_000;
/** Wait after a certificate that failed or could not be saved (ms). */
const ASK_AGAIN_AFTER_MS = 86_400_000;
/** Interval of repeated requests (ms): the broker may have lost the retained message. */
const PUBLISH_EACH_MS = 86_400_000;
/** Wait before the reconnect (ms): the answer to the command leaves first. */
const TRY_AFTER_MS = 1000;

export interface CertificateRenewalDeps {
  readonly certificate: DeviceCertificate;
  readonly topics: Pick<DeviceTopics, 'certificateRequest'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly repeats: RepeatFilter;
  /** From 0 to 1, fixed per device: a fleet must not request all at once. */
  readonly draw: number;
  newId(): string;
  bus(): Bus | null;
  tell<K extends EventKind>(kind: K, detail: EventDetail<K>): void;
  /** @param day on which the certificate expires; null: not soon */
  ending(day: string | null): void;
}

export interface CertificateRenewal {
  /** Events can reach the owner from now on. */
  begin(): void;
  /** The connection is up. */
  connected(): void;
  /** A connection ended or failed. */
  failed(problem: BusProblem): void;
  /** The command `certificate`. @throws CommandError */
  take(args: CommandArgs<'certificate'>): Promise<unknown>;
  close(): void;
}

export function createCertificateRenewal(deps: CertificateRenewalDeps): CertificateRenewal {
  const { certificate, clock, log } = deps;
  let trial: CertificateTrial | null = certificate.successor === null ? null : NEW_TRIAL;
  let notBefore = Number.NEGATIVE_INFINITY;
  let isUp = false;
  let drafting = false;
  let taking = false;
  let warned = '';
  let publishedAt = Number.NEGATIVE_INFINITY;
  let cancelLook = (): void => {};
  let cancelTry = (): void => {};

  const validTo = (): string | null => timestamp(asWall(certificate.present.validTo));
  const problem = (message: string): void =>
    deps.tell('certificate_problem', { valid_to: validTo(), message });

  /** Unsaved changes stay in force until the next start. */
  const kept = (writing: Promise<string | null>, what: string): void =>
    void reasonOf(writing).then((reason) => {
      if (reason !== null) log.warn({ what, reason }, 'could not save the client certificate');
    });

  const publish = (): void => {
    const { request } = certificate;
    if (request === null || drafting || !isUp) return;
    const { id, csr } = request;
    publishedAt = clock.now();
    const body: CertificateRequestMessage = { ts: timestamp(clock.wall()), id, csr, valid_to: validTo() };
    deps.bus()?.publish(deps.topics.certificateRequest, JSON.stringify(body), { qos: 1, retain: true });
  };

  /** Clears the retained request: it no longer needs an answer. */
  const takeBack = (): void =>
    deps.bus()?.publish(deps.topics.certificateRequest, '', { qos: 1, retain: true });

  const ask = async (): Promise<void> => {
    drafting = true;
    const reason = await reasonOf(certificate.draft(deps.newId()));
    drafting = false;
    if (reason === null) {
      log.info({ valid_to: validTo() }, 'requesting a new client certificate');
      return publish();
    }
    notBefore = clock.now() + ASK_AGAIN_AFTER_MS;
    log.warn({ reason }, 'cannot request a new client certificate');
    problem(`cannot request a new one: ${reason}`);
  };

  /** The owner wants a new certificate before it is due. */
  const askNow = async (): Promise<unknown> => {
    if (drafting || taking || trial !== null)
      throw new CommandError('busy', 'a new certificate is being made or tried: send it again later');
    if (certificate.request === null) await ask();
    else publish();
    if (certificate.request !== null) return { valid_to: validTo() };
    throw new CommandError('not_kept', 'the new key cannot be saved: is the disk full?');
  };

  const warn = (wall: number): void => {
    const { validTo: end } = certificate.present;
    const isSoon = end - wall < WARN_BEFORE_MS;
    deps.ending(isSoon ? day(end) : null);
    if (!isSoon || warned === day(end)) return;
    warned = day(end);
    const message = `the client certificate expires on ${day(end)} and was not renewed`;
    log.warn({ valid_to: validTo() }, message);
    problem(message);
  };

  const look = (): void => {
    cancelLook();
    cancelLook = clock.at(clock.now() + LOOK_EACH_MS, look, LOOK_SLACK_MS);
    const wall = clock.wall();
    if (wall === null) return;
    warn(wall);
    const isDue = wall >= renewalAt(certificate.present, deps.draw);
    const isUnderWay = drafting || taking || trial !== null || certificate.request !== null;
    if (isDue && !isUnderWay && clock.now() >= notBefore) void ask();
    else if (clock.now() - publishedAt >= PUBLISH_EACH_MS) publish();
  };

  const heard = (outcome: ConnectionOutcome): void => {
    // A connection with another login says nothing about the certificate.
    if (trial === null || !certificate.isShown) return;
    const noted = noteConnection(trial, outcome);
    const turns = noted.trial.uses !== trial.uses;
    trial = noted.trial;
    if (noted.verdict === 'adopt') return adopted();
    if (noted.verdict === 'drop') return dropped();
    if (!turns) return;
    certificate.use(trial.uses);
    if (outcome === 'up') return;
    if (trial.uses === 'present')
      log.warn({}, 'no connection with the new client certificate; the present one is tried again');
    deps.bus()?.reconnect();
  };

  const adopted = (): void => {
    trial = null;
    kept(certificate.adopt(), 'the new one');
    log.info({ valid_to: validTo() }, 'the broker accepted the new client certificate');
    deps.tell('certificate_renewed', { valid_to: validTo() });
    takeBack();
    look();
  };

  const dropped = (): void => {
    trial = null;
    notBefore = clock.now() + ASK_AGAIN_AFTER_MS;
    kept(certificate.drop(), 'the present one');
    const message = 'the broker does not accept the new client certificate; the present one stays';
    log.warn({ valid_to: validTo() }, message);
    problem(message);
    takeBack();
  };

  return {
    begin: look,
    connected() {
      isUp = true;
      heard('up');
      publish();
    },
    failed(why) {
      isUp = false;
      heard(why === 'refused' ? 'refused' : 'failed');
    },
    async take({ request, certificate: pem }) {
      if (request === undefined || pem === undefined) return askNow();
      if (taking || certificate.request?.id !== request) {
        if (certificate.request === null) takeBack();
        throw new CommandError('not_asked', 'the device has no request with this id');
      }
      const wall = clock.wall();
      if (wall === null)
        throw new CommandError('clock', "the device's clock is not set: it cannot judge a certificate");
      taking = true;
      const offered = await certificate.offer(pem, wall).finally(() => {
        taking = false;
      });
      if (!offered.ok) {
        logRepeated(deps, {
          level: 'warn',
          kind: 'certificate',
          fields: { why: offered.message },
          sentence: 'a client certificate was rejected',
        });
        throw new CommandError(offered.code, `the certificate ${offered.message}`);
      }
      trial = NEW_TRIAL;
      certificate.use('new');
      log.info({}, 'received a new client certificate; trying it');
      const { successor } = certificate;
      const data = { valid_to: timestamp(successor === null ? null : asWall(successor.validTo)) };
      cancelTry = clock.at(clock.now() + TRY_AFTER_MS, () => deps.bus()?.reconnect());
      return data;
    },
    close() {
      cancelLook();
      cancelTry();
    },
  };
}

/** An exception counts as a failure with a reason: the next attempt comes later, and the daemon continues. */
const reasonOf = (attempt: Promise<string | null>): Promise<string | null> =>
  attempt.catch((error: unknown) => (error instanceof Error ? error.message : 'unknown error'));
