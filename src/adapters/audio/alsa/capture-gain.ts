import {
  type CaptureMixer,
  type GainChange,
  lookAtGain,
  NOTHING_KEPT,
  readCaptureMixer,
  settleGain,
} from '../../../core/mixer/capture-gain-rules.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import { amixer, controlDevice } from './mixer.ts';

/** Sets the gain of a card's microphone and keeps it there. */
export interface CaptureGain {
  /** Sets the gain again at the next sound: the card may be a different one, or may have lost its gain. */
  forget(): void;
  /** The microphone delivers sound. */
  sounds(): void;
  close(): void;
}

/** Time between two checks (milliseconds); each check runs amixer once. */
export const LOOK_MS = 30_000;
const LOOK_SLACK_MS = 5000;

/** @param percent value of the card's control, as amixer counts it */
export function keepCaptureGain(
  device: string,
  percent: number,
  { clock, log }: { clock: Clock; log: Log },
  report: (change: GainChange) => void,
): CaptureGain {
  const control = controlDevice(device);
  let kept = NOTHING_KEPT;
  let isFresh = true;
  let isClosed = false;
  let isWarned = false;
  let cancel = (): void => {};

  const warn = (message: string): void => {
    if (!isWarned) log.warn({ device, gain: percent }, message);
    isWarned = true;
  };
  const read = async (): Promise<CaptureMixer | null> => {
    const text = control === null ? null : await amixer(['-D', control, 'scontents']);
    if (text === null) return null;
    const mixer = readCaptureMixer(text);
    if (mixer === null) warn('the microphone has no gain control, so "gain" has no effect');
    return mixer;
  };
  const set = async ({ name, on, automatic }: CaptureMixer): Promise<void> => {
    if (control === null) return;
    for (const { name: agent, side } of automatic)
      await amixer(['-q', '-D', control, 'sset', agent, side === 'playback' ? 'off' : 'nocap']);
    const words = ['-q', '-D', control, 'sset', name, 'capture', `${percent}%`];
    const said = await amixer([...words, ...(on === null ? [] : ['cap'])]);
    if (said === null) warn("the microphone's gain could not be set");
  };
  const look = async (): Promise<void> => {
    const mixer = await read();
    if (isClosed) return;
    if (mixer === null) {
      // A card that was unplugged may come back with another gain.
      kept = { ...kept, made: null };
      return;
    }
    const verdict = lookAtGain(kept, mixer, percent);
    kept = verdict.kept;
    if (verdict.news !== null) report(verdict.news);
    if (!verdict.set && kept.made !== null) return;
    if (verdict.set) await set(mixer);
    const made = verdict.set ? await read() : mixer;
    if (made !== null) kept = settleGain(kept, made);
  };
  const run = (): void => {
    cancel();
    void look().finally(() => {
      if (!isClosed) cancel = clock.at(clock.now() + LOOK_MS, run, LOOK_SLACK_MS);
    });
  };
  return {
    forget() {
      isFresh = true;
    },
    sounds() {
      if (!isFresh || isClosed) return;
      isFresh = false;
      kept = { ...kept, made: null };
      run();
    },
    close() {
      isClosed = true;
      cancel();
    },
  };
}
