import { step } from '../../../src/device/lane/machine.ts';
import type { LaneEffect } from '../../../src/device/lane/state/lane-effect.ts';
import type { LaneEvent, TimerName } from '../../../src/device/lane/state/lane-event.ts';
import {
  LANE_DEFAULTS,
  type LaneOptions,
  type LaneSettings,
} from '../../../src/device/lane/state/lane-options.ts';
import { createLane, type LaneState } from '../../../src/device/lane/state/lane-state.ts';
import {
  hearingStream,
  type Lease,
  type LiveStream,
  leaseOf,
  phaseOf,
  type Session,
  type Successor,
  setupOf,
} from '../../../src/device/lane/state/session-state.ts';
import { StepContext } from '../../../src/device/lane/state/step-context.ts';
import type { Phase } from '../../../src/protocol/phases.ts';
import type { Walk } from './demand.ts';
import { freeze } from './freeze.ts';
import { Ledger } from './invariants.ts';

const PONG_AFTER_MS = 40;
/** Longer than any story. */
const VERY_PATIENT_MS = 1e9;
/** More steps than this at one instant mean an endless loop. */
const MOST_STEPS_AT_ONE_INSTANT = 2000;

/** Every transition of the phase table that the machine really takes, also those inside one event. */
let walks: Walk[] = [];
const become = StepContext.prototype.become;
StepContext.prototype.become = function (this: StepContext, session: Session) {
  const to = phaseOf(session);
  if (this.phase !== to) walks.push({ from: this.phase, to });
  become.call(this, session);
};

type Effect<T extends LaneEffect['type']> = Extract<LaneEffect, { type: T }>;
export type Timed<E> = E & { readonly at: number };

/**
 * One lane that a test moves by hand: its time, its timers, and all its effects, in order. Every
 * invariant of the lane is checked after every step.
 */
export class StepHarness {
  state: LaneState;
  now = 50_000;
  /** Everything that the lane did, with its time. */
  readonly log: Timed<LaneEffect>[] = [];
  readonly walked: Walk[] = [];
  /** Called for each effect as it happens; a simulated outside connects here. */
  readonly watchers: ((effect: LaneEffect) => void)[] = [];
  /** Whether pings are answered; false: a black hole. */
  pongs = true;
  readonly timers = new Map<TimerName, number>();
  private agenda: { at: number; run: () => void }[] = [];
  private readonly ledger: Ledger;

  constructor(
    given: { settings?: Partial<LaneSettings>; options?: Partial<LaneOptions>; seed?: number } = {},
  ) {
    this.state = freeze(
      createLane({
        settings: {
          ...LANE_DEFAULTS,
          playoutBytesPerMs: 48,
          // Quickened sound cannot be decoded.
          quickens: false,
          // In most stories the service sends nothing during speech, which would count as silent.
          silentAskMs: VERY_PATIENT_MS,
          ...given.settings,
        },
        options: {
          source: 'en',
          targets: ['es'],
          voice: null,
          echo: 'half-duplex',
          muted: false,
          volume: 100,
          earcons: false,
          bargeIn: 'duck',
          start: 'boot',
          standbyAfterMs: 0,
          ...given.options,
        },
        idPrefix: 'test',
        seed: given.seed ?? 1,
      }),
    );
    this.ledger = new Ledger(this.state);
  }

  // --- results

