import type { AudioFault, Capture, CaptureSink, Playback, PlaybackSink } from '../../src/ports/audio.ts';
import { audibleMs } from '../../src/sound/frame-levels.ts';
import type { Dice } from './dice.ts';
import type { SimClock } from './sim-clock.ts';
import { createPainter, TICK_MS, type TickSound } from './sound.ts';
import type { Visitors } from './visitors.ts';

/** Content of a piece of captured sound, by tick. */
export interface TickNote {
  readonly first: number;
  readonly ticks: readonly TickSound[];
  /** When the last tick was captured. */
  readonly until: number;
}

/** The loudspeaker, with times at which the room hears it. */
export interface Loudspeaker {
  isHeard(at: number): boolean;
  /** Whether sound was written for any time between two moments. */
  wasDriven(from: number, until: number): boolean;
  open(sink: PlaybackSink): Promise<Playback>;
  readonly isPlugged: boolean;
  /** Unplugs it: unplayed sound is lost, and so is everything written from now on. */
  unplug(): void;
  /** Plugs it in again. */
  back(): void;
}

const RATE_HZ = 24_000;
const BYTES_PER_TICK = (TICK_MS * RATE_HZ * 2) / 1000;
/** Time from a write to the sound (ms). */
const LATENCY_MS = 40;
const STRETCHES_KEPT = 16;

const GONE: AudioFault = { code: 'lost', message: 'the loudspeaker is gone' };

/**
 * @param onWrite gets the sound that is written
 * @param onMissed gets sound that was written and will not be played
 */
export function createLoudspeaker(
  clock: SimClock,
  onWrite: (pcm: Uint8Array) => void,
  onMissed: (pcm: Uint8Array) => void,
): Loudspeaker {
  let stretches: { from: number; until: number; readonly isHeard: boolean }[] = [];
  let sink: PlaybackSink | null = null;
  let isPlugged = true;
  /** Sound that was written and has not ended yet. */
  let given: { readonly pcm: Uint8Array; readonly from: number; readonly until: number }[] = [];
  const last = () => stretches.at(-1);
  /** Reports unplayed sound as missed. */
  const miss = (): void => {
    const now = clock.now();
    const missed = given
      .filter(({ until }) => until > now)
      .map(({ pcm, from }) => pcm.subarray(BYTES_PER_TICK * Math.floor(Math.max(0, now - from) / TICK_MS)));
    given = [];
    for (const pcm of missed) onMissed(pcm);
    const ms = missed.reduce((sum, pcm) => sum + audibleMs(pcm, RATE_HZ), 0);
    if (ms > 0) clock.at(now, () => sink?.missed(ms));
    stretches = stretches.flatMap(({ from, until, isHeard }) => {
      if (until <= now || !isHeard) return [{ from, until, isHeard }];
      const silent = { from: Math.max(from, now), until, isHeard: false };
      return from < now ? [{ from, until: now, isHeard }, silent] : [silent];
    });
  };
  const speaker: Loudspeaker = {
    get isPlugged() {
      return isPlugged;
    },
    isHeard(at) {
      for (let index = stretches.length - 1; index >= 0; index--) {
        const stretch = stretches[index];
        if (stretch === undefined || stretch.until < at) return false;
        if (stretch.isHeard && at >= stretch.from) return true;
      }
      return false;
    },
    wasDriven(from, until) {
      for (let index = stretches.length - 1; index >= 0; index--) {
        const stretch = stretches[index];
        if (stretch === undefined || stretch.until < from) return false;
        if (stretch.from <= until) return true;
      }
      return false;
    },
    open(opened) {
      clock.settle();
      sink = opened;
      if (!isPlugged) opened.fault(GONE);
      let closed = false;
      return Promise.resolve({
        mixer: null,
        write(pcm) {
          const now = clock.now();
          const durationMs = pcm.byteLength / 48;
          const before = last();
          const from = Math.max(now + LATENCY_MS, before?.until ?? 0);
          const written = { from, until: from + durationMs };
          if (closed) return written;
          onWrite(pcm);
          // Digital silence is not heard.
          const isHeard = isPlugged && pcm.some((byte) => byte !== 0);
          given = [...given.filter(({ until }) => until > now), { pcm, from, until: from + durationMs }];
          if (!isPlugged) miss();
          if (before?.isHeard === isHeard && from - before.until < 1) before.until = from + durationMs;
          else stretches.push({ from, until: from + durationMs, isHeard });
          if (stretches.length > STRETCHES_KEPT) stretches = stretches.slice(-STRETCHES_KEPT / 2);
          return written;
        },
        flush() {
          const now = clock.now();
          for (const stretch of stretches) {
            stretch.from = Math.min(stretch.from, now);
            stretch.until = Math.min(stretch.until, now);
          }
          given = [];
        },
        close() {
          closed = true;
          if (sink === opened) sink = null;
          clock.settle();
          return Promise.resolve();
        },
      });
    },
    unplug() {
      isPlugged = false;
      miss();
      sink?.fault(GONE);
    },
    back() {
      isPlugged = true;
      sink?.back();
    },
  };
  return speaker;
}

