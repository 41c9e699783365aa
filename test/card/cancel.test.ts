import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, it } from 'vitest';
import { createEchoFilter } from '../../src/adapters/echo/echo-filter.ts';
import { toPcm } from '../../src/core/audio/pcm.ts';
import { interpreter, levelDb, noise, visitors } from '../acoustics.ts';
import { openRack } from './card.ts';
import { cancelling, RATE_HZ } from './card-lane.ts';
import { visitors as recorded } from './kiosk.ts';

const { rack, missing } = await openRack();
rack?.use();
afterAll(() => rack?.close());

const title = `echo on a virtual card${missing === null ? '' : `: skipped, ${missing}`}`;
const ROOM_DB = -62;
/** The interpreter's sentences, and the pauses between them. */
const SENTENCES = 7;
const PAUSE_MS = 900;

/** Between loudspeaker and microphone: the real arecord and aplay, in real time, with clocks that run apart. */
describe.skipIf(rack === null).concurrent(title, { timeout: 150_000 }, () => {
  it.for([
    { id: 'Near', delayMs: 40, gainDb: -12, ppm: 0 },
    { id: 'Apart', delayMs: 120, gainDb: -6, ppm: 120 },
    { id: 'FarApart', delayMs: 280, gainDb: 0, ppm: -300 },
  ])(
    'is taken out sentence by sentence, $delayMs ms late, $gainDb dB, $ppm ppm',
    async ({ id, delayMs, gainDb, ppm }, { expect, annotate, skip }) => {
      if (rack === null) return;
      const room = new Int16Array(toPcm(noise(5 * RATE_HZ, ROOM_DB, 5)).buffer);
      const card = await rack.insert({
        ...{ id, capture: { sound: room, loop: true }, playback: { ppm } },
        acoustic: { delayMs, gainDb },
      });
      const filter = createEchoFilter({ heardRateHz: RATE_HZ, playedRateHz: RATE_HZ });
      const lane = await cancelling(card.device, filter);
      await sleep(1500);
      const { sentences } = await recorded();
      const voice = interpreter(await visitors(), { shift: 0.8, beginS: 0 });
      const spans: { from: number; until: number }[] = [];
      for (const { start, end } of sentences.slice(0, SENTENCES)) {
        const said = voice.subarray(Math.round(start * RATE_HZ), Math.round(end * RATE_HZ));
        spans.push(await lane.say(toPcm(said)));
        await sleep(PAUSE_MS);
      }
      await lane.close();
      const dry = (await card.playback.log()).filter(({ event }) => event === 'xrun').length;
      const [heard, left, beganAt] = [lane.heard(), lane.left(), lane.beganAt()];
      const losses = spans.map(({ from, until }) => {
        const [begin, end] = [from + delayMs, until + delayMs].map((at) => (at - beganAt) / 1000);
        const [before, after] = [heard, left].map((sound) => levelDb(sound, begin, end));
        return { loss: (before ?? 0) - (after ?? 0), after: after ?? 0 };
      });
      await annotate(
        `${losses.map(({ loss, after }) => `${loss.toFixed(0)} dB (${after.toFixed(0)})`).join(', ')}; runs ${lane.runs()}, ${dry} underruns, clocks ${lane.drift()} ppm apart`,
      );
      // A machine that is too busy to play without a break shows nothing of the canceller.
      skip(dry > 0, `the loudspeaker ran dry ${dry} times: this machine is too busy`);
      for (const { loss, after } of losses.slice(1)) expect(loss >= 25 || after <= ROOM_DB + 3).toBe(true);
    },
  );
});
