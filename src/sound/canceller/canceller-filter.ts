import type { Place } from '../../ports/audio.ts';
import { createEchoDetector } from '../echo-detector.ts';
import { createTimeline } from '../echo-timeline.ts';
import { toPcm } from '../pcm.ts';
import { createAdaptiveFilter } from './adaptive-filter.ts';
import { createAlignment } from './alignment.ts';
import { createDcOffsetFilter } from './dc-offset.ts';
import { createDevicePlaces } from './device-places.ts';
import { createInterpolator } from './interpolator.ts';
import { createLagMeter } from './lag-meter.ts';
import { CHANGED_MS, createPathChangeDetector } from './path-change.ts';
import { createRecentSound } from './recent-sound.ts';
import { createResidualFilter } from './residual-filter.ts';

/** Removes the loudspeaker's sound from the microphone's. Samples run from -1 to 1; times are monotonic milliseconds. */
export interface Canceller {
  /** @param place the device's own count of the sound, if it has one: more exact than any time */
  played(samples: Float32Array, heardAt: number, goesOn: boolean, place: Place | null): void;
  flushed(at: number, place: Place | null): void;
  /** @returns the block before this one, without its echo; overwritten by the next call */
  step(block: Float32Array, beganAt: number): Float32Array;
  /** True while nothing was played lately: the last block came back unchanged. */
  readonly rests: boolean;
  /** Estimated clock skew: the fraction by which the loudspeaker's clock is faster than the microphone's. */
  readonly drift: number;
  /** Number of times that the echo moved to a new delay; the path is then learnt again. */
  readonly found: number;
}

/** Block length (ms): sound cards deliver whole multiples of this. */
const BLOCK_MS = 10;
/** Longest path that is learnt (ms): nearly all of a room's reverberation. */
const PATH_MS = 256;
/** Time after the last played sound until the room is silent (ms), with a margin for wrong device times. */
const DIES_AWAY_MS = 2000;
/** How much played sound is kept (s); sound is written up to a second before it is heard. */
const MEMORY_S = 8;
/** Until the path is measured, an echo may come this much before its sound (ms): playing times are estimates. */
const EARLIEST_MS = 20;
/** After a break, learning pauses until the path is measured again, but no longer than this (ms). */
const UNSETTLED_MS = 2500;
/** The learnt path begins this long before the echo (ms). */
const BEFORE_MS = 12;
/** Tolerance for the start of the path (ms): within it, the path stays in place. */
const NEAR_MS = { before: 4, behind: 40 };
/** Once the echo's place is better known, the last `ms` of sound are learnt again, in this number of passes. */
const AGAIN = { ms: 2500, passes: 2 };
/** Numbers of learnt blocks at which recent sound is learnt again, because the early blocks were learnt badly. */
const AGAIN_AFTER = [80, 140, 200, 320, 500];

/** Block size in samples; the output lags by one block. @param rateHz of the heard sound */
export function cancellerBlock(rateHz: number): number {
  return Math.floor((BLOCK_MS * rateHz) / 1000);
}

/** Number of learnt blocks after which few tones are new. */
const FAMILIAR_BLOCKS = 800;
/** Minimum power of an echo to learn from. */
const AUDIBLE = 1e-8;

const power = (sound: Float64Array): number =>
  sound.reduce((sum, sample) => sum + sample * sample, 0) / sound.length;

