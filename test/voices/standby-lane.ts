import { step } from '../../src/device/lane/machine.ts';
import { CapturePipeline } from '../../src/device/lane/runner/capture-pipeline.ts';
import type { LaneEffect } from '../../src/device/lane/state/lane-effect.ts';
import type { LaneEvent, TimerName } from '../../src/device/lane/state/lane-event.ts';
import { LANE_DEFAULTS } from '../../src/device/lane/state/lane-options.ts';
import { createLane, type LaneState } from '../../src/device/lane/state/lane-state.ts';
import type { CaptureSink } from '../../src/ports/audio.ts';
import type { Log } from '../../src/ports/log.ts';
import { OUTPUT_RATE_HZ, type ServiceEvent } from '../../src/ports/stream.ts';
import type { CreateVoiceDetector } from '../../src/ports/voice.ts';
import { toPcm } from '../../src/sound/pcm.ts';
import { finished, ready, understood } from '../service-events.ts';
import { createVirtualClock } from '../virtual-clock.ts';
import { RATE_HZ } from './recordings.ts';

const { chunkMs } = LANE_DEFAULTS;
export const CHUNK_SAMPLES = (RATE_HZ * chunkMs) / 1000;

/** Delays of the backend and the service (ms), similar to real ones. */
const TOKEN_MS = 150;
const UPGRADE_MS = 500;
const SETUP_MS = 2500;
const END_MS = 400;
const PONG_MS = 60;
/** Time between two partials of the service during speech (ms). */
const HEARD_MS = 1000;

const quiet = (): void => {};
const LOG: Log = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };

export interface StandbyLaneOptions {
  readonly createVoiceDetector: CreateVoiceDetector;
  readonly standbyAfterMs: number;
  /** Whether the service would recognise speech captured at that moment. */
  understands(capturedAt: number): boolean;
}

/**
 * A kiosk in standby that wakes by voice: the shipped pipeline from the microphone to the lane, and the lane, in virtual time with
 * a working service.
 */
export class StandbyLane {
  now = 10_000;
  wakes = 0;
  /** Time in which the lane was awake, or its last stream was not yet closed. */
  openMs = 0;
  /** End times of chunks that were sent unchanged. */
  readonly sent = new Set<number>();
  readonly told: string[] = [];
  private readonly options: StandbyLaneOptions;
  private state: LaneState;
  private readonly timers = new Map<TimerName, number>();
  private agenda: { readonly at: number; readonly run: () => void }[] = [];
  private readonly runsAt = new Map<number, number>();
  private heardAt = Number.NEGATIVE_INFINITY;
  private sink: CaptureSink | null = null;
  private readonly pipeline: CapturePipeline;
  private rest = new Float32Array(0);

  constructor(options: StandbyLaneOptions) {
    this.options = options;
    this.pipeline = new CapturePipeline({
      lane: 'main',
      clock: createVirtualClock(),
      log: LOG,
      rateHz: RATE_HZ,
      playedRateHz: OUTPUT_RATE_HZ,
      chunkMs,
      createVoiceDetector: options.createVoiceDetector,
      cancelEcho: false,
      openCapture: async (sink) => {
        this.sink = sink;
        return { close: async () => {} };
      },
      post: (event) => this.step(event),
    });
    this.state = createLane({
      settings: { ...LANE_DEFAULTS, playoutBytesPerMs: (OUTPUT_RATE_HZ * 2) / 1000 },
      options: {
        source: 'en',
        targets: ['es'],
        voice: null,
        muted: false,
        volume: 100,
        earcons: false,
        echo: 'half-duplex',
        bargeIn: 'duck',
        start: 'voice',
        standbyAfterMs: options.standbyAfterMs,
      },
      idPrefix: 'voices',
      seed: 1,
    });
    this.step({ type: 'broker', up: true });
    this.step({ type: 'start' });
  }

  get isOpen(): boolean {
    return this.state.session.kind !== 'standby' || this.state.oldSession !== null;
  }

  get vainWakes(): number {
    return this.state.vainWakes.length;
  }

  /** Whether the chunk with this end time was sent or is queued. */
  isKept(capturedAt: number): boolean {
    return (
      this.sent.has(capturedAt) || this.state.backlog.chunks.some((chunk) => chunk.capturedAt === capturedAt)
    );
  }

