import { within } from '../../../machine/within.ts';
import type { DeviceFigures, OpenPlayback, Place, Playback, PlaybackSink } from '../../../ports/audio.ts';
import type { Clock } from '../../../ports/clock.ts';
import { audiblePart } from '../../../sound/frame-levels.ts';
import { applyRamp, type GainRamp, gainOfDb, rampTo, steadyGain } from '../../../sound/gain-ramp.ts';
import { type Ceiling, createCeiling } from '../../../sound/loudness/ceiling.ts';
import { createNormalizer, type Normalizer } from '../../../sound/loudness/normalizer.ts';
import { durationMs, sampleCount, volumeGain } from '../../../sound/pcm.ts';
import type { WriteKind } from '../../playout/playout.ts';
import type { LaneEffect, Output } from '../state/lane-effect.ts';
import type { LaneEvent } from '../state/lane-event.ts';
import { faultEvent, openingFault } from './audio-fault.ts';
import { type KeepOpening, keepOpening } from './keep-opening.ts';
import type { LatencyRecorder } from './latency.ts';

/** Dependencies of a lane's playback pipeline. */
export interface PlaybackPipelineDeps {
  readonly clock: Clock;
  readonly openPlayback: OpenPlayback;
  /** Missing: the lane has no headset. */
  readonly openHeadset?: OpenPlayback | undefined;
  /** Latency from the arrival of a sound until it is heard. */
  readonly wireToSpeaker: LatencyRecorder;
  /** Volume at the start, 0-100. */
  readonly volume: number;
  /** Sample rate of the played sound. */
  readonly rateHz: number;
  /** Whether the loudness of the service's voices is normalised. */
  readonly normalizes?: boolean;
  /** Receives the played sound and its time. */
  readonly reference?: Reference;
  post(event: LaneEvent): void;
}

/** Called for every sound as it is written. */
export interface Reference {
  /**
   * @param heardAt when its first sample is heard; @param goesOn true: it continues sound that still
   * plays, even if `heardAt` suggests a gap
   */
  played(pcm: Uint8Array, heardAt: number, goesOn: boolean, place?: Place | null): void;
  /** Sound after this moment was dropped before it was heard. */
  flushed(at: number, place?: Place | null): void;
  /** The device corrects the time of the present sound by this much (ms); negative: it is heard earlier. */
  late?(byMs: number): void;
}

/** Gain of the translation while a visitor speaks (dB): still audible, but not in the way. */
const DUCKED_DB = -12;

/** Times closer than this count as equal (ms). */
const ROUNDING_MS = 0.05;

/** Time until a loudspeaker that does not open is reported (ms). */
const OPENING_MS = 3000;

/** The path of the sound from the lane to the loudspeaker. It makes no decisions. */
export class PlaybackPipeline {
  private deps: PlaybackPipelineDeps;
  private playback: Playback | null = null;
  private opening: KeepOpening | null = null;
  private output: Output = 'loudspeaker';
  /** Counts openings: a device that opens after another one was wanted is closed again, and is not heard. */
  private turn = 0;
  /** Resolves when all devices that are not wanted any more are closed: an output may return to the card that it has just left. */
  private freed: Promise<unknown> = Promise.resolve();
  /** Whether the lane was told that the loudspeaker failed to open, or did not open in time. */
  private isMissing = false;
  private isClosed = false;
  private runsOn = false;
  private volume: number;
  private ducked = false;
  private ramp: GainRamp = steadyGain(1);
  private readonly ceiling: Ceiling;
  private readonly normalizer: Normalizer | null;
  /** Number of the last write, for later corrections by the device. */
  private lastWrite = 0;
  /** When the written sound ends, as computed at the write. */
  private soundsUntil = Number.NEGATIVE_INFINITY;

  constructor(deps: PlaybackPipelineDeps) {
    this.deps = deps;
    this.volume = deps.volume;
    this.ceiling = createCeiling(deps.rateHz);
    this.normalizer = deps.normalizes === true ? createNormalizer(deps.rateHz) : null;
  }

  /**
   * Opens the output, which stays open until another is wanted; a failure is reported as `audio_fault`. Resolves when
   * the first try has succeeded, failed or timed out. A device that opens later plays from then on.
   */
  async open(): Promise<void> {
    const { clock, openPlayback, openHeadset, post } = this.deps;
    const turn = ++this.turn;
    const isWanted = (): boolean => turn === this.turn && !this.isClosed;
    const ifWanted = (event: LaneEvent): void => {
      if (isWanted()) post(event);
    };
    const sink: PlaybackSink = {
      fault: (fault) => ifWanted(faultEvent('playback', fault)),
      back: () => {
        // The device may be another one, or may have lost its volume.
        if (isWanted()) this.playback?.mixer?.setVolume(this.volume);
        ifWanted({ type: 'playback_back' });
      },
      missed: (ms) => ifWanted({ type: 'unheard', ms }),
      measured: (heardUntil) => isWanted() && this.correct(heardUntil),
      also: (fault) =>
        ifWanted(fault === null ? { type: 'device_back', device: 'also' } : faultEvent('also', fault)),
    };
    const open = this.output === 'headset' && openHeadset !== undefined ? openHeadset : openPlayback;
    this.opening = keepOpening(clock, {
      open: () => open(sink),
      opened: (playback) => (isWanted() ? this.use(playback) : playback.close()),
      failed: (error) => this.miss(openingFault('playback', error)),
    });
    if (await within(clock, OPENING_MS, this.opening.firstTry)) return;
    if (!isWanted()) return;
    const message = `the loudspeaker has not opened within ${OPENING_MS / 1000} s; the lane runs without it until then`;
    this.miss(faultEvent('playback', { code: 'hung', message }));
  }

