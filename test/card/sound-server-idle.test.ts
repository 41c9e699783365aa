/** A sound server as on a desktop: it suspends idle devices. Its lines are those of docs/sound.md. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { createConsultation } from '../cli/doctor/consultation.ts';
import { needs } from '../needs.ts';
import { RATE_HZ, speak, until } from './card-lane.ts';
import { babble } from './sound.ts';
import { openSoundServer } from './sound-server.ts';

const fixture = createConsultation();
const { server, missing } = await openSoundServer('spk', true);
// The drivers' children inherit this process's environment.
if (server !== null) Object.assign(process.env, server.env);
afterAll(async () => {
  await server?.close();
  fixture.close();
});

const SENTENCES = 5;
/** Longer than the server waits before it suspends (ms). */
const PAUSE_MS = 3000;

/** The device of the page's section "PulseAudio". */
const page = readFileSync(new URL('../../docs/sound.md', import.meta.url), 'utf8');
const [, section = ''] = /^### PulseAudio$([\s\S]*?)^##/m.exec(page) ?? [];
const partOf = (name: string): { driver: string; device: string } =>
  JSON.parse(new RegExp(`"${name}": (\\{[^}]*\\})`).exec(section)?.[1] ?? '{}');

describe(`PulseAudio${missing === null ? '' : `: skipped, ${missing}`}`, needs(missing), () => {
  it('plays each sentence after a pause, without a restart', async () => {
    if (server === null) throw new Error('there is no server');
    const speaker = await speak(partOf('playback').device, RATE_HZ);
    const recording = await server.record('spk');
    const heardS = (): number => recording.sound().filter((sample) => sample !== 0).length / RATE_HZ;
    for (let sentence = 1; sentence <= SENTENCES; sentence += 1) {
      speaker.say(babble(2 * RATE_HZ, 1));
      await until(`sentence ${sentence}`, () => heardS() > 1.9 * sentence);
      await sleep(PAUSE_MS);
    }
    expect(speaker.faults).toEqual([]);
    expect(speaker.playback.figures?.starts).toBe(1);
    await recording.stop();
    await speaker.playback.close();
  });

  it('passes the doctor with the lines of the page', async () => {
    const parts = { capture: partOf('capture'), playback: partOf('playback') };
    const file = fixture.config('pulse', { lanes: [{ source: 'en', targets: ['es'], ...parts }] });
    const only = ['--only', 'capture', '--only', 'playback'];
    // A busy machine leaves gaps in the tone.
    await expect
      .poll(async () => (await fixture.examine(file, only, process.env)).of('playback'), { interval: 1000 })
      .toMatchObject({ finding: expect.stringContaining('tone heard back') });
  });
});
