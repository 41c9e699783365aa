import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeHeader } from '../../src/adapters/audio/wav.ts';
import {
  PHRASE_CODES,
  PHRASE_LANGUAGES,
  PHRASES,
  type PhraseCode,
  type PhraseLanguage,
  spokenWords,
} from '../../src/installer/core/phrases.ts';
import { type Earcon, synthesizeEarcon } from '../../src/sound/earcon.ts';

const run = promisify(execFile);

/** Voices of espeak-ng. */
const VOICES: Readonly<Record<PhraseLanguage, string>> = {
  en: 'en-gb',
  de: 'de',
  fr: 'fr-fr',
  es: 'es',
  it: 'it',
  pt: 'pt',
};
/** Words a minute: slower than the usual 175, because a listener hears the phrase only once. */
const SPEED = '155';
/** Sample rates of espeak-ng and of the files (Hz). Its speech has no content above half of the lower rate. */
const SPOKEN_HZ = 22_050;
const KEPT_HZ = '16000';
/** The agent's chimes: a rising one for good news, a falling one for bad news. */
const CHIMES: Readonly<Record<'good' | 'bad', Earcon>> = { good: 'ready', bad: 'lost' };
/** Factor on the loudness of the chimes, which are made for playing during speech. */
const CHIME_GAIN = 3;
const PAUSE_MS = 250;
const LIMIT_MS = 20_000;
/** Number of programs that run in parallel: one per core of a typical machine. */
const AT_ONCE = 4;

/** Makes `LANGUAGE/CODE.wav` for all phrases below this folder. @throws with a sentence that names what is missing */
export async function makePhrases(out: string): Promise<void> {
  for (const program of ['espeak-ng', 'sox']) {
    const { error, status } = spawnSync(program, ['--version'], { stdio: 'ignore' });
    if (error !== undefined || status !== 0)
      throw new Error(`${program} is not installed: apt-get install espeak-ng sox`);
  }
  const drafts = await mkdtemp(join(tmpdir(), 'dragoman-phrases-'));
  try {
    for (const news of ['good', 'bad'] as const) await writeFile(chimeIn(drafts, news), chime(news));
    const wanted = PHRASE_LANGUAGES.flatMap((language) => PHRASE_CODES.map((code) => ({ language, code })));
    for (const language of PHRASE_LANGUAGES) await mkdir(join(out, language), { recursive: true });
    const work = wanted.values();
    const take = async (): Promise<void> => {
      for (const { language, code } of work) await makeOne(out, drafts, language, code);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, take));
  } finally {
    await rm(drafts, { recursive: true });
  }
}

const chimeIn = (folder: string, news: 'good' | 'bad'): string => join(folder, `${news}.wav`);

async function makeOne(
  out: string,
  drafts: string,
  language: PhraseLanguage,
  code: PhraseCode,
): Promise<void> {
  const draft = join(drafts, `${language}-${code}.wav`);
  const words = spokenWords(code, language);
  await call('espeak-ng', ['-b', '1', '-v', VOICES[language], '-s', SPEED, '-w', draft, '--', words]);
  const kept = ['-r', KEPT_HZ, '-c', '1', '-e', 'ima-adpcm', join(out, language, `${code}.wav`)];
  // No dither, because it is random. Removes the silence at the end of espeak-ng's output.
  const trim = ['reverse', 'silence', '1', '0.02', '0.1%', 'reverse'];
  await call('sox', [
    '-D',
    '-V1',
    chimeIn(drafts, PHRASES[code].news),
    draft,
    ...kept,
    ...trim,
    'norm',
    '-2',
    'pad',
    '0',
    '0.1',
  ]);
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
