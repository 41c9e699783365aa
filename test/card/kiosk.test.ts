import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, it } from 'vitest';
import { needs } from '../needs.ts';
import { judgeSound, watchStalls } from '../stalls.ts';
import { serve, visitors } from './agent-on-a-card.ts';
import { type Card, type CardOptions, openRack } from './card.ts';
import { cardNow, RATE_HZ, stallsWith, until } from './card-lane.ts';
import type { Epoch } from './card-side.ts';
import { findMarkers, findUtterances, quantile, spread } from './sound.ts';

const { rack, missing } = await openRack();
rack?.use();
afterAll(() => rack?.close());
const { sound, sentences } = await visitors();
const stalls = watchStalls();

const title = `a kiosk with a virtual card${missing === null ? '' : `: skipped, ${missing}`}`;

/** Stall (ms): half of a microphone's buffer. */
const LONG_STALL_MS = 1000;
const CHUNK_MS = 320;
/** Stall of a loudspeaker (ms) after which its echo is outside of its expected time. */
const ECHO_STALL_MS = 100;
/** Length of the answer to the last visitor (ms). */
const LAST_ANSWER_MS = 2600;

/** The whole agent with the service in real time. The card's files show exactly what was captured and played, and when. */
describe.concurrent(title, needs(missing), () => {
  it('plays the echo of the service sample by sample', async ({ expect, annotate, skip }) => {
    const card = await insert({ id: 'Echoing', capture: { sound } });
    // The microphone is plugged in when the stream is live, so that there is no backlog and the service answers without a pause.
    card.capture.control('unplug');
    const { streams } = await serve(card, {
      seconds: 60,
      service: { translate: 'echo', setupMs: 200 },
      onLive: () => card.capture.control(),
      abort: AbortSignal.timeout(25_000),
    });
    const [mic, speaker] = await epochs(card);
    const markers = findMarkers(await card.playback.sound(), sound, RATE_HZ);
    const heard = markers.filter(({ found }) => found >= 0);
    const latencies = heard.map(({ at, found }) => speaker.atMs(found) - mic.atMs(at));
    await annotate(
      `mouth to ear ${spread(latencies)} ms, ${heard.length} places; stalled for ${stalls.ms().toFixed(0)} ms`,
    );
    // Between the first and the last played place, only soft edges are missing.
    const between = markers.filter(({ at }) => at <= (heard.at(-1)?.at ?? 0));
    // A chunk has 320 ms and is sent after the capture of its last sample.
    expect(Math.min(...latencies)).toBeGreaterThan(320);
    expect(streams[0]).toMatchObject({ out_of_order_frames: 0, duplicate_frames: 0 });
    // A chunk that was sent in time may arrive early after a stall.
    judgeSound(skip, stalls, CHUNK_MS, () => expect(streams[0]).toMatchObject({ pacing_violations: 0 }));
    judgeSound(skip, stallsWith(stalls, card), LONG_STALL_MS, () => {
      expect(heard.length).toBeGreaterThan(20);
      expect(heard.length / between.length).toBeGreaterThan(0.9);
      expect(quantile(latencies, 0.5)).toBeLessThan(3000 + 2 * stalls.ms());
    });
  });

  /**
   * Real cards differ by at most 300 ppm. Here both are off by 167 times that, in the directions that accumulate speech: half a
   * minute has the drift of an hour and a half.
   */
  it('keeps its latency with a fast microphone and a slow loudspeaker', async ({
    expect,
    annotate,
    skip,
  }) => {
    const ppm = 50_000;
    const card = await insert({ id: 'Drifting', capture: { sound, ppm }, playback: { ppm: -ppm } });
    const { summary, sent } = await serve(card, { seconds: 34 });
    const [mic, speaker] = await epochs(card);
    const timeline = await card.playback.sound();
    const heard = findMarkers(timeline, sent, RATE_HZ).filter(({ found }) => found >= 0);
    judgeSound(skip, stallsWith(stalls, card), LONG_STALL_MS, () =>
      expect(summary).toMatchObject({ sentences: 8, translations: 8, lost_audio_ms: 0, dropped_chunks: 0 }),
    );
    // Time from the first word of the first answer to the last word of the last one, and the same for the questions.
    const answering = speaker.atMs(heard.at(-1)?.found ?? 0) - speaker.atMs(heard[0]?.found ?? 0);
    const [first, last] = [sentences[0]?.end ?? 0, sentences.at(-1)?.end ?? 0];
    const growth = answering - LAST_ANSWER_MS - (mic.atMs(last * RATE_HZ) - mic.atMs(first * RATE_HZ));
    await annotate(
      `from the first sentence to the last, the latency grew by ${growth.toFixed(0)} ms ` +
        `while the clocks diverged by ${((ppm * 2 * (last - first)) / 1000).toFixed(0)} ms; ${lagsOf(timeline, mic, speaker)}; stalled for ${stalls.ms().toFixed(0)} ms`,
    );
    judgeSound(skip, stallsWith(stalls, card), LONG_STALL_MS, () =>
      expect(growth).toBeLessThan(1500 + 2 * stalls.ms()),
    );
  });

  it('sends none of its own words to the service in half-duplex, in a loud room', async ({
    expect,
    annotate,
    skip,
  }) => {
    // The first chime comes before any measurement: until then the tail is 300 ms, and must cover the echo.
    const acoustic = { delayMs: 250, gainDb: 0 };
    const card = await insert({ id: 'Resounding', capture: { sound }, acoustic });
    const devices = { microphone: card.device, loudspeaker: card.device };
    const { summary, sent, received } = await serve(card, {
      seconds: 20,
      realMic: { ...devices, echo: 'half-duplex' },
    });
    // All sound at the service must equal a visitor's sample by sample; sound with the room's echo would equal none.
    const places = findMarkers(sound, received, RATE_HZ);
    const foreign = places.filter(({ found }) => found < 0);
    await annotate(
      `${foreign.length} of ${places.length} loud places are not a visitor's; ${summary.silenced_chunks} chunks silenced, ` +
        `${(sent.length / RATE_HZ).toFixed(1)} s played`,
    );
    // Sound that is late by a stall counts as a visitor.
    judgeSound(skip, stallsWith(stalls, card), ECHO_STALL_MS, () => {
      expect(places.length).toBeGreaterThan(20);
      expect(foreign).toEqual([]);
      expect(sent.length).toBeGreaterThan(2 * RATE_HZ);
      expect(summary.silenced_chunks).toBeGreaterThan(5);
    });
  });

  it('loses only the words that were spoken while the microphone was unplugged', async ({
    expect,
    annotate,
    skip,
  }) => {
    const card = await insert({ id: 'Unplugged', capture: { sound } });
    const serving = serve(card, { seconds: 16, service: { setupMs: 500 } });
    await until('the second sentence', async () => (await micSeconds(card)) > 7);
    const unplugged = await micSeconds(card);
    card.capture.control('unplug');
    await sleep(2000);
    const replugged = cardNow();
    card.capture.control();
    const { received, summary } = await serving;
    const [mic] = await epochs(card);
    // The driver may restart it for a better period.
    const back = (await card.capture.log()).findLast(
      ({ event, atMs }) => event === 'start' && atMs > replugged,
    );
    const resumed = (back?.frame ?? 0) / RATE_HZ;
    // It captured 16 s, without the time when the microphone was unplugged.
    const lost = findMarkers(received, sound.subarray(0, 16 * RATE_HZ), RATE_HZ)
      .filter(({ found }) => found < 0)
      .map(({ at }) => at / RATE_HZ);
    await annotate(
      `back ${((back?.atMs ?? 0) - replugged).toFixed(0)} ms after the plug; unheard: ${lost.map((at) => at.toFixed(1)).join(' ')}`,
    );
    expect(mic.framesPerMs).toBeCloseTo(24, 3);
    // One chunk starts again, and the buffer of the unplugged card is lost.
    judgeSound(skip, stallsWith(stalls, card), LONG_STALL_MS, () => {
      expect(resumed).toBeGreaterThan(0);
      expect(lost.filter((at) => at < unplugged - 1 || at > resumed + 1)).toEqual([]);
      expect(resumed - unplugged).toBeLessThan(30);
    });
    judgeSound(skip, stalls, LONG_STALL_MS, () => expect(summary.sessions).toBe(1));
  });

  it('continues to speak after the loudspeaker was unplugged', async ({ expect, annotate, skip }) => {
    const card = await insert({ id: 'Mute', capture: { sound } });
    const serving = serve(card, { seconds: 14, service: { setupMs: 500 } });
    await until('the first translation', async () => (await card.playback.sound()).length > 0);
    await until('more than a chime', async () => spokenSeconds(await card.playback.sound()) > 1.5);
    card.playback.control('unplug');
    await sleep(2000);
    const replugged = cardNow();
    card.playback.control();
    const { sent, summary } = await serving;
    const heard = async () => findMarkers(await card.playback.sound(), sent, RATE_HZ);
    // The last sound may reach the card's file after the end of the lane.
    await until('the last words', async () => ((await heard()).at(-1)?.found ?? -1) > 0);
    const markers = await heard();
    const unheard = markers.filter(({ found }) => found < 0);
    const back = (await card.playback.log()).find(({ event, atMs }) => event === 'open' && atMs > replugged);
    await annotate(
      `opened ${((back?.atMs ?? 0) - replugged).toFixed(0)} ms after the plug; ${unheard.length} of ${markers.length} places unheard`,
    );
    // Only the time without a loudspeaker is missing.
    judgeSound(skip, stallsWith(stalls, card), LONG_STALL_MS, () => {
      expect(back).toBeDefined();
      expect(unheard.length / 10).toBeLessThan(((back?.atMs ?? 0) - replugged) / 1000 + 2 + 2);
      expect(summary.translations).toBeGreaterThanOrEqual(3);
    });
  });
});