export function createCanceller(rates: { heardRateHz: number; playedRateHz: number }): Canceller {
  const { heardRateHz, playedRateHz } = rates;
  const blockSamples = cancellerBlock(heardRateHz);
  const blockMs = (blockSamples * 1000) / heardRateHz;
  const timeline = createTimeline(playedRateHz, MEMORY_S);
  const alignment = createAlignment(heardRateHz, playedRateHz);
  const ratio = playedRateHz / heardRateHz;
  const interpolator = createInterpolator(ratio);
  const filter = createAdaptiveFilter({ blockSamples, partitions: Math.ceil(PATH_MS / blockMs) });
  const residual = createResidualFilter(blockSamples);
  const lags = createLagMeter(heardRateHz);
  const change = createPathChangeDetector(blockMs, blockSamples);
  const recent = createRecentSound(blockSamples, Math.round(AGAIN.ms / blockMs));
  const detector = createEchoDetector({ heardRateHz, playedRateHz: heardRateHz });
  const source = new Float32Array(Math.ceil(blockSamples * ratio * 1.001) + 2 * interpolator.reach + 4);
  const played = new Float32Array(blockSamples);
  const early = new Float32Array(blockSamples);
  const before = new Float32Array(blockSamples);
  const soundBefore = new Float64Array(blockSamples);
  const dcOffset = createDcOffsetFilter(heardRateHz, blockSamples);
  const nothing = new Float64Array(blockSamples);
  const certain = new Float64Array(filter.bins);
  const out = new Float32Array(blockSamples);
  let rests = true;
  let heardSamples = 0;
  /** Time from playing a sound to the start of the learnt path (ms). */
  let leadMs = -EARLIEST_MS;
  let isPlaced = false;
  let timesFound = 0;
  /** Remaining samples without learning, because the path is at the wrong place. */
  let unsettled = 0;
  /** Blocks of echo since the path was found. */
  let learntBlocks = 0;

  const read = (from: number, step: number, target: Float32Array): void => {
    const first = Math.floor(from) - interpolator.reach;
    timeline.read(first, source);
    interpolator.read(source, first, from, step, target);
  };
  const perMs = playedRateHz / 1000;
  const places = createDevicePlaces(timeline, alignment, perMs);
  /** @param place in the played sound, just after the last heard block; @param blocks maximum number of blocks to learn from */
  const learnAgain = (place: number, step: number, blocks: number): void => {
    const known = Math.min(recent.blocks, Math.round(blocks));
    for (let pass = 0; pass < AGAIN.passes; pass++) {
      // The first blocks still contain the echo of earlier sound.
      for (let ago = known + filter.partitions; ago > 0; ago--) {
        read(place - leadMs * perMs - ago * blockSamples * step, step, played);
        filter.step(played, recent.blockAt(ago), ago <= known);
      }
    }
  };
  /** Lowers the confidence in the learnt path, and learns again from this many recent blocks. */
  const relearn = (blocks: number): void => {
    filter.relearn();
    learnAgain(alignment.place, ratio * (1 + alignment.drift), blocks);
  };
  /** Measures the drift from sound that was heard before the echo was found. */
  const measureRecent = (): void => {
    for (let ago = recent.blocks; ago > 0; ago--) {
      const step = ratio * (1 + alignment.drift);
      read(alignment.place - leadMs * perMs - (ago + 1) * blockSamples * step, step, played);
      const later = ago * blockSamples;
      const measure = lags.hear(played, recent.blockAt(ago), heardSamples - later);
      if (measure === null) continue;
      const corrected = alignment.measured({ ...measure, ago: measure.ago + later }, heardSamples);
      if (corrected !== 'little') lags.restart();
    }
  };
  /** Finds roughly how late the echo is, and puts the learnt path there. */
  const seek = (block: Float32Array, from: number, step: number): void => {
    read(from + EARLIEST_MS * perMs, step, early);
    const at = (heardSamples * 1000) / heardRateHz;
    if (timeline.end > from) detector.played(toPcm(early), at + EARLIEST_MS - blockMs);
    const echoPath = detector.hear(toPcm(block), at);
    if (echoPath === null) return;
    const off = echoPath.delayMs - leadMs;
    if (isPlaced && off > NEAR_MS.before && off < NEAR_MS.behind) return;
    isPlaced = true;
    timesFound += 1;
    leadMs = echoPath.delayMs - BEFORE_MS;
    filter.forget(10 ** (echoPath.gainDb / 10));
    lags.forget();
    alignment.unlock();
    learntBlocks = 0;
    measureRecent();
    const stepNow = ratio * (1 + alignment.drift);
    learnAgain(alignment.place - blockSamples * stepNow, stepNow, recent.blocks);
  };

  const keep = (heard: Float32Array, sound: Float32Array): void => {
    before.set(heard);
    soundBefore.set(sound);
  };
  const unsettle = (): void => {
    places.pass();
    recent.forget();
    lags.restart();
    if (alignment.isLocked) unsettled = (UNSETTLED_MS * heardRateHz) / 1000;
  };

  return {
    played(samples, heardAt, goesOn, place) {
      if (place === null) timeline.write(samples, alignment.placeAt(heardAt * perMs) / perMs, goesOn);
      else timeline.put(samples, places.of(place, heardAt));
    },
    flushed(at, place) {
      if (place === null) timeline.cut(alignment.placeAt(at * perMs) / perMs);
      else timeline.cutAt(places.of(place, at));
    },
    step(heard, beganAt) {
      const wasResting = rests;
      const block = dcOffset.remove(heard);
      const { place, step, jumped } = alignment.next(beganAt * perMs, blockSamples);
      rests = timeline.end < place - DIES_AWAY_MS * perMs;
      heardSamples += blockSamples;
      if (rests) {
        out.set(before);
        keep(heard, block);
        return out;
      }
      if (wasResting) residual.step(soundBefore, nothing, certain, false);
      keep(heard, block);
      seek(block, place, step);
      const from = place - leadMs * perMs;
      if (jumped || from + blockSamples * step > places.brokenAt) unsettle();
      read(from, step, played);
      unsettled = Math.max(0, unsettled - blockSamples);
      // Until the echo is found, the filter would take any voice for an echo.
      filter.step(played, block, isPlaced && unsettled === 0);
      out.set(residual.step(filter.rest, filter.echo, filter.residualPower, learntBlocks < FAMILIAR_BLOCKS));
      dcOffset.restore(out);
      recent.hear(block);
      if (unsettled === 0 && change.hear(filter.echo, filter.rest)) relearn(CHANGED_MS / blockMs);
      if (isPlaced && unsettled === 0 && power(filter.echo) > AUDIBLE && AGAIN_AFTER.includes(++learntBlocks))
        relearn(recent.blocks);
      const measure = isPlaced ? lags.hear(played, block, heardSamples) : null;
      if (measure !== null) {
        unsettled = 0;
        const corrected = alignment.measured(measure, heardSamples);
        if (corrected !== 'little') {
          lags.restart();
          relearn(corrected === 'jump' ? (2 * measure.ago) / blockSamples : recent.blocks);
        }
      }
      return out;
    },
    get rests() {
      return rests;
    },
    get drift() {
      return alignment.drift;
    },
    get found() {
      return timesFound;
    },
  };
}
