import ar from './words/ar.json' with { type: 'json' };
import de from './words/de.json' with { type: 'json' };
import en from './words/en.json' with { type: 'json' };
import es from './words/es.json' with { type: 'json' };
import fr from './words/fr.json' with { type: 'json' };
import he from './words/he.json' with { type: 'json' };
import hi from './words/hi.json' with { type: 'json' };
import it from './words/it.json' with { type: 'json' };
import ja from './words/ja.json' with { type: 'json' };
import ko from './words/ko.json' with { type: 'json' };
import nl from './words/nl.json' with { type: 'json' };
import pl from './words/pl.json' with { type: 'json' };
import pt from './words/pt.json' with { type: 'json' };
import ru from './words/ru.json' with { type: 'json' };
import th from './words/th.json' with { type: 'json' };
import tr from './words/tr.json' with { type: 'json' };
import uk from './words/uk.json' with { type: 'json' };
import vi from './words/vi.json' with { type: 'json' };
import zh from './words/zh.json' with { type: 'json' };

/** What the page says, in the languages of the people in front of the kiosk. */
export interface Wording {
  /** The invitation where visitors choose a language. */
  readonly choose: string;
  readonly listening: string;
  readonly speaking: string;
  readonly translating: string;
  readonly muted: string;
  readonly offline: string;
  /** The microphone or the loudspeaker does not work. */
  readonly broken: string;
  readonly wait: string;
  readonly microphone: string;
  readonly loudspeaker: string;
  readonly closed: string;
  /** In full: a visitor may believe that the museum is closed. */
  readonly closedHere: string;
  /** `{t}` is the day and the time. */
  readonly until: string;
  readonly begin: string;
  /** Of the button and the dialog that say what this is. */
  readonly about: string;
  /** Where the owner has switched the notice off. */
  readonly aboutAi: string;
  readonly aboutKept: string;
  /** Before the name of who runs it. */
  readonly aboutBy: string;
  readonly back: string;
  /** Of the entry for visitors whose language is not in the list. */
  readonly another: string;
  readonly anotherHelp: string;
  /** Of the switches behind the button "Aa"; together, its name. */
  readonly largeLetters: string;
  readonly highContrast: string;
  /** The choice of a language was not carried out. */
  readonly refused: string;
  /** Of the button and the dialog for phrases of the house. */
  readonly phrases: string;
  readonly ask: string;
  /** What the clerk can do: there is no other staff to ask. */
  readonly waitClerk: string;
  readonly microphoneClerk: string;
  readonly loudspeakerClerk: string;
  /** For a button that has to be held. */
  readonly hold: string;
  readonly language: string;
  readonly type: string;
  readonly send: string;
  /** Names of keys for screen readers: space, delete, and capitals or other letters. */
  readonly space: string;
  readonly erase: string;
  readonly shift: string;
  /** In place of keys: the language cannot be typed on the screen. */
  readonly needsKeyboard: string;
  readonly cancel: string;
  readonly louder: string;
  readonly quieter: string;
  /** Why a button is off: the volume is at its upper or lower end. */
  readonly loudest: string;
  readonly quietest: string;
  /** Speaks the last translation again. */
  readonly repeat: string;
  /** Why a button is off: there is nothing to repeat, something is spoken, or nothing is typed. */
  readonly nothingToRepeat: string;
  readonly stillSpeaking: string;
  readonly typeFirst: string;
  readonly end: string;
  /** On the narrow button that calls a member of staff. */
  readonly staff: string;
  readonly callStaff: string;
  readonly called: string;
  /** `{name}` is who comes. */
  readonly coming: string;
  /** Whoever comes has given no name. */
  readonly staffComing: string;
  readonly unanswered: string;
  readonly unreached: string;
  readonly failed: string;
  /** The question before a conversation ends by itself. */
  readonly stillThere: string;
  readonly goOn: string;
  /** On the button of the person who speaks next. */
  readonly talk: string;
  /** On a button that has to be held. */
  readonly holdTalk: string;
}

/** One file for each language; a translator can edit it. */
const WORDS: Readonly<Record<string, Wording>> = {
  en,
  es,
  de,
  fr,
  it,
  pt,
  nl,
  pl,
  ru,
  uk,
  tr,
  ar,
  he,
  zh,
  ja,
  ko,
  th,
  vi,
  hi,
};

export const WORDED_LANGUAGES = Object.keys(WORDS);

/** The language itself, if the page has its words, else English. */
export function wordedLanguage(language: string): string {
  const [primary = ''] = language.toLowerCase().split('-');
  return primary in WORDS ? primary : 'en';
}

export function wordingOf(language: string): Wording {
  return WORDS[wordedLanguage(language)] ?? en;
}