  get phase(): Phase {
    return phaseOf(this.state.session);
  }
  /** The stream that received speech last. */
  get hearing(): LiveStream | null {
    return hearingStream(this.state.session);
  }
  /** The stream that is being set up. */
  get setup(): Successor | null {
    return setupOf(this.state.session);
  }
  /** The unspent token. */
  get lease(): Lease | null {
    return leaseOf(this.state.session);
  }
  get accounts() {
    return { ...this.state.backlog.accounts, held: this.state.backlog.chunks.length };
  }
  /** All effects of one kind so far. */
  all<T extends LaneEffect['type']>(type: T): Timed<Effect<T>>[] {
    return this.log.filter((effect): effect is Timed<Effect<T>> => effect.type === type);
  }
  last<T extends LaneEffect['type']>(type: T): Timed<Effect<T>> {
    const found = this.all(type).at(-1);
    if (found === undefined) throw new Error(`the lane never did ${type}`);
    return found;
  }
  /** The kinds of all events published so far. */
  get notes(): string[] {
    return this.all('notify').map(({ kind }) => kind);
  }
  /** The sends: s = sound, . = silence of a captured chunk, f = filler. */
  get wire(): string {
    return this.all('send_audio')
      .map(({ pcm, capturedAt }) => (capturedAt === null ? 'f' : pcm === null ? '.' : 's'))
      .join('');
  }
  /** Time until a timer is due (ms); Infinity: not armed. */
  due(timer: TimerName): number {
    return (this.timers.get(timer) ?? Infinity) - this.now;
  }

  // --- actions

  step(event: LaneEvent): readonly LaneEffect[] {
    freeze(event);
    walks = [];
    // A timer that goes off is not armed any more, from whatever source the event comes.
    if (event.type === 'timer' && this.due(event.timer) <= 0) this.timers.delete(event.timer);
    const before = this.state;
    const { state, effects } = step(before, event, this.now);
    this.state = freeze(state);
    this.walked.push(...walks);
    for (const effect of effects) {
      this.log.push({ ...effect, at: this.now });
      if (effect.type === 'arm') this.timers.set(effect.timer, effect.at);
      if (effect.type === 'disarm') this.timers.delete(effect.timer);
      if (effect.type === 'ping' && this.pongs) {
        this.after(PONG_AFTER_MS, () => this.step({ type: 'pong', stream: effect.stream }));
      }
    }
    this.ledger.check({ before, event, state, effects, now: this.now, walks, timers: this.timers });
    for (const effect of effects) for (const watcher of this.watchers) watcher(effect);
    return effects;
  }

  /** Plans an outside event in `ms`. */
  after(ms: number, run: () => void): void {
    this.agenda.push({ at: this.now + ms, run });
  }

  /** Cancels the planned events. */
  forgetPlans(): void {
    this.agenda = [];
  }

  /** Lets time pass; timers and planned events happen when they are due. */
  pass(ms: number): void {
    const end = this.now + ms;
    let steps = 0;
    while (true) {
      const next = this.takeNext(end);
      if (next === null) break;
      steps = next.at > this.now ? 0 : steps + 1;
      if (steps > MOST_STEPS_AT_ONE_INSTANT) throw new Error('the lane goes round in circles');
      this.now = Math.max(this.now, next.at);
      next.run();
    }
    this.now = end;
  }

  private takeNext(end: number): { at: number; run: () => void } | null {
    let timer: { name: TimerName; at: number } | null = null;
    for (const [name, at] of this.timers) if (at <= end && at < (timer?.at ?? Infinity)) timer = { name, at };
    const planned = this.agenda.reduce<{ at: number; run: () => void } | null>(
      (first, entry) => (entry.at <= end && entry.at < (first?.at ?? Infinity) ? entry : first),
      null,
    );
    if (planned !== null && planned.at <= (timer?.at ?? Infinity)) {
      this.agenda = this.agenda.filter((entry) => entry !== planned);
      return planned;
    }
    if (timer === null) return null;
    const { name, at } = timer;
    return {
      at,
      run: () => {
        this.timers.delete(name);
        this.step({ type: 'timer', timer: name });
      },
    };
  }

  /** The event loop is blocked: time passes, nothing happens; due events happen late. */
  stall(ms: number): void {
    this.now += ms;
  }

  /** Lets time pass until `is`, for at most `withinMs`. */
  until(is: () => boolean, withinMs: number): void {
    const end = this.now + withinMs;
    while (!is()) {
      if (this.now >= end)
        throw new Error(`still ${this.phase} (${this.state.problem?.code}) after ${withinMs} ms`);
      this.pass(Math.min(10, end - this.now));
    }
  }
}
