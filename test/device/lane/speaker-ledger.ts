import type { LaneEvent } from '../../../src/device/lane/state/lane-event.ts';
import { demand } from './demand.ts';

/** Number of the last writes that are watched. */
const WATCHED = 600;
/** Largest delay of a device: until it reports a write, the sound may be heard until then. */
const LONGEST_DELAY_MS = 2000;

/** Less is written ahead if a visitor may speak over the loudspeaker. Clocks and sample counts round. */
const MOST_AHEAD_MS = { 'half-duplex': 1021, off: 301, cancel: 181 } as const;

interface Play {
  readonly write: number;
  from: number;
  until: number;
  told: boolean;
  /** Nothing of it is in the air: a headset plays it, or the device reported so. */
  silent?: boolean;
}

/** When the loudspeaker sounds: at once without reports of the device, otherwise as it reports. */
export class SpeakerLedger {
  private plays: Play[] = [];
  /** The last write before a flush: its report does not matter any more. */
  private flushed = 0;
  /** The device reports when its writes are heard. */
  private tells = false;

  /** @param silent people speak over it */
  play(write: number, ms: number, now: number, echo: keyof typeof MOST_AHEAD_MS, silent = false): void {
    const from = Math.max(now, this.plays.at(-1)?.until ?? 0);
    this.plays.push({ write, from, until: from + ms, told: false, silent });
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
    Object.assign(
      play,
      from === null
        ? { until }
        : { from, until, told: true, silent: play.silent === true || audible === null },
    );
  }

  /** @param until end of the sound that the device still plays */
  silence(now: number, until = now): void {
    this.flushed = this.plays.at(-1)?.write ?? this.flushed;
    this.plays = this.plays.filter(
      ({ from, told }) => (from < until || from <= now) && (told || !this.tells),
    );
    for (const play of this.plays) play.until = Math.min(play.until, until);
  }

  /** Whether a chunk contains the sound of the loudspeaker. */
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
