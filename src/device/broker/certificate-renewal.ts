import { createCallers } from '../../machine/callers.ts';
import type { Handlers } from '../../machine/machine.ts';
import { logRepeated, type RepeatFilter } from '../../machine/repeat-filter.ts';
import type { Runner } from '../../machine/runner.ts';
import type { Bus, BusProblem } from '../../ports/bus.ts';
import type { DeviceCertificate } from '../../ports/certificate.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { asWall } from '../../protocol/common/time.ts';
import type { CertificateRequestMessage } from '../../protocol/mqtt/certificate.ts';
import type { CommandArgs } from '../../protocol/mqtt/commands/registry.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { EventDetail, EventKind } from '../../protocol/mqtt/event.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import { CommandError } from '../commands/command-request.ts';
import {
  INTERNAL,
  type RenewalAnswer,
  type RenewalEffect,
  type RenewalEvent,
  type RenewalFacts,
  renewalMachine,
} from './certificate-renewal-machine.ts';

export interface CertificateRenewalDeps {
  readonly runner: Runner;
  readonly certificate: DeviceCertificate;
  readonly topics: Pick<DeviceTopics, 'certificateRequest'>;
  readonly clock: Pick<Clock, 'wall'>;
  readonly log: Log;
  readonly repeats: RepeatFilter;
  /** From 0 to 1, fixed per device. */
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
  const { runner, certificate, draw } = deps;
  const callers = createCallers<RenewalAnswer>();
  const { post, close } = runner.run(
    renewalMachine(draw),
    { ...storeHandlers(deps), ...ownerHandlers(deps, callers.answer) },
    () => factsOf(certificate),
    () => callers.answerAll(INTERNAL),
  );
  return {
    begin: () => post({ type: 'begun' }),
    connected: () => post({ type: 'connection', outcome: 'up' }),
    failed: (problem) => post({ type: 'connection', outcome: problem === 'refused' ? 'refused' : 'failed' }),
    async take({ request, certificate: pem }) {
      const answer = await callers.wait((caller) =>
        request === undefined || pem === undefined
          ? post({ type: 'ordered', caller })
          : post({ type: 'offered', caller, request, pem }),
      );
      if (!answer.ok) throw new CommandError(answer.code, answer.message);
      return { valid_to: textOf(answer.validTo) };
    },
    close,
  };
}

type StoreEffect = Extract<RenewalEffect, { type: 'draft' | 'judge' | 'use' | 'adopt' | 'drop' }>;

/** Handlers that use the certificates and keys of the device. */
function storeHandlers({
  certificate,
  log,
  newId,
  tell,
}: CertificateRenewalDeps): Handlers<RenewalEvent, StoreEffect> {
  /** Unsaved changes stay in force until the next start. */
  const warnUnsaved = (what: string, reason: string | null): void => {
    if (reason !== null) log.warn({ what, reason }, 'could not save the client certificate');
  };
  return {
    draft: async () => ({ type: 'drafted', problem: await reasonOf(() => certificate.draft(newId())) }),
    judge: async ({ caller, pem, wall }) => ({
      type: 'judged',
      caller,
      offer: await certificate.offer(pem, wall),
    }),
    use({ which }) {
      certificate.use(which);
    },
    async adopt({ validTo }) {
      const saved = reasonOf(() => certificate.adopt());
      log.info({ valid_to: textOf(validTo) }, 'the broker accepted the new client certificate');
      tell('certificate_renewed', { valid_to: textOf(validTo) });
      warnUnsaved('the new one', await saved);
      return undefined;
    },
    async drop() {
      warnUnsaved('the present one', await reasonOf(() => certificate.drop()));
      return undefined;
    },
  };
}

/** Handlers that speak to the owner and the broker. */
function ownerHandlers(
  deps: CertificateRenewalDeps,
  answer: (caller: number, answer: RenewalAnswer) => void,
): Handlers<RenewalEvent, Exclude<RenewalEffect, StoreEffect>> {
  const { topics, clock, log, bus, tell, ending } = deps;
  const retained = { qos: 1, retain: true } as const;
  return {
    publish_request({ id, csr, validTo }) {
      const ts = timestamp(clock.wall());
      const body: CertificateRequestMessage = { ts, id, csr, valid_to: textOf(validTo) };
      bus()?.publish(topics.certificateRequest, JSON.stringify(body), retained);
    },
    clear_request() {
      bus()?.publish(topics.certificateRequest, '', retained);
    },
    answer(effect) {
      answer(effect.caller, effect.answer);
    },
    reconnect() {
      bus()?.reconnect();
    },
    show_end({ day }) {
      ending(day);
    },
    report_problem({ validTo, message }) {
      tell('certificate_problem', { valid_to: textOf(validTo), message });
    },
    log_rejected({ why }) {
      const sentence = 'a client certificate was rejected';
      logRepeated(deps, { level: 'warn', kind: 'certificate', fields: { why }, sentence });
    },
    log({ level, sentence, validTo, reason }) {
      const valid = validTo === undefined ? {} : { valid_to: textOf(validTo) };
      const why = reason === undefined ? {} : { reason };
      log[level]({ ...valid, ...why }, sentence);
    },
  };
}

function factsOf({ present, successor, request, shown }: DeviceCertificate): RenewalFacts {
  return { present, successor, request, shown };
}

/** An exception counts as a failure with a reason: the next attempt comes later, and the daemon continues. */
async function reasonOf(attempt: () => Promise<string | null>): Promise<string | null> {
  try {
    return await attempt();
  } catch (error) {
    return error instanceof Error ? error.message : 'unknown error';
  }
}

function textOf(validTo: number | null): string | null {
  return timestamp(validTo === null ? null : asWall(validTo));
}
