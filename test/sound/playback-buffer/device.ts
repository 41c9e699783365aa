import { BYTES_PER_SAMPLE, samplesOf } from '../../../src/sound/pcm.ts';
import { stepPlaybackBuffer } from '../../../src/sound/playback-buffer/buffer.ts';
import {
  type BufferEffect,
  type BufferEvent,
  beginPlaybackBuffer,
  type PlaybackBuffer,
} from '../../../src/sound/playback-buffer/buffer-state.ts';
import type { Buffering, Sight } from '../../../src/sound/playback-buffer/device-timeline.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

export const RATE_HZ = 24_000;
export const PER_MS = RATE_HZ / 1000;
export const PERIOD = 480;
export const BUFFER = 2400;
export const LATENCY_MS = 2;
export const KNOWN: Buffering = { periodFrames: PERIOD, bufferFrames: BUFFER };

export interface DeviceSetup {
  /** It does not report how much it takes. */
  readonly isMute?: boolean;
  /** Rate of the device; the written sound has 24 kHz. */
  readonly deviceHz?: number;
  /** It begins to play this much later than expected. */
  readonly lateMs?: number;
}

/** A playback buffer with a device that takes a period whenever there is room, in virtual time. */
export function createDevice({ isMute = false, deviceHz = RATE_HZ, lateMs = 0 }: DeviceSetup = {}) {
  const clock = createVirtualClock(10_000);
  const perMs = deviceHz / 1000;
  let buffer: PlaybackBuffer = beginPlaybackBuffer(RATE_HZ, LATENCY_MS, clock.now());
  const effects: BufferEffect[] = [];
  /** Samples given to the device since it was opened. */
  let sound: number[] = [];
  let held = 0;
  let beganAt = 0;
  let stretchFrom = 0;
  let stoodMs = 0;
  let standsSince: number | null = null;
  /** Share of the due sound that it does not take. */
  let lackingShare = 1;
  let cancel = (): void => {};

  const stood = (): number =>
    stoodMs + (standsSince === null ? 0 : (clock.now() - standsSince) * lackingShare);
  const heard = (): number =>
    Math.max(0, Math.min(sound.length - stretchFrom, (clock.now() - beganAt - lateMs - stood()) * perMs));
  const taken = (): number => {
    const room = Math.floor((heard() + BUFFER + PERIOD) / PERIOD) * PERIOD;
    return Math.min(sound.length - stretchFrom, room);
  };
  const sight = (): Sight => ({ taken: isMute ? null : taken(), pipeBytes: standsSince === null ? 0 : 9000 });

  const give = (pcm: Uint8Array, isLast: boolean): void => {
    const before = sound.length;
    // Minutes of sound, sample by sample: allocate nothing in between.
    for (const sample of samplesOf(pcm))
      for (let copy = 0; copy < deviceHz / RATE_HZ; copy++) sound.push(sample);
    const waiting = held + sound.length - before;
    const rest = waiting % PERIOD;
    const frames = isLast ? Math.ceil(waiting / PERIOD) * PERIOD : waiting - rest;
    held = isLast ? 0 : rest;
    if (isLast) while (sound.length % PERIOD !== 0) sound.push(0);
    post({ type: 'given', frames, heldFrames: held });
  };
  const perform = (effect: BufferEffect): void => {
    effects.push(effect);
    if (effect.type === 'begin') {
      beganAt = clock.now() + LATENCY_MS;
      stretchFrom = sound.length;
      stoodMs = 0;
      standsSince = standsSince === null ? null : clock.now();
    } else if (effect.type === 'give') give(effect.pcm, false);
    else if (effect.type === 'fill_up') give(effect.pcm, true);
    else if (effect.type === 'look_no_more') cancel();
    else if (effect.type === 'look_at') {
      cancel();
      cancel = clock.at(effect.at, () => post({ type: 'look', sight: sight() }));
    }
  };
  const post = (event: BufferEvent): readonly BufferEffect[] => {
    const step = stepPlaybackBuffer(buffer, event, clock.now());
    buffer = step.state;
    for (const effect of step.effects) perform(effect);
    return step.effects;
  };

  return {
    clock,
    effects,
    post,
    sight,
    sound: (): readonly number[] => sound,
    /** All played sound that is not silence. */
    audible: (): readonly number[] => sound.filter((sample) => sample !== 0),
    state: (): PlaybackBuffer => buffer,
    of: <T extends BufferEffect['type']>(type: T) =>
      effects.filter((effect): effect is Extract<BufferEffect, { type: T }> => effect.type === type),
    open: (more: Partial<Extract<BufferEvent, { type: 'ready' }>> = {}) => {
      sound = [];
      held = stretchFrom = 0;
      post({
        type: 'ready',
        deviceHz,
        buffering: KNOWN,
        isMetered: !isMute,
        isSure: true,
        afterFault: false,
        sight: { taken: null, pipeBytes: 0 },
        ...more,
      });
    },
    write: (pcm: Uint8Array) => {
      post({ type: 'write', pcm, sight: sight() });
      return buffer.written;
    },
    /** The device stops taking sound, takes only a share of it, or continues. */
    stand: (still: boolean, share = 0) => {
      if (!still) stoodMs = stood();
      standsSince = still ? clock.now() : null;
      lackingShare = 1 - share;
    },
  };
}

/** Sound in which each sample encodes its position; never silent. */
export function ramp(ms: number, from = 1): Uint8Array {
  const samples = new Int16Array(ms * PER_MS);
  for (let at = 0; at < samples.length; at++) samples[at] = ((from + at) % 30_000) + 1;
  return new Uint8Array(samples.buffer);
}

export const msOf = (bytes: number): number => bytes / BYTES_PER_SAMPLE / PER_MS;
