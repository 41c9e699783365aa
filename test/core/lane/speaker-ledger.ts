import type { LaneEvent } from '../../../src/core/lane/event.ts';
import { demand } from './invariants.ts';

/** This many of the last writes are watched. */
const WATCHED = 600;
/** A device may be so far behind; until it tells of a write, it may be heard until then. */
const LONGEST_DELAY_MS = 2000;

/** Where a visitor may speak over the loudspeaker, less is written ahead. Clocks and sample counts round. */
const MOST_AHEAD_MS = { 'half-duplex': 1021, off: 301, cancel: 181 } as const;

interface Play {
  readonly write: number;
  from: number;
  until: number;
  told: boolean;
  /** The device told that nothing of it can be heard. */
  silent?: boolean;
}

/** When the loudspeaker sounds: at once where the device tells nothing, else as it tells. */
export class SpeakerLedger {
  private plays: Play[] = [];
  /** The last write before a flush: what is told of it is of no interest any more. */
  private flushed = 0;
  /** The device tells when its writes are heard. */
  private tells = false;

  play(write: number, ms: number, now: number, echo: keyof typeof MOST_AHEAD_MS): void {
    const from = Math.max(now, this.plays.at(-1)?.until ?? 0);
    this.plays.push({ write, from, until: from + ms, told: false });
    if (this.plays.length > WATCHED) this.plays.shift();
    demand(this.tells || from + ms - now <= MOST_AHEAD_MS[echo], `${from + ms - now} ms written ahead`);
  }

  tell({ write, from, until, audible }: Extract<LaneEvent, { type: 'sounding' }>): void {
    const play = this.plays.find((one) => one.write === write && one.write > this.flushed);
    if (play === undefined || (from === null && !play.told)) return;
    this.tells = true;
    // Nothing of it was heard.
    if (from !== null && until <= from) {
      this.plays = this.plays.filter((one) => one !== play);
      return;
    }
    Object.assign(play, from === null ? { until } : { from, until, told: true, silent: audible === null });
  }

  /** @param until what the device has been given still sounds */
  silence(now: number, until = now): void {
    this.flushed = this.plays.at(-1)?.write ?? this.flushed;
    this.plays = this.plays.filter(
      ({ from, told }) => (from < until || from <= now) && (told || !this.tells),
    );
    for (const play of this.plays) play.until = Math.min(play.until, until);
  }

  /** Whether a chunk holds what the loudspeaker sounded. */
  echoes(capturedAt: number, chunkMs: number, tailMs: number): 'yes' | 'perhaps' | 'no' {
    const hears = (from: number, until: number): boolean =>
      capturedAt > from && capturedAt - chunkMs < until + tailMs;
    const sounds = this.plays.filter(({ silent }) => silent !== true);
    if (sounds.some(({ from, until, told }) => (told || !this.tells) && hears(from, until))) return 'yes';
    const untold = this.plays.filter(({ told }) => this.tells && !told);
    return untold.some(({ from, until }) => hears(from, until + LONGEST_DELAY_MS)) ? 'perhaps' : 'no';
  }

  /** @param until when the lane thinks that the loudspeaker falls silent */
  check(until: number): void {
    const last = this.plays.at(-1);
    if (this.tells && last?.told !== true) return;
    const known = last?.until ?? 0;
    demand(Math.abs(until - known) < 0.01, `the loudspeaker is heard until ${known}, not ${until}`);
  }
}
