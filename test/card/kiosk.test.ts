import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, it } from 'vitest';
import { judgeSound, watchStalls } from '../stalls.ts';
import { serve, visitors } from './agent-on-a-card.ts';
import { type Card, type CardOptions, type Epoch, openRack } from './card.ts';
import { cardNow, RATE_HZ, stallsWith, until } from './card-lane.ts';
import { findMarkers, findUtterances, quantile, spread } from './sound.ts';

const { rack, missing } = await openRack();
rack?.use();
afterAll(() => rack?.close());
const { sound, sentences } = await visitors();
const stalls = watchStalls();

const title = `a kiosk with a virtual card${missing === null ? '' : `: skipped, ${missing}`}`;

/** Half of what a microphone's buffer holds. */
const LONG_STALL_MS = 1000;
const CHUNK_MS = 320;
/** A loudspeaker that is kept from running for so long is heard outside of its time. */
const ECHO_STALL_MS = 100;
/** How long the answer to the last visitor is. */
const LAST_ANSWER_MS = 2600;

/** The whole agent, with the service around it, in real time: the card's files tell exactly what was heard, and when. */
describe.skipIf(rack === null).concurrent(title, () => {
  it('gives back what it hears sample by sample', async ({ expect, annotate, skip }) => {
    const card = await insert({ id: 'Echoing', capture: { sound } });
    // The microphone comes when the stream is live: nothing waits from before, and the service never stops answering.
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
    // Between the first and the last that came back, no more than soft edges are missing.
    const between = markers.filter(({ at }) => at <= (heard.at(-1)?.at ?? 0));
    // A chunk is 320 ms long, and leaves when its last sample has been captured.
    expect(Math.min(...latencies)).toBeGreaterThan(320);
    expect(streams[0]).toMatchObject({ out_of_order_frames: 0, duplicate_frames: 0 });
    // What was sent in time may arrive early behind a stall.
    judgeSound(skip, stalls, CHUNK_MS, () => expect(streams[0]).toMatchObject({ pacing_violations: 0 }));
    judgeSound(skip, stallsWith(stalls, card), LONG_STALL_MS, () => {
      expect(heard.length).toBeGreaterThan(20);
      expect(heard.length / between.length).toBeGreaterThan(0.9);
      expect(quantile(latencies, 0.5)).toBeLessThan(3000 + 2 * stalls.ms());
    });
  });

  /**
   * Cards differ by 300 ppm at most. Here both are off by 167 times that, in the directions that make speech pile up: what
   * drifts apart in half a minute is what drifts apart in an hour and a half.
   */
  it('does not get later and later with a fast microphone and a slow loudspeaker', async ({
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
    // From the first word of the first answer to the last word of the last one, and what they answer.
    const answering = speaker.atMs(heard.at(-1)?.found ?? 0) - speaker.atMs(heard[0]?.found ?? 0);
    const [first, last] = [sentences[0]?.end ?? 0, sentences.at(-1)?.end ?? 0];
    const growth = answering - LAST_ANSWER_MS - (mic.atMs(last * RATE_HZ) - mic.atMs(first * RATE_HZ));
    await annotate(
      `from the first sentence to the last, answers fell back by ${growth.toFixed(0)} ms ` +
        `while the clocks went ${((ppm * 2 * (last - first)) / 1000).toFixed(0)} ms apart; ${lagsOf(timeline, mic, speaker)}; stalled for ${stalls.ms().toFixed(0)} ms`,
    );
    judgeSound(skip, stallsWith(stalls, card), LONG_STALL_MS, () =>
      expect(growth).toBeLessThan(1500 + 2 * stalls.ms()),
    );
  });

  it('has none of its own words translated in half-duplex, in a loud room', async ({
    expect,
    annotate,
    skip,
  }) => {
    // The first chime comes before anything is measured: until then the tail is 300 ms, and a later echo would outlast it.
    const acoustic = { delayMs: 250, gainDb: 0 };
    const card = await insert({ id: 'Resounding', capture: { sound }, acoustic });
    const devices = { microphone: card.device, loudspeaker: card.device };
    const { summary, sent, received } = await serve(card, {
      seconds: 20,
      realMic: { ...devices, echo: 'half-duplex' },
    });
    // Whatever reaches the service is a visitor, sample by sample: had the room been in it, it would be nobody's.
    const places = findMarkers(sound, received, RATE_HZ);
    const foreign = places.filter(({ found }) => found < 0);
    await annotate(
      `${foreign.length} of ${places.length} loud places are no visitor's; ${summary.silenced_chunks} chunks silenced, ` +
        `${(sent.length / RATE_HZ).toFixed(1)} s spoken`,
    );
    // What sounds or is heard later than anybody could know is taken for a visitor.
    judgeSound(skip, stallsWith(stalls, card), ECHO_STALL_MS, () => {
      expect(places.length).toBeGreaterThan(20);
      expect(foreign).toEqual([]);
      expect(sent.length).toBeGreaterThan(2 * RATE_HZ);
      expect(summary.silenced_chunks).toBeGreaterThan(5);
    });
  });

  it('loses no word but those that were said while the microphone was unplugged', async ({
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
    // It may be started again for a better period.
    const back = (await card.capture.log()).findLast(
      ({ event, atMs }) => event === 'start' && atMs > replugged,
    );
    const resumed = (back?.frame ?? 0) / RATE_HZ;
    // It heard 16 s, and the time without a microphone does not count.
    const lost = findMarkers(received, sound.subarray(0, 16 * RATE_HZ), RATE_HZ)
      .filter(({ found }) => found < 0)
      .map(({ at }) => at / RATE_HZ);
    await annotate(
      `back ${((back?.atMs ?? 0) - replugged).toFixed(0)} ms after the plug; unheard: ${lost.map((at) => at.toFixed(1)).join(' ')}`,
    );
    expect(mic.framesPerMs).toBeCloseTo(24, 3);
    // A chunk is begun again, and what an unplugged card still held is gone.
    judgeSound(skip, stallsWith(stalls, card), LONG_STALL_MS, () => {
      expect(resumed).toBeGreaterThan(0);
      expect(lost.filter((at) => at < unplugged - 1 || at > resumed + 1)).toEqual([]);
      expect(resumed - unplugged).toBeLessThan(30);
    });
    judgeSound(skip, stalls, LONG_STALL_MS, () => expect(summary.sessions).toBe(1));
  });

  it('goes on speaking after the loudspeaker was unplugged', async ({ expect, annotate, skip }) => {
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
    // What the card was given last may still be on its way to the file when the lane has ended.
    await until('the last words', async () => ((await heard()).at(-1)?.found ?? -1) > 0);
    const markers = await heard();
    const unheard = markers.filter(({ found }) => found < 0);
    const back = (await card.playback.log()).find(({ event, atMs }) => event === 'open' && atMs > replugged);
    await annotate(
      `opened ${((back?.atMs ?? 0) - replugged).toFixed(0)} ms after the plug; ${unheard.length} of ${markers.length} places unheard`,
    );
    // What was missed is no more than the time without a loudspeaker.
    judgeSound(skip, stallsWith(stalls, card), LONG_STALL_MS, () => {
      expect(back).toBeDefined();
      expect(unheard.length / 10).toBeLessThan(((back?.atMs ?? 0) - replugged) / 1000 + 2 + 2);
      expect(summary.translations).toBeGreaterThanOrEqual(3);
    });
  });
});

function insert(options: CardOptions): Promise<Card> {
  if (rack === null) throw new Error('there is no rack');
  return rack.insert(options);
}

async function epochs(card: Card): Promise<[Epoch, Epoch]> {
  const [mic, speaker] = [await card.capture.epoch(), await card.playback.epoch()];
  if (mic === null || speaker === null) throw new Error('the card was not used');
  return [mic, speaker];
}

/** How long the card's microphone has been hearing. */
async function micSeconds(card: Card): Promise<number> {
  const epoch = await card.capture.epoch();
  return epoch === null ? 0 : ((cardNow() - epoch.startMs) * epoch.framesPerMs) / RATE_HZ;
}

/** How long after each sentence its answer began, where each of them is in one piece. */
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
