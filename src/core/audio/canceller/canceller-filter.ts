import type { Place } from '../../../ports/audio.ts';
import { createEchoDetector } from '../echo-detector.ts';
import { createTimeline } from '../echo-timeline.ts';
import { toPcm } from '../pcm.ts';
import { createAdaptiveFilter } from './adaptive-filter.ts';
import { createAlignment } from './alignment.ts';
import { createDevicePlaces } from './device-places.ts';
import { createInterpolator } from './interpolator.ts';
import { createLagMeter } from './lag-meter.ts';
import { CHANGED_MS, createPathChangeDetector } from './path-change.ts';
import { createRecall } from './recall.ts';
import { createResidualFilter } from './residual-filter.ts';
import { createZero } from './zero.ts';

/** Takes the loudspeaker's sound out of the microphone's. Samples run from -1 to 1; times are monotonic milliseconds. */
export interface Canceller {
  /** @param place where the device knows better than any time when it is heard */
  played(samples: Float32Array, heardAt: number, goesOn: boolean, place: Place | null): void;
  flushed(at: number, place: Place | null): void;
  /** @returns the block before this one, without its echo; overwritten by the next call */
  step(block: Float32Array, beganAt: number): Float32Array;
  /** Nothing was played lately: the last block came back as it was. */
  readonly rests: boolean;
  /** Share by which the loudspeaker's clock is faster than the microphone's, as far as is known. */
  readonly drift: number;
  /** How often the echo was found where it had not been known; from each time on the path is learnt anew. */
  readonly found: number;
}

/** So long a block is: of these, whole numbers fit into what sound cards deliver. */
const BLOCK_MS = 10;
/** The longest path that is learnt: the room falls silent within it, but for a trace. */
const PATH_MS = 256;
/** So long after the last sound from the loudspeaker the room has fallen silent, whatever the estimates of its times are off. */
const DIES_AWAY_MS = 2000;
/** How long played sound is kept; it is written up to a second before it is heard. */
const MEMORY_S = 8;
/** Before the path is measured, an echo may come so early because the moments of playing are estimates. */
const EARLIEST_MS = 20;
/** After a break the path is not learnt until it is in its place again, or for so long. */
const UNSETTLED_MS = 2500;
/** The echo's begin is put so far behind the begin of the learnt path. */
const BEFORE_MS = 12;
/** A path that begins within this needs no other place. */
const NEAR_MS = { before: 4, behind: 40 };
/** When it is better known where the echo lies, so much is learnt from once more, so often: a sentence is worth several. */
const AGAIN = { ms: 2500, passes: 2 };
/** Blocks in which the path was learnt, after it was found; the first of them stand for little until then. */
const AGAIN_AFTER = [80, 140, 200, 320, 500];

/** How many samples it takes at a time, and gives back as much later. @param rateHz of what is heard */
export function cancellerBlock(rateHz: number): number {
  return Math.floor((BLOCK_MS * rateHz) / 1000);
}

