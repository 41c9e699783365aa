import { openPhraseSounds, type PhraseSoundRead } from '../../adapters/phrases/phrase-sounds.ts';
import type { Config } from '../../protocol/config.ts';
import { ownerSignatures, UnusableFile } from '../config/unusable-file.ts';
import type { PhraseIn } from './phrase-rules.ts';

type PhrasesConfig = Pick<Config, 'phrases' | 'owner' | 'mqtt'>;

/** Reads the sound of a phrase from the card. Never rejects. */
export async function readPhraseSound(config: PhrasesConfig, phrase: PhraseIn): Promise<PhraseSoundRead> {
  const [sound] = await readAll(config, [phrase]);
  return sound ?? { ok: false, why: 'phrases.folder is not set' };
}

/** Why phrases are only shown, as sentences; empty: every text is spoken. Without a folder, none is meant to be. */
export async function silentPhrases(config: PhrasesConfig): Promise<string[]> {
  const texts = (config.phrases?.list ?? []).flatMap((phrase) =>
    Object.entries(phrase).map(([language, text]) => ({ language, text })),
  );
  const sounds = await readAll(config, texts);
  return [...new Set(sounds.flatMap((sound) => (sound.ok ? [] : [sound.why])))];
}

async function readAll(
  config: PhrasesConfig,
  texts: readonly PhraseIn[],
): Promise<readonly PhraseSoundRead[]> {
  const folder = config.phrases?.folder ?? null;
  if (folder === null) return [];
  try {
    const trust = { signatures: ownerSignatures(config), prefix: config.mqtt.prefix };
    const sounds = await openPhraseSounds(folder, trust);
    const read: PhraseSoundRead[] = [];
    // One after the other: all of them together would fill a small board's memory.
    for (const text of texts) read.push(await sounds.read(text));
    return read;
  } catch (error) {
    if (!(error instanceof UnusableFile)) throw error;
    return [{ ok: false, why: error.message }];
  }
}
