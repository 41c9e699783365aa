import { estimatePitch } from './another-voice.ts';
import { toFloat } from './resample.ts';

/** How much voice tells a speaker. */
const ENOUGH_MS = 250;
/** Voices below this are low ones, hertz. */
const LOW_VOICE_BELOW = 165;
/** Finds the language of a speaker when the task does not name it. */
const USUAL = 'en';

/** The running sentence as far as it was heard. */
export interface HeardVoice {
  readonly voicedMs: number;
  /** Its sound so far, mono. */
  sound(): Int16Array;
}

/** Finds out which of several languages a sentence is in. */
export interface SpokenLanguage {
  /** Another sentence begins. */
  restart(): void;
  /** The language of the running sentence; null while too little of it was heard. @param isWhole no more comes */
  of(voice: HeardVoice, isWhole: boolean): string | null;
}

/**
 * An emulator understands no words: it knows speakers by their voices. A low voice speaks the first of the languages, a
 * high one the second.
 * @param getLanguages that may be spoken; one: always that one
 */
export function createSpokenLanguage(
  getSource: () => { readonly languages: readonly string[]; readonly rateHz: number },
): SpokenLanguage {
  let found: string | null = null;
  return {
    restart() {
      found = null;
    },
    of(voice, isWhole) {
      const { languages, rateHz } = getSource();
      const [first = USUAL, second = first] = languages;
      if (first === second) return first;
      if (found !== null || (voice.voicedMs < ENOUGH_MS && !isWhole)) return found;
      const pitch = estimatePitch(toFloat(voice.sound()), rateHz);
      if (pitch === null && !isWhole) return null;
      found = (pitch ?? 0) < LOW_VOICE_BELOW ? first : second;
      return found;
    },
  };
}
