/** Runs the pure issuer: passes it the requests from the bus, and carries out its effects at the service. */
import type { Signer } from '../../adapters/signing/signer.ts';
import { type Complain, createLimitedWarnings } from '../../machine/limited-warnings.ts';
import { PendingWork } from '../../machine/pending-work.ts';
import { within } from '../../machine/within.ts';
import type { Bus, BusMessage } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Store } from '../../ports/store.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import { nameOf } from '../config/owned-devices.ts';
import type { DeviceReports } from '../reports/device-reports.ts';
import type { ServiceClient } from '../service/service-client.ts';
import { complainOfStore } from '../store/store-complaint.ts';
import { AnswerSender } from './answer-sender.ts';
import { MOST_KNOWN } from './device-registry.ts';
import type { Ask, IssuerEffect, IssuerEvent } from './issue-event.ts';
import { createIssuer, type Issuer } from './issuer.ts';
import { settledMs } from './mint/claim.ts';
import { createMintJobs, type MintJobs } from './mint-jobs.ts';
import { type Reconciler, startReconciler } from './reconciler.ts';
import { complainOfFlood, createRequestReader, type RequestReader } from './request.ts';
import { createServiceJobs, type ServiceJobs } from './service-jobs.ts';
import type { TokenCounts } from './token-counts.ts';

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
  /** Longest wait for running requests at shutdown (ms). */
  readonly closeWithinMs: number;
}

/** The shell around the pure issuer. */
export class IssuerRunner {
  private readonly parts: IssuerRunnerParts;
  private readonly issuer: Issuer;
  private readonly complain: Complain;
  private readonly readRequest: RequestReader;
  /** The parts that carry out the effects. */
  private readonly answers: AnswerSender;
  private readonly service: ServiceJobs;
  private readonly mint: MintJobs;
  private readonly reconciler: Reconciler;
  private readonly pending = new PendingWork();
  private isClosing = false;
  private cancelWake = (): void => {};

  constructor(parts: IssuerRunnerParts) {
    const { config, service, store, instance, signer, log, clock, random } = parts;
    this.parts = parts;
    this.issuer = createIssuer(config, instance);
    const complain = createLimitedWarnings(log, clock);
    this.complain = complain;
    this.readRequest = createRequestReader(config, clock, complain);
    this.answers = new AnswerSender({ config, signer, clock, log, complain });
    this.service = createServiceJobs({ service, log, random });
    this.mint = createMintJobs({ store, service: this.service, instance, complain, log, random });
    this.reconciler = startReconciler({
      store,
      service: this.service,
      instance,
      clock,
      log,
      complain,
      settledMs: settledMs(config.service.timeout),
      isMinting: () => this.issuer.jobs > 0,
    });
    this.pending.add(this.learnDevices());
  }

  answerOn(bus: Bus): void {
    this.answers.use(bus);
  }

  hear(message: BusMessage): void {
    if (this.isClosing) return;
    const request = this.readRequest(message);
    if (request === null) return;
    if (request.kind === 'invalid') {
      const { who, id, reply, detail } = request;
      return this.dispatch({ type: 'malformed', who, id, reply, detail });
    }
    this.dispatch({ type: 'asked', ask: request.ask, draw: this.parts.random() });
    this.recordEnds(request.ask);
  }

  /** Pending requests still get their answers if the service answers soon; later requests are ignored. */
  async close(): Promise<void> {
    const { clock, closeWithinMs } = this.parts;
    this.isClosing = true;
    this.cancelWake();
    const idle = async (): Promise<void> => {
      await this.pending.idle();
      await this.reconciler.close();
    };
    await within(clock, closeWithinMs, idle());
    void this.reconciler.close();
  }

  private dispatch(event: IssuerEvent): void {
    const { clock, counts } = this.parts;
    const now = clock.now();
    counts.event(event, now);
    for (const effect of this.issuer.handle(event, now)) {
      counts.effect(effect, now);
      this.run(effect);
    }
  }

  private run(effect: IssuerEffect): void {
    switch (effect.type) {
      case 'answer':
        return this.pending.add(this.answers.answer(effect));
      case 'confirm':
        return this.pending.add(this.answers.confirm(effect));
      case 'create':
        return this.dispatchResult(this.service.create(effect.job, effect.input));
      case 'probe':
        return this.dispatchResult(this.service.probe(effect.job, effect.input));
      case 'fetch':
        return this.dispatchResult(this.service.fetch(effect.job, effect.session));
      case 'claim':
        return this.dispatchResult(this.mint.claim(effect));
      case 'end':
        return this.dispatchResult(this.mint.end(effect));
      case 'settle':
        return this.dispatchResult(this.mint.settle(effect));
      case 'release':
        return this.pending.add(this.mint.release(effect));
      case 'revoke':
        return this.pending.add(this.mint.revoke(effect));
      case 'discard':
        return this.pending.add(this.mint.discard(effect));
      case 'hold':
        return this.holdJob(effect);
      case 'wake':
        return this.wake(effect.afterMs);
      case 'ignore':
        return this.logIgnored(effect);
    }
  }

  private dispatchResult(work: Promise<IssuerEvent>): void {
    this.pending.add(work.then((event) => this.dispatch(event)));
  }

  private holdJob({ job, afterMs }: Extract<IssuerEffect, { type: 'hold' }>): void {
    const { clock, random } = this.parts;
    clock.at(clock.now() + afterMs, () => {
      if (!this.isClosing) this.dispatch({ type: 'held', job, draw: random() });
    });
  }

  private wake(afterMs: number): void {
    // Requests that are still running may ask for a wake, but no timer may fire after the shutdown.
    if (this.isClosing) return;
    const { clock, random } = this.parts;
    this.cancelWake();
    this.cancelWake = clock.at(clock.now() + afterMs, () => this.dispatch({ type: 'woken', draw: random() }));
  }

  private logIgnored({ who, why }: Extract<IssuerEffect, { type: 'ignore' }>): void {
    const device = `${who.tenant}/${who.device}`;
    if (why === 'flood') complainOfFlood(device, this.complain);
    else this.parts.log.debug({ device, why }, 'request not answered');
  }

  /** Writes the ended streams that a request reports. The answer does not wait for this. */
  private recordEnds(ask: Ask): void {
    const { who, request } = ask;
    if (request.ended === undefined || request.ended.length === 0) return;
    this.parts.reports.repeat(`${who.tenant}/${who.device}`, request.ended, () =>
      this.pending.add(this.answers.confirmEnds(ask)),
    );
  }

  /** Devices that had a session before this start do not count as unknown. */
  private async learnDevices(): Promise<void> {
    const { store, clock, log } = this.parts;
    try {
      const names = await store.knownDevices(MOST_KNOWN);
      this.issuer.know(names.map(nameOf), clock.now());
    } catch (error) {
      complainOfStore(error, this.complain, log);
    }
  }
}