/** From this many on, there are few tones that were not heard before. */
const FAMILIAR_BLOCKS = 800;
/** Below this power there is no echo to learn from. */
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
  const recall = createRecall(blockSamples, Math.round(AGAIN.ms / blockMs));
  const detector = createEchoDetector({ heardRateHz, playedRateHz: heardRateHz });
  const source = new Float32Array(Math.ceil(blockSamples * ratio * 1.001) + 2 * interpolator.reach + 4);
  const played = new Float32Array(blockSamples);
  const early = new Float32Array(blockSamples);
  const before = new Float32Array(blockSamples);
  const soundBefore = new Float64Array(blockSamples);
  const zero = createZero(heardRateHz, blockSamples);
  const nothing = new Float64Array(blockSamples);
  const certain = new Float64Array(filter.bins);
  const out = new Float32Array(blockSamples);
  let rests = true;
  let heardSamples = 0;
  /** The learnt path begins so much after a sound is played. */
  let leadMs = -EARLIEST_MS;
  let isPlaced = false;
  let timesFound = 0;
  /** Samples for which the path is not to be learnt, because it stands in the wrong place. */
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
  /** @param place of what is played, behind the last block that was heard; @param blocks how many of those, at most */
  const learnAgain = (place: number, step: number, blocks: number): void => {
    const known = Math.min(recall.blocks, Math.round(blocks));
    for (let pass = 0; pass < AGAIN.passes; pass++) {
      // What was played before it sounds on in its first blocks.
      for (let ago = known + filter.partitions; ago > 0; ago--) {
        read(place - leadMs * perMs - ago * blockSamples * step, step, played);
        filter.step(played, recall.blockAt(ago), ago <= known);
      }
    }
  };
  /** What is known of the path counts for little against what is learnt of this many last blocks. */
  const relearn = (blocks: number): void => {
    filter.relearn();
    learnAgain(alignment.place, ratio * (1 + alignment.drift), blocks);
  };
  /** Learns how far the clocks run apart from what was heard before it was known where the echo lies. */
  const measureRecalled = (): void => {
    for (let ago = recall.blocks; ago > 0; ago--) {
      const step = ratio * (1 + alignment.drift);
      read(alignment.place - leadMs * perMs - (ago + 1) * blockSamples * step, step, played);
      const later = ago * blockSamples;
      const measure = lags.hear(played, recall.blockAt(ago), heardSamples - later);
      if (measure === null) continue;
      const corrected = alignment.measured({ ...measure, ago: measure.ago + later }, heardSamples);
      if (corrected !== 'little') lags.restart();
    }
  };
  /** Finds how late the echo comes, roughly, and sets the learnt path there. */
  const seek = (block: Float32Array, from: number, step: number): void => {
    read(from + EARLIEST_MS * perMs, step, early);
    const at = (heardSamples * 1000) / heardRateHz;
    if (timeline.end > from) detector.played(toPcm(early), at + EARLIEST_MS - blockMs);
    const found = detector.hear(toPcm(block), at);
    if (found === null) return;
    const off = found.delayMs - leadMs;
    if (isPlaced && off > NEAR_MS.before && off < NEAR_MS.behind) return;
    isPlaced = true;
    timesFound += 1;
    leadMs = found.delayMs - BEFORE_MS;
    filter.forget(10 ** (found.gainDb / 10));
    lags.forget();
    alignment.unlock();
    learntBlocks = 0;
    measureRecalled();
    const stepNow = ratio * (1 + alignment.drift);
    learnAgain(alignment.place - blockSamples * stepNow, stepNow, recall.blocks);
  };

  const keep = (heard: Float32Array, sound: Float32Array): void => {
    before.set(heard);
    soundBefore.set(sound);
  };
  const unsettle = (): void => {
    places.pass();
    recall.forget();
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
      const block = zero.take(heard);
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
      // Before it is known where the echo lies, and how loud it is, whoever speaks would be taken for it.
      filter.step(played, block, isPlaced && unsettled === 0);
      out.set(residual.step(filter.rest, filter.echo, filter.residualPower, learntBlocks < FAMILIAR_BLOCKS));
      zero.putBack(out);
      recall.hear(block);
      if (unsettled === 0 && change.hear(filter.echo, filter.rest)) relearn(CHANGED_MS / blockMs);
      if (isPlaced && unsettled === 0 && power(filter.echo) > AUDIBLE && AGAIN_AFTER.includes(++learntBlocks))
        relearn(recall.blocks);
      const measure = isPlaced ? lags.hear(played, block, heardSamples) : null;
      if (measure !== null) {
        unsettled = 0;
        const corrected = alignment.measured(measure, heardSamples);
        if (corrected !== 'little') {
          lags.restart();
          relearn(corrected === 'jump' ? (2 * measure.ago) / blockSamples : recall.blocks);
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
