/** Asks the owner for the next client certificate in time, tries what comes, and tells how it went. */

import {
  type CertificateTrial,
  type ConnectionOutcome,
  day,
  NEW_TRIAL,
  noteConnection,
  renewalAt,
  WARN_BEFORE_MS,
} from '../../core/owner/certificate-renewal-rules.ts';
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
import { logRepeated, type RepeatFilter } from '../repeat-filter.ts';

/** The wall clock may be set meanwhile, and no timer lasts for years. */
const LOOK_EACH_MS = 3_600_000;
const LOOK_SLACK_MS = 60_000;
/** After a certificate that did not hold, or could not be kept. */
const ASK_AGAIN_AFTER_MS = 86_400_000;
/** The broker may have lost what it kept. */
const PUBLISH_EACH_MS = 86_400_000;
/** For the answer to the command, before the connection is left. */
const TRY_AFTER_MS = 1000;

export interface CertificateRenewalDeps {
  readonly certificate: DeviceCertificate;
  readonly topics: Pick<DeviceTopics, 'certificateRequest'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly repeats: RepeatFilter;
  /** From 0 to 1, of this device: a fleet does not ask all at once. */
  readonly draw: number;
  newId(): string;
  bus(): Bus | null;
  tell<K extends EventKind>(kind: K, detail: EventDetail<K>): void;
  /** @param day on which the certificate ends; null: not soon */
  ending(day: string | null): void;
}

export interface CertificateRenewal {
  /** From here on the owner can be told. */
  begin(): void;
  /** The connection is up. */
  connected(): void;
  /** A connection ended or never came about. */
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
  const notTaking = (): boolean => (taking = false);
  let warned = '';
  let publishedAt = Number.NEGATIVE_INFINITY;
  let cancelLook = (): void => {};
  let cancelTry = (): void => {};

  const validTo = (): string | null => timestamp(asWall(certificate.present.validTo));
  const problem = (message: string): void =>
    deps.tell('certificate_problem', { valid_to: validTo(), message });

  /** What could not be kept is in force all the same, until the next start. */
  const kept = (writing: Promise<string | null>, what: string): void =>
    void writing.then((reason) => {
      if (reason !== null) log.warn({ what, reason }, 'the state of the client certificate was not kept');
    });

  const publish = (): void => {
    const { request } = certificate;
    if (request === null || drafting || !isUp) return;
    const { id, csr } = request;
    publishedAt = clock.now();
    const body: CertificateRequestMessage = { ts: timestamp(clock.wall()), id, csr, valid_to: validTo() };
    deps.bus()?.publish(deps.topics.certificateRequest, JSON.stringify(body), { qos: 1, retain: true });
  };

  /** The broker has kept the request, which nobody needs to answer any more. */
  const takeBack = (): void =>
    deps.bus()?.publish(deps.topics.certificateRequest, '', { qos: 1, retain: true });

  const ask = async (): Promise<void> => {
    drafting = true;
    const reason = await certificate.draft(deps.newId());
    drafting = false;
    if (reason === null) {
      log.info({ valid_to: validTo() }, 'a new client certificate is asked for');
      return publish();
    }
    notBefore = clock.now() + ASK_AGAIN_AFTER_MS;
    log.warn({ reason }, 'no new client certificate can be asked for: its key cannot be kept');
    problem(`no new one can be asked for: ${reason}`);
  };

  /** The owner wants another one, though it is not time yet. */
  const askNow = async (): Promise<unknown> => {
    if (drafting || taking || trial !== null)
      throw new CommandError('busy', 'a new certificate is being made or tried: send it again later');
    if (certificate.request === null) await ask();
    else publish();
    if (certificate.request !== null) return { valid_to: validTo() };
    throw new CommandError('not_kept', 'the new key cannot be kept: is the disk full?');
  };

  const warn = (wall: number): void => {
    const { validTo: end } = certificate.present;
    const isSoon = end - wall < WARN_BEFORE_MS;
    deps.ending(isSoon ? day(end) : null);
    if (!isSoon || warned === day(end)) return;
    warned = day(end);
    const message = `the client certificate ends on ${day(end)} and was not renewed`;
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
    // Another login says nothing about it.
    if (trial === null || !certificate.isShown) return;
    const noted = noteConnection(trial, outcome);
    const turns = noted.trial.uses !== trial.uses;
    trial = noted.trial;
    if (noted.verdict === 'adopt') return adopted();
    if (noted.verdict === 'drop') return dropped();
    if (!turns) return;
    certificate.use(trial.uses);
    if (trial.uses === 'present')
      log.warn({}, 'no connection with the new client certificate; the present one is tried again');
    deps.bus()?.reconnect();
  };

  const adopted = (): void => {
    trial = null;
    kept(certificate.adopt(), 'the new one');
    log.info({ valid_to: validTo() }, 'the broker has taken the new client certificate');
    deps.tell('certificate_renewed', { valid_to: validTo() });
    takeBack();
    look();
  };

  const dropped = (): void => {
    trial = null;
    notBefore = clock.now() + ASK_AGAIN_AFTER_MS;
    kept(certificate.drop(), 'the present one');
    const message = 'the broker does not take the new client certificate; the present one stays';
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
        throw new CommandError('not_asked', 'the device waits for no certificate under this id');
      }
      const wall = clock.wall();
      if (wall === null)
        throw new CommandError('clock', "the device's clock is not set: it cannot judge a certificate");
      taking = true;
      const offered = await certificate.offer(pem, wall).finally(notTaking);
      if (!offered.ok) {
        // Whoever may send commands can send many.
        logRepeated(deps, {
          ...{ level: 'warn', kind: 'certificate', fields: { why: offered.message } },
          sentence: 'a client certificate was not taken',
        });
        throw new CommandError(offered.code, `the certificate ${offered.message}`);
      }
      trial = NEW_TRIAL;
      certificate.use('new');
      log.info({}, 'a new client certificate has come, and is tried');
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
