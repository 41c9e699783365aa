import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { makeHeader } from '../../src/adapters/audio/wav.ts';
import { MENU_LANGUAGES, MENU_SOUNDS } from '../../src/device/menu/menu-sounds.ts';
import { menuWords } from '../../src/device/menu/menu-words.ts';
import { PHRASE_CODES, PHRASE_LANGUAGES, PHRASES, spokenWords } from '../../src/installer/core/phrases.ts';
import { type Earcon, synthesizeEarcon } from '../../src/sound/earcon.ts';

const run = promisify(execFile);

/** Voices of espeak-ng whose names are not the language's. Its voice "cmn" reads some Chinese characters in English. */
const VOICES: Readonly<Record<string, string>> = { en: 'en-gb', fr: 'fr-fr', zh: 'cmn-latn-pinyin' };
/** Folder of the sounds of the spoken menu, beside those of the phrases. */
export const MENU_FOLDER = 'menu';
/** Words a minute: slower than the usual 175, because a listener hears the phrase only once. */
const SPEED = '155';
/** Sample rates of espeak-ng and of the phrases (Hz). Its speech has no content above half of the lower rate. */
const SPOKEN_HZ = 22_050;
const KEPT_HZ = 16_000;
/** Sample rate of the menu (Hz): its sounds are three times as many. */
const MENU_HZ = 12_000;
/** The agent's chimes: a rising one for good news, a falling one for bad news. */
const CHIMES: Readonly<Record<'good' | 'bad', Earcon>> = { good: 'ready', bad: 'lost' };
/** Factor on the loudness of the chimes, which are made for playing during speech. */
const CHIME_GAIN = 3;
const PAUSE_MS = 250;
const LIMIT_MS = 20_000;
/** Number of programs that run in parallel: one per core of a typical machine. */
const AT_ONCE = 4;

/** Makes `LANGUAGE/CODE.wav` for all phrases, and `menu/LANGUAGE/SOUND.wav` for the spoken menu, below this folder. @throws with a sentence that names what is missing */
export async function makePhrases(out: string): Promise<void> {
  for (const program of ['espeak-ng', 'sox']) {
    const { error, status } = spawnSync(program, ['--version'], { stdio: 'ignore' });
    if (error !== undefined || status !== 0)
      throw new Error(`${program} is not installed: apt-get install espeak-ng sox`);
  }
  const drafts = await mkdtemp(join(tmpdir(), 'dragoman-phrases-'));
  try {
    for (const news of ['good', 'bad'] as const) await writeFile(chimeIn(drafts, news), chime(news));
    const jobs = [...phraseJobs(out), ...menuJobs(out)];
    for (const folder of new Set(jobs.map(({ path }) => dirname(path))))
      await mkdir(folder, { recursive: true });
    const work = jobs.entries();
    const take = async (): Promise<void> => {
      for (const [number, job] of work) await makeOne(job, join(drafts, `${number}.wav`), drafts);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, take));
  } finally {
    await rm(drafts, { recursive: true });
  }
}

const chimeIn = (folder: string, news: 'good' | 'bad'): string => join(folder, `${news}.wav`);

/** A sound to make. */
interface Job {
  readonly path: string;
  readonly language: string;
  readonly words: string;
  readonly rateHz: number;
  /** The chime before the words; null: none. */
  readonly news: 'good' | 'bad' | null;
}

const phraseJobs = (out: string): Job[] =>
  PHRASE_LANGUAGES.flatMap((language) =>
    PHRASE_CODES.map((code) => ({
      path: join(out, language, `${code}.wav`),
      language,
      words: spokenWords(code, language),
      rateHz: KEPT_HZ,
      news: PHRASES[code].news,
    })),
  );

const menuJobs = (out: string): Job[] =>
  MENU_LANGUAGES.flatMap((language) =>
    MENU_SOUNDS.map((sound) => ({
      path: join(out, MENU_FOLDER, language, `${sound}.wav`),
      language,
      words: menuWords(sound, language),
      rateHz: MENU_HZ,
      news: null,
    })),
  );

async function makeOne({ path, language, words, rateHz, news }: Job, draft: string, drafts: string) {
  const voice = VOICES[language] ?? language;
  await call('espeak-ng', ['-b', '1', '-v', voice, '-s', SPEED, '-w', draft, '--', words]);
  const kept = ['-r', String(rateHz), '-c', '1', '-e', 'ima-adpcm', path];
  // No dither, because it is random. Removes the silence at the end of espeak-ng's output.
  const trim = ['reverse', 'silence', '1', '0.02', '0.1%', 'reverse'];
  const parts = news === null ? [draft] : [chimeIn(drafts, news), draft];
  await call('sox', ['-D', '-V1', ...parts, ...kept, ...trim, 'norm', '-2', 'pad', '0', '0.1']);
}

async function call(program: string, words: readonly string[]): Promise<void> {
  const env = { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' };
  try {
    await run(program, [...words], { env, timeout: LIMIT_MS, killSignal: 'SIGKILL' });
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new Error(`${program} could not make a phrase (${words.at(-1)}): ${said}`);
  }
}

/** A chime with a pause after it, as a WAV file. */
function chime(news: 'good' | 'bad'): Buffer {
  const tones = synthesizeEarcon(CHIMES[news], SPOKEN_HZ);
  const samples = Buffer.from(tones);
  for (let at = 0; at < samples.length; at += 2)
    samples.writeInt16LE(samples.readInt16LE(at) * CHIME_GAIN, at);
  const pause = Buffer.alloc(2 * Math.round((PAUSE_MS * SPOKEN_HZ) / 1000));
  const sound = Buffer.concat([samples, pause]);
  return Buffer.concat([makeHeader({ rateHz: SPOKEN_HZ, dataBytes: sound.length }), sound]);
}
