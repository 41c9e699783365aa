import { estimatePitch } from './another-voice.ts';
import { toFloat } from './resample.ts';

/** Voice (ms) that is enough to recognise a speaker. */
const ENOUGH_MS = 250;
/** Pitch (Hz) below which a voice is low. */
const LOW_VOICE_BELOW = 165;
/** Language used when the task does not name one. */
const USUAL = 'en';

/** The part of the running sentence that has been heard. */
export interface HeardVoice {
  readonly voicedMs: number;
  /** The sentence's sound so far, mono. */
  sound(): Int16Array;
}

/** Chooses the language of a sentence out of several. */
export interface SpokenLanguage {
  /** Call it when another sentence begins. */
  restart(): void;
  /** The language of the running sentence; null while too little was heard. @param isWhole the sentence is complete */
  of(voice: HeardVoice, isWhole: boolean): string | null;
}

/**
 * The emulator does not understand words; it distinguishes speakers by their voices. A low voice speaks the first of the
 * languages, a high voice the second.
 * @param getSource languages that may be spoken (a single one is always the answer), and the rate of the sound
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