  /** Uses another loudspeaker from now on. */
  async renew(openPlayback: OpenPlayback): Promise<void> {
    this.deps = { ...this.deps, openPlayback };
    if (this.output === 'loudspeaker') await this.reopen();
  }

  /** The only switch between loudspeaker and headset: the one is closed before the other opens, so no sound can reach it. */
  async useOutput(output: Output, percent: number): Promise<void> {
    this.output = output;
    this.volume = percent;
    await this.reopen();
  }

  private async reopen(): Promise<void> {
    this.opening?.cancel();
    const { playback } = this;
    const turn = ++this.turn;
    this.playback = null;
    // The next opening reports a second device that still fails.
    this.deps.post({ type: 'device_back', device: 'also' });
    this.soundsUntil = Number.NEGATIVE_INFINITY;
    // Makes `use` report that the loudspeaker is back, in case the old one was lost.
    this.isMissing = true;
    this.freed = Promise.allSettled([this.freed, playback?.close()]);
    await this.freed;
    if (!this.isClosed && turn === this.turn) await this.open();
  }

  private miss(fault: LaneEvent): void {
    this.isMissing = true;
    this.deps.post(fault);
  }

  private async use(playback: Playback): Promise<void> {
    if (this.isClosed) return await playback.close();
    this.playback = playback;
    playback.mixer?.setVolume(this.volume);
    if (this.runsOn) playback.runOn?.(true);
    if (this.isMissing) this.deps.post({ type: 'playback_back' });
  }

  play({ pcm: given, kind, write, receivedAt, language }: Extract<LaneEffect, { type: 'play' }>): void {
    const { playback } = this;
    const { clock, post, rateHz } = this.deps;
    this.lastWrite = write;
    if (playback === null) {
      // No sound plays, so the gate must not stay closed for it.
      post({ type: 'sounding', write, from: clock.now(), until: clock.now() });
      return;
    }
    const sound = this.scale(this.normalize(given, kind, language ?? ''));
    const written = playback.write(sound);
    const { from } = written;
    const until = from + durationMs(sound.byteLength, rateHz);
    this.inRoom?.played(sound, from, this.sounds(), beginOf(playback.place ?? null, sound));
    this.soundsUntil = until;
    post({ type: 'sounding', write, from, until, audible: audiblePart(sound, rateHz) });
    if (Math.abs(written.until - until) > ROUNDING_MS) this.correct(written.until);
    if (receivedAt !== null) this.deps.wireToSpeaker.record(from - receivedAt);
  }

  /** Stops playing at once. */
  flush(): void {
    const { playback } = this;
    if (playback === null) return;
    this.soundsUntil = Number.NEGATIVE_INFINITY;
    const until = playback.flush() ?? this.deps.clock.now();
    this.inRoom?.flushed(until, playback.place ?? null);
  }

  /** Whether the device plays silence between sounds, so that its clock is never broken. */
  runOn(on: boolean): void {
    this.runsOn = on;
    this.playback?.runOn?.(on);
  }

  /** @param percent 0-100 */
  setVolume(percent: number): void {
    this.volume = percent;
    this.playback?.mixer?.setVolume(percent);
  }

  /** Lowers the volume of sound played from now on, or restores it. */
  duck(on: boolean): void {
    this.ducked = on;
  }

  /** Counters of the device; null without a device. */
  get figures(): DeviceFigures | null {
    return this.playback?.figures ?? null;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.opening?.cancel();
    await Promise.allSettled([this.freed, this.playback?.close()]);
  }

  private correct(heardUntil: number): void {
    const lateMs = heardUntil - this.soundsUntil;
    if (Number.isFinite(lateMs)) {
      this.soundsUntil = heardUntil;
      this.inRoom?.late?.(lateMs);
    }
    this.deps.post({ type: 'sounding', write: this.lastWrite, from: null, until: heardUntil });
  }

  /** Receives the sound in the air: that of a headset is not, so no microphone needs protection from it. */
  private get inRoom(): Reference | undefined {
    return this.output === 'headset' ? undefined : this.deps.reference;
  }

  private normalize(pcm: Uint8Array, kind: WriteKind, language: string): Uint8Array {
    const { ceiling, normalizer } = this;
    if (kind === 'earcon') return pcm;
    // The ceiling comes first: the normaliser would take seconds to notice that a soft voice has become loud.
    const held = kind === 'fade' ? ceiling.edge(pcm) : ceiling.hold(pcm);
    if (normalizer === null) return held;
    return kind === 'fade' ? normalizer.edge(held) : normalizer.level(held, language);
  }

  /** After silence, a sound begins at its full gain; within sound, a change of gain is a ramp. */
  private scale(pcm: Uint8Array): Uint8Array {
    const gain =
      (this.playback?.mixer == null ? volumeGain(this.volume) : 1) * (this.ducked ? gainOfDb(DUCKED_DB) : 1);
    const scaled = applyRamp(
      pcm,
      this.sounds() ? rampTo(this.ramp, gain, this.deps.rateHz) : steadyGain(gain),
    );
    this.ramp = scaled.ramp;
    return scaled.pcm;
  }

  /** Whether written sound plays now or soon. */
  private sounds(): boolean {
    return this.soundsUntil > this.deps.clock.now();
  }
}

/** The position where a sound begins; `place` is the position where it ends. */
function beginOf(place: Place | null, sound: Uint8Array): Place | null {
  return place === null ? null : { ...place, sample: place.sample - sampleCount(sound) };
}