  /** Feeds sound to the microphone and advances the time. An incomplete chunk waits for more sound. */
  hear(sound: Float32Array): void {
    const all = new Float32Array(this.rest.length + sound.length);
    all.set(this.rest);
    all.set(sound, this.rest.length);
    let at = 0;
    for (; at + CHUNK_SAMPLES <= all.length; at += CHUNK_SAMPLES) {
      this.pass(chunkMs);
      this.sink?.frames(toPcm(all.subarray(at, at + CHUNK_SAMPLES)), this.now);
    }
    this.rest = all.slice(at);
  }

  async close(): Promise<void> {
    await this.pipeline.close();
  }

  private pass(ms: number): void {
    const until = this.now + ms;
    while (true) {
      const timer = [...this.timers].reduce<[TimerName, number] | null>(
        (first, one) => (first === null || one[1] < first[1] ? one : first),
        null,
      );
      const [due] = this.agenda;
      const at = Math.min(timer?.[1] ?? Number.POSITIVE_INFINITY, due?.at ?? Number.POSITIVE_INFINITY);
      if (at > until) break;
      this.moveTo(Math.max(this.now, at));
      if (due !== undefined && due.at <= this.now) {
        this.agenda.shift();
        due.run();
      } else if (timer !== null) {
        this.timers.delete(timer[0]);
        this.step({ type: 'timer', timer: timer[0] });
      }
    }
    this.moveTo(until);
  }

  private moveTo(at: number): void {
    if (this.isOpen) this.openMs += at - this.now;
    this.now = at;
  }

  private after(ms: number, run: () => void): void {
    this.agenda.push({ at: this.now + ms, run });
    this.agenda.sort((one, other) => one.at - other.at);
  }

  private says(stream: number, said: ServiceEvent): void {
    this.step({ type: 'service', stream, said });
  }

  private step(event: LaneEvent): void {
    const { state, effects } = step(this.state, event, this.now);
    this.state = state;
    for (const effect of effects) this.perform(effect);
  }

  private perform(effect: LaneEffect): void {
    switch (effect.type) {
      case 'arm':
        this.timers.set(effect.timer, effect.at);
        return;
      case 'disarm':
        this.timers.delete(effect.timer);
        return;
      case 'open_capture':
        return this.pipeline.open();
      case 'request_token': {
        const { id } = effect;
        const terms = { windowMs: 60_000, maxDurationMs: null, intent: 's2s', connectionType: 'ws' };
        const grant = { id, session: 'voices', streamHost: 'stream.example', ...terms };
        return this.after(TOKEN_MS, () => this.step({ type: 'granted', grant }));
      }
      case 'notify':
        if (effect.kind === 'wake') this.wakes += 1;
        this.told.push(effect.kind);
        return;
      default:
        if ('stream' in effect) this.serve(effect);
    }
  }

  /** Simulates the service. */
  private serve(effect: Extract<LaneEffect, { stream: number }>): void {
    const { stream } = effect;
    switch (effect.type) {
      case 'open_stream':
        return this.after(UPGRADE_MS, () => this.step({ type: 'opened', stream }));
      case 'send_task':
        this.runsAt.set(stream, this.now + SETUP_MS);
        return;
      case 'poll_task': {
        const runs = this.now >= (this.runsAt.get(stream) ?? this.now);
        const answer = runs ? ready() : ready('none');
        return this.after(PONG_MS, () => this.says(stream, answer));
      }
      case 'ping':
        return this.after(PONG_MS, () => this.step({ type: 'pong', stream }));
      case 'end_task':
        return this.after(END_MS, () => this.says(stream, finished()));
      case 'send_audio':
        if (effect.pcm === null || effect.capturedAt === null) return;
        this.sent.add(effect.capturedAt);
        if (!this.options.understands(effect.capturedAt) || this.now - this.heardAt < HEARD_MS) return;
        this.heardAt = this.now;
        return this.after(HEARD_MS, () => this.says(stream, understood({ id: `${stream}-${this.now}` })));
      case 'close_stream':
        return;
    }
  }
}
