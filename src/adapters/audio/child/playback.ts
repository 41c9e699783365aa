import type { Playback, PlaybackSink, Written } from '../../../ports/audio.ts';
import { stepPlaybackBuffer } from '../../../sound/playback-buffer/buffer.ts';
import {
  type BufferEffect,
  type BufferEvent,
  beginPlaybackBuffer,
  isSilent,
  type PlaybackBuffer,
  pendingEnd,
  placeAfter,
  runsOutUntil,
} from '../../../sound/playback-buffer/buffer-state.ts';
import type { Buffering, Sight } from '../../../sound/playback-buffer/device-timeline.ts';
import { CAPACITY_MS } from '../../../sound/playback-buffer/limits.ts';
import { type Consumption, openConsumption } from './consumption.ts';
import { createDeviceWriter, type DeviceWriter } from './device-writer.ts';
import { frameBytesOf, toDevice } from './format.ts';
import type { PlaybackChild } from './playback-child.ts';
import type { Child } from './process.ts';
import { createStartLimit } from './start-limit.ts';
import { cureOf } from './stderr-classifier.ts';
import { type SupervisedUse, type Supervisor, type SupervisorDeps, supervise } from './supervisor.ts';
import { createWatchdog, type Watchdog } from './watchdog.ts';

/** A running device whose buffering is unknown. */
const UNKNOWN: Buffering = { periodFrames: 1, bufferFrames: null };
/** Grace period after a blocked event loop (milliseconds): the child's messages are read before the child is judged. */
const MERCY_MS = 150;
/** Maximum bytes that the system buffers for a program that reads nothing (measured: 107 to 213 KB). */
const MOST_HELD_BYTES = 256 * 1024;

/** Runs a playback on a child process: the playback buffer decides, and this code carries out its effects. */
export function runPlayback(
  kind: PlaybackChild,
  rateHz: number,
  sink: PlaybackSink,
  deps: SupervisorDeps,
  seed: number,
): Playback {
  const device = new ChildPlayback(kind, rateHz, sink, deps, seed);
  return {
    mixer: null,
    figures: device.figures,
    get place() {
      return placeAfter(device.buffer);
    },
    write: (pcm) => device.write(pcm),
    flush: () => device.flush(),
    runOn: (on) => device.runOn(on),
    close: () => device.close(),
  };
}

class ChildPlayback {
  buffer: PlaybackBuffer;
  private readonly kind: PlaybackChild;
  private readonly sink: PlaybackSink;
  private readonly deps: SupervisorDeps;
  private readonly supervisor: Supervisor;
  private child: Child | null = null;
  private writer: DeviceWriter | null = null;
  private meter: Consumption | null = null;
  /** A fault was reported, and no recovery from it yet. */
  private isFaulty = false;
  private isClosed = false;
  /** Timeout for a child that reports when it is ready. */
  private readonly starting: Watchdog;
  private readonly startLimit = createStartLimit();
  /** The previous child was stopped before it had read anything. */
  private followsMiss = false;
  /** Earliest time at which the present child gets sound. */
  private readyFrom = 0;
  /** Neither the device's progress nor its opening can be observed. */
  private isBlind = false;
  private cancelLook = (): void => {};
  private cancelSettle = (): void => {};
  private cancelHeadStart = (): void => {};

  constructor(kind: PlaybackChild, rateHz: number, sink: PlaybackSink, deps: SupervisorDeps, seed: number) {
    this.kind = kind;
    this.sink = sink;
    this.deps = deps;
    this.buffer = beginPlaybackBuffer(rateHz, kind.latencyMs, deps.clock.now());
    this.starting = createWatchdog(deps.clock, MERCY_MS, () => {
      this.miss();
      this.failHung();
    });
    this.supervisor = supervise(this.use(), deps, seed);
  }

  get figures() {
    return this.supervisor.figures;
  }

  write(pcm: Uint8Array): Written {
    if (this.isClosed) {
      const end = pendingEnd(this.buffer, this.deps.clock.now());
      return { from: end, until: end };
    }
    this.post({ type: 'write', pcm, sight: this.sight() });
    return this.buffer.written;
  }

  flush(): number | undefined {
    this.post({ type: 'flush' });
    return runsOutUntil(this.buffer);
  }

  runOn(on: boolean): void {
    if (on === this.buffer.wantsRunOn) return;
    this.post({ type: 'run_on', on, restart: this.kind.runOn?.(on) === 'again' });
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.cancelLook();
    this.cancelSettle();
    this.cancelHeadStart();
    this.starting.rest();
    this.closeLine();
    await this.supervisor.close();
  }

  private post(event: BufferEvent): void {
    if (this.isClosed) return;
    const { state, effects } = stepPlaybackBuffer(this.buffer, event, this.deps.clock.now());
    this.buffer = state;
    for (const effect of effects) this.perform(effect);
  }

