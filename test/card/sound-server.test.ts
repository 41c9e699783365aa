import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { createConsultation } from '../cli/doctor/consultation.ts';
import { needs } from '../needs.ts';
import { openPipeline, RATE_HZ, speak, until } from './card-lane.ts';
import { babble } from './sound.ts';
import { openSoundServer, type SoundServer } from './sound-server.ts';

const fixture = createConsultation();
const { server, missing } = await openSoundServer();
// The drivers' children inherit this process's environment.
if (server !== null) Object.assign(process.env, server.env);
afterAll(async () => {
  await server?.close();
  fixture.close();
});

const LONG_SPEECH_S = 8;
const MOST_TRIES = 4;
/** Time after which a hang is reported (ms): longer than the driver's limit plus its check interval. */
const HANG_SEEN_MS = 3000;

const run = promisify(execFile);
const pactl = async (...words: string[]): Promise<string> => (await run('pactl', words)).stdout;

const title = `the volume of a sound server${missing === null ? '' : `: skipped, ${missing}`}`;

/** The sound server has its own control. Its recording shows the effect of a volume. */
describe(title, needs(missing), () => {
  it('is set and unmuted by the agent, and is heard', async () => {
    if (server === null) throw new Error('there is no server');
    await pactl('set-sink-mute', 'spk', '1');
    const { playbackPipeline, say } = await openPipeline('default', 50);
    await until('volume 50', async () => / 50% /.test(await pactl('get-sink-volume', 'spk')));
    await until('the unmuted sink', async () => /no/.test(await pactl('get-sink-mute', 'spk')));
    const recording = await server.record('spk');
    const sentence = babble(RATE_HZ, 1);
    say(sentence);
    const heard = (): Int16Array => recording.sound().filter((sample) => sample !== 0);
    await until('most of the sentence', () => heard().length > sentence.length * 0.9);
    await recording.stop();
    // The server's 50 % equals the agent's volume 50 without a control: an eighth of the amplitude.
    expect(rms(heard()) / rms(sentence)).toBeCloseTo(0.5 ** 3, 2);

    await pactl('set-sink-volume', 'spk', '90%');
    playbackPipeline.setVolume(20);
    await until('volume 20', async () => / 20% /.test(await pactl('get-sink-volume', 'spk')));
    await playbackPipeline.close();
  });

  it('is checked by the doctor, whose fix works', async () => {
    const lane = {
      source: 'en',
      targets: ['es'],
      capture: { device: 'default' },
      playback: { device: 'default' },
    };
    const file = fixture.config('server', { lanes: [lane] });
    const examine = async () => (await fixture.examine(file, ['--only', 'mixer'], process.env)).of('mixer');
    await pactl('set-sink-volume', 'spk', '80%');
    expect(await examine()).toMatchObject({
      verdict: 'ok',
      finding: expect.stringMatching(/default card, playback: 'Master' 80 %/),
    });
    await pactl('set-sink-mute', 'spk', '1');
    const { verdict, finding, fix } = await examine();
    expect({ verdict, finding }).toEqual({
      verdict: 'problem',
      finding: "the loudspeaker is switched off: 'Master' of the default card",
    });
    const [, command = ''] = /: (amixer .+)\.$/.exec(fix ?? '') ?? [];
    await run('sh', ['-c', command]);
    expect((await examine()).verdict, command).toBe('ok');
  });
});

const longTitle = `long speech on a sound server${missing === null ? '' : `: skipped, ${missing}`}`;

/** The library of the server reads ahead. The driver must distinguish that from played sound, or it reports a hang. */
describe(longTitle, needs(missing), () => {
  it('is not reported as a hang, at 24 and at 16 kHz', async () => {
    if (server === null) throw new Error('there is no server');
    await pactl('set-sink-volume', 'spk', '100%');
    const found: string[][] = [];
    // On a busy machine a server or program may stall for seconds, which counts as a hang: try several times.
    while (found.length < MOST_TRIES && found.every((faults) => faults.length > 0))
      found.push(await speakLong(server));
    expect(found.at(-1)).toEqual([]);
  });
});

/** @returns the faults of a loudspeaker at each rate */
async function speakLong(server: SoundServer): Promise<string[]> {
  const rates = [RATE_HZ, 16_000];
  const speakers = await Promise.all(rates.map((rateHz) => speak('default', rateHz)));
  const recording = await server.record('spk');
  for (const [index, speaker] of speakers.entries())
    speaker.say(babble(LONG_SPEECH_S * (rates[index] ?? RATE_HZ), 1));
  const faults = () => speakers.flatMap((speaker) => speaker.faults.map(({ message }) => message));
  const heardS = (): number => recording.sound().filter((sample) => sample !== 0).length / RATE_HZ;
  await until(
    'the end of the speech, or a fault',
    () => faults().length > 0 || heardS() > LONG_SPEECH_S * 0.95,
  );
  // After the end, the driver would notice soonest that some sound was not taken.
  await sleep(HANG_SEEN_MS);
  await recording.stop();
  for (const speaker of speakers) await speaker.playback.close();
  return faults();
}

const rms = (sound: Int16Array): number =>
  Math.sqrt(sound.reduce((sum, sample) => sum + sample ** 2, 0) / sound.length);