/** The microphone and its faults. */
export interface Microphone {
  open(sink: CaptureSink): Promise<Capture>;
  /** Clock error (parts per million): tens of thousands when the pace is wrong. */
  ppm: number;
  /** It delivers no sound and reports no fault. */
  hung: boolean;
  unplug(): void;
  replug(): void;
  /** Loses this many ticks at once. */
  xrun(ticks: number): void;
  readonly openCount: number;
  readonly unplugged: boolean;
}

export interface MicrophoneSetup {
  readonly clock: SimClock;
  readonly dice: Dice;
  readonly visitors: Visitors;
  readonly speaker: Loudspeaker;
  /** The microphone hears the loudspeaker. */
  readonly echo: boolean;
  readonly roomAmplitude: number;
  /** Amplitudes of the visitors' levels; default: a single one. */
  readonly voices?: readonly number[] | undefined;
  /** Ticks in one piece of sound. */
  readonly pieceTicks: number;
  readonly firstTick: number;
  /** Called for each piece before the agent gets it. */
  readonly note: (note: TickNote) => void;
}

const REPLUG_SEEN_MS = 500;

export function createMicrophone(setup: MicrophoneSetup): Microphone {
  const { clock, dice, visitors, speaker, pieceTicks } = setup;
  const painter = createPainter(setup.roomAmplitude, setup.voices);
  let nextTick = setup.firstTick + 1;
  let open: { sink: CaptureSink; stop: () => void } | null = null;
  let openCount = 0;
  let unplugged = false;
  let skip = 0;

  const hear = (until: number): { first: number; ticks: TickSound[]; levels: number[] } => {
    const ticks: TickSound[] = [];
    const levels: number[] = [];
    for (let index = 0; index < pieceTicks; index++) {
      const at = until - (pieceTicks - 1 - index) * TICK_MS;
      const busy = speaker.isHeard(at);
      const level = visitors.speaks(at, busy);
      levels.push(level);
      ticks.push(level > 0 ? 'speech' : busy && setup.echo ? 'echo' : 'room');
    }
    const first = nextTick;
    nextTick += pieceTicks;
    return { first, ticks, levels };
  };

  const deliver = (sink: CaptureSink): void => {
    const until = clock.now();
    const { first, ticks, levels } = hear(until);
    if (unplugged || mic.hung) return;
    if (skip > 0) {
      skip = Math.max(0, skip - pieceTicks);
      return;
    }
    setup.note({ first, ticks, until });
    sink.frames(painter.paint(first, ticks, levels), until);
  };

  const run = (sink: CaptureSink): (() => void) => {
    let cancel = (): void => {};
    let dueAt = clock.now();
    const arm = (): void => {
      dueAt += pieceTicks * TICK_MS * (1 - mic.ppm / 1e6);
      cancel = clock.at(dueAt, () => {
        arm();
        deliver(sink);
      });
    };
    arm();
    return () => cancel();
  };

  const mic: Microphone = {
    ppm: dice.between(-300, 300),
    hung: false,
    get openCount() {
      return openCount;
    },
    get unplugged() {
      return unplugged;
    },
    open(sink) {
      clock.settle();
      openCount += 1;
      if (unplugged) sink.fault({ code: 'not_found', message: 'the microphone is not there' });
      const stop = run(sink);
      const mine = { sink, stop };
      open = mine;
      let closed = false;
      return Promise.resolve({
        close() {
          clock.settle();
          if (closed) return Promise.resolve();
          closed = true;
          openCount -= 1;
          stop();
          if (open === mine) open = null;
          return Promise.resolve();
        },
      });
    },
    unplug() {
      unplugged = true;
      open?.sink.fault({ code: 'lost', message: 'the microphone is gone' });
    },
    replug() {
      clock.at(clock.now() + REPLUG_SEEN_MS, () => {
        unplugged = false;
      });
    },
    xrun(ticks) {
      skip = ticks;
    },
  };
  return mic;
}
