import { afterAll, describe, it } from 'vitest';
import { createAlsaCapture } from '../../src/adapters/audio/alsa/arecord.ts';
import { createSystemClock } from '../../src/adapters/clock.ts';
import type { AudioFault } from '../../src/ports/audio.ts';
import { needs } from '../needs.ts';
import { judgeSound, watchStalls } from '../stalls.ts';
import { openRack } from './card.ts';
import { cardNow, stallsWith, until } from './card-lane.ts';
import { babble } from './sound.ts';

const RATE_HZ = 24_000;
/** Stall (ms): half of a microphone's buffer, and half of the time after which it counts as hung. */
const LONG_STALL_MS = 1000;
const { rack, missing } = await openRack();
rack?.use();
afterAll(() => rack?.close());

const title = `a microphone with short periods${missing === null ? '' : `: skipped, ${missing}`}`;
const quiet = (): void => {};
const log = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };

/** Captures from a card. @returns the growing list of the lengths of its pieces (ms) */
async function listen(id: string, shortPeriods: boolean) {
  if (rack === null) throw new Error('the virtual cards are missing');
  const card = await rack.insert({ id, capture: { sound: babble(60 * RATE_HZ, 1) } });
  const pieces: number[] = [];
  const faults: (AudioFault & { atMs: number })[] = [];
  const own = watchStalls();
  const open = createAlsaCapture({
    device: card.device,
    rateHz: RATE_HZ,
    seed: 1,
    deps: { clock: createSystemClock(), log },
  });
  const capture = await open(
    {
      frames: (pcm) => void pieces.push((pcm.byteLength * 500) / RATE_HZ),
      ended: quiet,
      fault: (fault) => void faults.push({ ...fault, atMs: cardNow() }),
    },
    shortPeriods,
  );
  return { card, capture, pieces, faults, stalls: stallsWith(own, card, faults) };
}

/** The shortest piece shows the period: a busy reader gets several periods at once. */
describe.concurrent(title, needs(missing), () => {
  it('delivers short pieces from its first start', async ({ expect, skip }) => {
    const { card, capture, pieces, faults, stalls } = await listen('Hurried', true);
    await until('20 pieces', () => pieces.length >= 20);
    await capture.close();
    expect(Math.min(...pieces)).toBeLessThanOrEqual(20);
    const starts = (await card.capture.log()).filter(({ event }) => event === 'start');
    judgeSound(skip, stalls, LONG_STALL_MS, () => {
      expect(faults).toEqual([]);
      expect(starts).toHaveLength(1);
    });
  });

  it('restarts once for short periods, and not when long periods are enough again', async ({
    expect,
    skip,
  }) => {
    const { card, capture, pieces, faults, stalls } = await listen('Calm', false);
    await until('3 pieces', () => pieces.length >= 3);
    const before = pieces.length;
    expect(Math.min(...pieces)).toBeGreaterThan(20);
    capture.useShortPeriods?.(true);
    await until('20 pieces', () => pieces.length >= before + 20);
    capture.useShortPeriods?.(true);
    capture.useShortPeriods?.(false);
    const hurried = pieces.length;
    await until('20 more', () => pieces.length >= hurried + 20);
    await capture.close();
    expect(Math.min(...pieces.slice(before))).toBeLessThanOrEqual(20);
    expect(Math.min(...pieces.slice(hurried))).toBeLessThanOrEqual(20);
    const starts = (await card.capture.log()).filter(({ event }) => event === 'start');
    judgeSound(skip, stalls, LONG_STALL_MS, () => {
      expect(faults).toEqual([]);
      expect(starts).toHaveLength(2);
    });
  });
});