function insert(options: CardOptions): Promise<Card> {
  if (rack === null) throw new Error('the virtual cards are missing');
  return rack.insert(options);
}

async function epochs(card: Card): Promise<[Epoch, Epoch]> {
  const [mic, speaker] = [await card.capture.epoch(), await card.playback.epoch()];
  if (mic === null || speaker === null) throw new Error('the card was not used');
  return [mic, speaker];
}

/** Length of the sound that the card's microphone has delivered. */
async function micSeconds(card: Card): Promise<number> {
  const epoch = await card.capture.epoch();
  return epoch === null ? 0 : ((cardNow() - epoch.startMs) * epoch.framesPerMs) / RATE_HZ;
}

/** Delay of the answer to each sentence, if each sentence and answer is in one piece. */
function lagsOf(timeline: Int16Array, mic: Epoch, speaker: Epoch): string {
  const answers = findUtterances(timeline, RATE_HZ).filter(({ from, to }) => to - from > RATE_HZ);
  if (answers.length !== sentences.length) return `${answers.length} pieces`;
  const lags = answers.map(
    ({ from }, index) => speaker.atMs(from) - mic.atMs((sentences[index]?.end ?? 0) * RATE_HZ),
  );
  return `lags ${lags.map((lag) => lag.toFixed(0)).join(', ')} ms`;
}

function spokenSeconds(timeline: Int16Array): number {
  return timeline.filter((sample) => sample !== 0).length / RATE_HZ;
}