  private perform(effect: BufferEffect): void {
    const { clock, log } = this.deps;
    switch (effect.type) {
      case 'begin':
        return this.meter?.begin();
      case 'give':
      case 'fill_up': {
        const handed =
          effect.type === 'give' ? this.writer?.give(effect.pcm) : this.writer?.fillUp(effect.pcm);
        if (handed !== undefined) this.post({ type: 'given', ...handed });
        return;
      }
      case 'distrust':
        return this.closeMeter();
      case 'look_at':
        this.cancelLook();
        this.cancelLook = clock.at(effect.at, () => this.look(), effect.slackMs);
        return;
      case 'look_no_more':
        return this.cancelLook();
      case 'settle_at':
        this.cancelSettle = clock.at(effect.at, () => this.post({ type: 'settled' }));
        return;
      case 'works':
        if (this.isBlind && this.hasTaken()) this.startLimit.met();
        return this.supervisor.working();
      case 'hangs':
        if (this.isBlind && !this.hasTaken()) this.miss();
        return this.failHung(effect.slowShare);
      case 'restart':
        this.closeLine();
        return this.supervisor.restartChild();
      case 'measured':
        return this.sink.measured(effect.until);
      case 'missed': {
        const { ms } = effect;
        // The gap may be found during a write: report it only after that call.
        return queueMicrotask(() => this.isClosed || this.sink.missed(ms));
      }
      case 'overflows': {
        const text = `more than ${CAPACITY_MS / 1000} s of sound is waiting for the loudspeaker; further sound is dropped`;
        return log.warn({ device: this.kind.device().name }, text);
      }
    }
  }

  private look(): void {
    this.post({ type: 'look', sight: this.sight() });
  }

  private sight(): Sight {
    return { taken: this.meter?.frames() ?? null, pipeBytes: this.child?.waitingBytes ?? 0 };
  }

  private use(): SupervisedUse {
    const { kind } = this;
    return {
      device: kind.device,
      direction: 'out',
      spec: () => kind.spec(),
      started: (child) => this.onStarted(child),
      line: (text) => this.onLine(text),
      xrun: (ms) => {
        const { run } = this.buffer;
        this.post({ type: 'ran_dry', ms, sight: this.sight() });
        return this.buffer.run !== run;
      },
      gone: () => {
        this.cancelSettle();
        this.cancelHeadStart();
        this.starting.rest();
        this.post({ type: 'gone' });
        this.closeLine();
        this.child = null;
      },
      alternative: kind.alternative,
      inspect: kind.inspect,
      isQuiet: () => isSilent(this.buffer, this.deps.clock.now()),
      fault: (fault) => {
        this.isFaulty = true;
        this.post({ type: 'failed' });
        this.sink.fault(fault);
      },
      back: () => {
        this.isFaulty = false;
        // The recovery may be noticed during a write: report it only after that call.
        queueMicrotask(() => this.isClosed || this.isFaulty || this.sink.back());
      },
    };
  }

  private onStarted(child: Child): void {
    const { readiness } = this.kind;
    this.child = child;
    this.readyFrom = this.deps.clock.now() + (this.followsMiss ? this.startLimit.headStartMs : 0);
    this.followsMiss = false;
    this.post({ type: 'started' });
    if (readiness === null) return this.makeReady(UNKNOWN, child, false);
    // A device that does not open is treated like one that takes no sound.
    this.starting.expect(this.startLimit.ms);
  }

  private onLine(text: string): void {
    const news = this.kind.readiness?.read(text) ?? null;
    if (news?.kind === 'again') this.supervisor.restartChild();
    if (news?.kind !== 'ready' || this.child === null) return;
    this.starting.rest();
    this.makeReady(news.buffering, this.child, true);
  }

  private failHung(slowShare: number | null = null): void {
    this.supervisor.failChild({ code: 'hung', message: hangMessage(this.kind, slowShare) });
  }

  private miss(): void {
    // A child that takes long to end may be reported as hung several times.
    if (this.followsMiss) return;
    this.startLimit.missed();
    this.followsMiss = true;
  }

  /** Whether the child has certainly read something. */
  private hasTaken(): boolean {
    return (this.child?.passedBytes ?? 0) > MOST_HELD_BYTES;
  }

  private makeReady(buffering: Buffering, child: Child, isSure: boolean): void {
    const { clock } = this.deps;
    this.isBlind = buffering.bufferFrames === null;
    if (!this.isBlind) this.startLimit.met();
    if (this.isBlind && clock.now() < this.readyFrom) {
      this.cancelHeadStart = clock.at(this.readyFrom, () => this.makeReady(buffering, child, isSure));
      return;
    }
    this.prepare(buffering, child, isSure).catch(() => {
      const message = `the sound for the playback device "${this.kind.device().name}" can't be converted: the resampler does not load; install the program again`;
      this.supervisor.failChild({ code: 'failed', message });
    });
  }

  private async prepare(buffering: Buffering, child: Child, isSure: boolean): Promise<void> {
    const shape = this.kind.shape();
    const { periodFrames, bufferFrames } = buffering;
    const conversion = await toDevice(shape, this.buffer.rateHz);
    if (this.child !== child || this.isClosed) return conversion.close();
    this.closeLine();
    this.writer = createDeviceWriter(child, conversion, shape, periodFrames);
    if (child.pid !== null && bufferFrames !== null)
      this.meter = openConsumption(child.pid, periodFrames, frameBytesOf(shape));
    this.post({
      type: 'ready',
      deviceHz: shape.rateHz,
      buffering,
      isMetered: this.meter !== null,
      isSure,
      afterFault: this.isFaulty,
      sight: { taken: null, pipeBytes: child.waitingBytes },
    });
  }

  private closeLine(): void {
    this.writer?.close();
    this.writer = null;
    this.closeMeter();
  }

  private closeMeter(): void {
    this.meter?.close();
    this.meter = null;
  }
}

function hangMessage(kind: PlaybackChild, slowShare: number | null): string {
  const device = kind.device();
  const { part, name, program } = device;
  const what =
    slowShare === null ? 'no sound' : `sound too slowly, ${Math.round(100 * slowShare)} % of what is due`;
  return `the ${part} device "${name}" accepts ${what}; ${program} is restarted. If this persists, ${cureOf(device)}`;
}
