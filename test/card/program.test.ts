import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { loadWav } from '../../src/adapters/audio/sound-source.ts';
import { samplesOf } from '../../src/sound/pcm.ts';
import { needs } from '../needs.ts';
import { judgeSound, watchStalls } from '../stalls.ts';
import { RECORDING, visitors } from './agent-on-a-card.ts';
import { type Card, openRack } from './card.ts';
import { cardNow, RATE_HZ, stallsWith, until } from './card-lane.ts';
import { findMarkers, findUtterances } from './sound.ts';
import { openSoundServer } from './sound-server.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { server, missing } = await openSoundServer();
const { rack, missing: rackMissing } = await openRack();
const folder = mkdtempSync(join(tmpdir(), 'dragoman-program-'));
/** Stall (ms) that makes a player or canceller late. */
const LONG_STALL_MS = 100;
/** Started programs, to be ended after a failed test. */
const started: ChildProcess[] = [];
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  await Promise.all([server?.close(), rack?.close()]);
  rmSync(folder, { recursive: true, force: true });
});

beforeAll(() => {
  const built = spawnSync(process.execPath, ['scripts/build.mjs', '--out', folder], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(built.stderr);
});

const because = missing === null ? '' : `: skipped, ${missing}`;
const becauseOfRack = rackMissing === null ? '' : `: skipped, ${rackMissing}`;

describe.concurrent('demo --real-mic', () => {
  it(
    `translates the microphone of a sound server${because}`,
    needs(missing),
    async ({ expect, annotate, skip }) => {
      const stalls = watchStalls();
      if (server === null) throw new Error('there is no server');
      const [heard, spoken] = await Promise.all([server.record('micfeed'), server.record('spk')]);
      const output = join(folder, 'spoken.wav');
      const env = { ...server.env, DRAGOMAN_LANES_0_ECHO: 'off' };
      const demo = demoWith(['--seconds', '22', '--output', output], env);
      await until('the stream', () => /phase +live/.test(demo.said()), 60_000);
      const visitor = server.playToMicrophone(RECORDING);
      expect(await demo.ended, demo.said()).toBe(0);
      visitor.kill('SIGTERM');
      const [mic, speaker] = [await heard.stop(), await spoken.stop()];
      const { sentences } = await visitors();

      // Transcripts and translations.
      expect(count(demo.said(), /said en/g)).toBeGreaterThanOrEqual(3);
      expect(count(demo.said(), /to es/g)).toBeGreaterThanOrEqual(3);
      // The recorded sound of the loudspeaker is that of the output file.
      const wanted = samplesOf((await loadWav(output)).pcm);
      const markers = findMarkers(speaker, wanted, RATE_HZ);
      const there = markers.filter(({ found }) => found >= 0);
      expect(markers.length).toBeGreaterThan(50);
      // Each of the first sentences is answered after its end, within a limit.
      const onset = heard.startedAt + (mic.findIndex((sample) => Math.abs(sample) > 500) / RATE_HZ) * 1000;
      const began = onset - firstLoud(await visitors().then(({ sound }) => sound));
      const answers = findUtterances(speaker, RATE_HZ, 0.3).filter(({ from, to }) => to - from > RATE_HZ);
      const lags = sentences.slice(0, 3).map(({ end }, index) => {
        const answer = answers[index]?.from ?? Number.NaN;
        return spoken.startedAt + (answer / RATE_HZ) * 1000 - (began + end * 1000);
      });
      await annotate(
        `answered after ${lags.map((lag) => lag.toFixed(0)).join(', ')} ms; ${there.length} of ${markers.length} places heard`,
      );
      judgeSound(skip, stalls, LONG_STALL_MS, () => {
        expect(there.length / markers.length).toBeGreaterThan(0.9);
        for (const lag of lags) {
          expect(lag).toBeGreaterThan(300);
          expect(lag).toBeLessThan(12_000);
        }
      });
    },
  );

  it('names what is missing when there is no sound card', async ({ expect }) => {
    const nowhere = demoWith(['--seconds', '5', '--json'], {
      ...process.env,
      DRAGOMAN_LANES_0_CAPTURE_DEVICE: 'plughw:CARD=Nowhere',
    });
    expect(await nowhere.ended).toBe(1);
    expect(nowhere.complained()).toMatch(/^dragoman: --real-mic.+(cannot be opened \(.+\)|alsa-utils)/);
    expect(nowhere.complained().trim()).not.toContain('\n');
    expect(nowhere.said()).toBe('');
  });

  it('names what is missing when arecord is not installed', async ({ expect }) => {
    const bare = demoWith(['--seconds', '5'], { PATH: folder });
    expect(await bare.ended).toBe(1);
    expect(bare.complained()).toBe(
      'dragoman: --real-mic needs arecord and aplay: install the package alsa-utils.\n',
    );
  });

  it('accepts a microphone or a file, but not both', async ({ expect }) => {
    const both = demoWith(['--input', RECORDING], process.env);
    expect(await both.ended).toBe(2);
    expect(both.complained()).toContain("'--real-mic' cannot be used with option '--input <wav>'");
  });

  it(
    `captures a visitor who speaks over the loudspeaker, without the loudspeaker, with echo cancelling${becauseOfRack}`,
    needs(rackMissing),
    async ({ expect, annotate, skip }) => {
      const stalls = watchStalls();
      const { sound, sentences } = await visitors();
      const talk = async (id: string, echo: string) => {
        if (rack === null) throw new Error('the virtual cards are missing');
        const card = await rack.insert({ id, capture: { sound }, acoustic: { delayMs: 120, gainDb: -12 } });
        const demo = demoWith(['--json', '--seconds', '34', '--output', join(folder, `${id}.wav`)], {
          ...rack.env,
          DRAGOMAN_LANES_0_CAPTURE_DEVICE: card.device,
          DRAGOMAN_LANES_0_PLAYBACK_DEVICE: card.device,
          DRAGOMAN_LANES_0_ECHO: echo,
        });
        expect(await demo.ended, demo.said() + demo.complained()).toBe(0);
        const { summary } = JSON.parse(demo.said().trim().split('\n').at(-1) ?? '');
        const told = summary as { sentences: number; silenced_chunks: number; lost_audio_ms: number };
        return { ...told, stalls: stallsWith(stalls, card) };
      };
      const [cancel, halfDuplex] = await Promise.all([talk('Open', 'cancel'), talk('Closed', 'half-duplex')]);
      await annotate(
        `${cancel.sentences} of ${sentences.length} sentences and ${cancel.silenced_chunks} chunks silenced; ` +
          `in half-duplex ${halfDuplex.sentences} and ${halfDuplex.silenced_chunks}`,
      );
      // Before the canceller has started, the lane silences the microphone while the loudspeaker plays. Counted for each sentence,
      // because a lane with more sentences also plays more translations. A canceller that never started would silence as much as
      // half-duplex; one that works silenced 0.27 to 0.55 of it, by how soon the loudspeaker's first sentences let it start.
      const inAll = {
        ms: () => Math.max(cancel.stalls.ms(), halfDuplex.stalls.ms()),
        longestMs: () => Math.max(cancel.stalls.longestMs(), halfDuplex.stalls.longestMs()),
      };
      judgeSound(skip, inAll, LONG_STALL_MS, () => {
        expect(cancel.silenced_chunks / cancel.sentences).toBeLessThan(
          (0.75 * halfDuplex.silenced_chunks) / halfDuplex.sentences,
        );
        // Every sentence is a visitor's, and almost none is missing. One that is silenced in its middle may count as two. Translated
        // echoes would double the number.
        expect(cancel.sentences).toBeGreaterThanOrEqual(sentences.length - 2);
        expect(cancel.sentences).toBeLessThanOrEqual(sentences.length + 3);
        expect([cancel.lost_audio_ms, halfDuplex.lost_audio_ms]).toEqual([0, 0]);
      });
    },
  );

  function demoWith(words: string[], env: NodeJS.ProcessEnv) {
    const program = join(folder, 'dragoman.mjs');
    const child: ChildProcess = spawn(process.execPath, [program, 'demo', '--real-mic', ...words], { env });
    started.push(child);
    const [said, complained] = [collect(child.stdout), collect(child.stderr)];
    return { said, complained, ended: once(child, 'close').then(([code]) => code as number | null) };
  }
});

const daemonTitle = `dragoman run with a virtual card${becauseOfRack}`;

/** The daemon, whose children use the sound card. */
describe.concurrent(daemonTitle, needs(rackMissing), () => {
  it('leaves no child process when it is killed', async ({ expect, annotate }) => {
    const { card, daemon } = await startDaemon('Killed');
    expect(await areGone(card)).toBe(false);
    daemon.kill('SIGKILL');
    const killed = cardNow();
    await until('the card is free', () => areGone(card));
    await annotate(`gone after ${(cardNow() - killed).toFixed(0)} ms`);
  });

  it('leaves no child process when it is killed while the card hangs', async ({ expect }) => {
    const { card, daemon } = await startDaemon('KilledHanging');
    expect(await areGone(card)).toBe(false);
    card.capture.control('stall');
    card.playback.control('stall');
    daemon.kill('SIGKILL');
    await until('the card is free', () => areGone(card));
  });

  it('frees the card and ends on SIGTERM', async ({ expect, annotate }) => {
    const { card, daemon } = await startDaemon('Told');
    expect(await areGone(card)).toBe(false);
    const told = cardNow();
    daemon.kill('SIGTERM');
    const [code] = await once(daemon, 'close');
    await annotate(`ended after ${(cardNow() - told).toFixed(0)} ms`);
    expect(code).toBe(0);
    expect(await areGone(card)).toBe(true);
  });

  async function startDaemon(id: string): Promise<{ card: Card; daemon: ChildProcess }> {
    if (rack === null) throw new Error('the virtual cards are missing');
    const card = await rack.insert({ id });
    const config = join(folder, `${id}.json`);
    const { device } = card;
    const lane = { source: 'en', targets: ['es'], capture: { device }, playback: { device } };
    const mqtt = { url: 'mqtt://127.0.0.1:9' };
    writeFileSync(config, JSON.stringify({ device: { id: 'kiosk', tenant: 'test' }, mqtt, lanes: [lane] }));
    const words = [join(folder, 'dragoman.mjs'), 'run', '--config', config];
    const daemon = spawn(process.execPath, words, { env: rack.env, stdio: 'ignore' });
    started.push(daemon);
    await until('both children', async () => {
      const [capture, playback] = await Promise.all([card.capture.log(), card.playback.log()]);
      return capture.some(({ event }) => event === 'start') && playback.some(({ event }) => event === 'open');
    });
    return { card, daemon };
  }
});

/** All processes that have had the card open. */
async function users(card: Card): Promise<number[]> {
  const logs = await Promise.all([card.capture.log(), card.playback.log()]);
  return logs.flat().map(({ pid }) => pid);
}

const areGone = async (card: Card): Promise<boolean> => (await users(card)).every(isGone);

/** Whether a process has ended, even if its parent has not reaped it yet. */
function isGone(pid: number): boolean {
  try {
    return /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  return () => text;
}

const count = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;

/** Time of the first loud sample of a recording (ms). */
function firstLoud(sound: Int16Array): number {
  return (sound.findIndex((sample) => Math.abs(sample) > 500) / RATE_HZ) * 1000;
}
