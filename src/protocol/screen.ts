/** What the kiosk's page receives and what it may request. */
import * as z from 'zod';
import { languageSchema } from './common/language.ts';
import { plainTextSchema } from './common/plain-text.ts';
import type { HelpCallState } from './mqtt/commands/desk-commands.ts';
import { LONGEST_TYPED, type ScreenLayout } from './screen-size.ts';

/** What the kiosk is doing, for the people in front of the kiosk. */
export type ScreenStatus =
  | { readonly kind: 'listening' | 'speaking' | 'translating' | 'muted' | 'standby' }
  /** The kiosk cannot interpret; `cause` says why. */
  | { readonly kind: 'offline'; readonly cause: 'connection' | 'microphone' | 'loudspeaker' }
  /** `until` null: the time is not known. */
  | { readonly kind: 'closed'; readonly until: string | null };

/** One lane, as far as visitors may see it and change it. */
export interface ScreenLane {
  readonly id: string;
  readonly source: string;
  readonly targets: readonly string[];
  /** Languages to choose from; empty: there is no choice. */
  readonly offer: readonly string[];
  /** The language of the visitors who choose. */
  readonly visitor: string;
  /** The languages in which people at its desk may type. */
  readonly typing: readonly ScreenTyping[];
  /** Null: the lane has no buttons for who speaks. */
  readonly turn: ScreenTurn | null;
  /** The languages in which the last translation can be spoken again. */
  readonly repeatable: readonly string[];
  /** Percent. */
  readonly volume: number;
}

/** A language in which visitors may type, and the language in which the kiosk speaks the text. */
export interface ScreenTyping {
  readonly from: string;
  readonly into: string;
}

/** Who speaks at a lane that has turn buttons. */
export interface ScreenTurn {
  /** hold: the microphone is open only while the button is held. */
  readonly mode: 'button' | 'hold';
  /** Who has a button. */
  readonly speakers: readonly ('source' | 'target')[];
  readonly speaker: 'source' | 'target';
  readonly isOpen: boolean;
}

/** A text in one of the languages on the screen: the notice before a conversation, or a phrase. */
export interface ScreenNotice {
  readonly language: string;
  readonly text: string;
}

/** A phrase of the house, to be chosen while the kiosk cannot interpret. */
export interface ScreenPhrase {
  /** Its place in the configured list. */
  readonly number: number;
  /** Its text in each language on the screen that it has. */
  readonly texts: readonly ScreenNotice[];
}

/** The call for a member of staff. */
export interface ScreenHelp {
  readonly state: HelpCallState | 'none';
  /** Who comes; null: not answered, or without a name. */
  readonly by: string | null;
  /** Whether the button can call now. */
  readonly mayCall: boolean;
}

/** What the spoken menu can name; `others`: that there are languages without a voice. */
export type ScreenMenuItem =
  | `language:${string}`
  | 'others'
  | 'begin'
  | 'repeat'
  | 'quieter'
  | 'louder'
  | 'language'
  | 'help'
  | 'end';

/** What the spoken menu names now. */
export interface ScreenMenu {
  readonly lane: string;
  readonly item: ScreenMenuItem;
}

/** Text to append to the captions of one language. */
export interface ScreenText {
  readonly language: string;
  readonly text: string;
  /** The text begins a block: another sentence, or another speaker. */
  readonly breaks: boolean;
  /** Said in this language by a person; false: translated into it. */
  readonly isSpoken: boolean;
  /** Sequence number since the start of the agent. A page does not append a text that it has already shown. */
  readonly number: number;
}

/** Everything that a page needs to begin with. */
export interface ScreenSnapshot {
  /** Id of the agent's run: each run numbers its texts anew. */
  readonly run: string;
  readonly seq: number;
  readonly layout: ScreenLayout;
  readonly viewingDistanceMm: number;
  readonly heightMm: number;
  readonly status: ScreenStatus;
  /** Loudness at the microphone, 0 to 10. */
  readonly level: number;
  readonly lanes: readonly ScreenLane[];
  /** Null: visitors cannot call staff. */
  readonly help: ScreenHelp | null;
  /** Null: the spoken menu is closed. */
  readonly menu: ScreenMenu | null;
  /** Empty: the owner has switched the notice off. */
  readonly notices: readonly ScreenNotice[];
  readonly phrases: readonly ScreenPhrase[];
  /** Who runs the kiosk; empty: not shown. */
  readonly operator: string;
  /** Sequence number of the conversation. */
  readonly conversation: number;
  /** Whether a conversation is under way. */
  readonly isTalking: boolean;
  /** Time to the end of the conversation if nobody acts (ms); null: the end is not near. */
  readonly endsInMs: number | null;
  /** The latest texts of this conversation. */
  readonly texts: readonly ScreenText[];
}

/** Changes; missing parts are unchanged. */
export type ScreenChange = { readonly seq: number } & Partial<
  Pick<
    ScreenSnapshot,
    | 'status'
    | 'level'
    | 'lanes'
    | 'help'
    | 'menu'
    | 'notices'
    | 'phrases'
    | 'operator'
    | 'conversation'
    | 'isTalking'
    | 'endsInMs'
    | 'texts'
  >
>;

const lane = z.string().max(64);

/** Requests of a visitor. */
export const screenActionSchema = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('language'), lane, language: languageSchema }),
  z.strictObject({ do: z.literal('louder'), lane }),
  z.strictObject({ do: z.literal('quieter'), lane }),
  /** Speaks the last translation into this language again. */
  z.strictObject({ do: z.literal('repeat'), lane, language: languageSchema }),
  /** A dialog is open and in use. */
  z.strictObject({ do: z.literal('touch'), lane }),
  z.strictObject({
    do: z.literal('turn'),
    lane,
    speaker: z.enum(['source', 'target']),
    held: z.boolean(),
  }),
  z.strictObject({
    do: z.literal('say'),
    lane,
    /** The language of the text. */
    language: languageSchema,
    text: plainTextSchema
      .max(LONGEST_TYPED, `must have at most ${LONGEST_TYPED} characters`)
      .refine((text) => text.trim() !== '', 'must not be empty'),
  }),
  /** Speaks a phrase of the house. */
  z.strictObject({ do: z.literal('phrase'), lane, number: z.int().min(0).max(99), language: languageSchema }),
  z.strictObject({ do: z.literal('help'), lane }),
  /** A touch at the lower edge: the spoken menu. */
  z.strictObject({ do: z.literal('menu'), lane, key: z.enum(['open', 'next', 'choose']) }),
  z.strictObject({ do: z.literal('end') }),
]);
export type ScreenAction = z.infer<typeof screenActionSchema>;

/** Time since a page last painted (ms); null: none has since the start of the agent. */
export const screenBeatSchema = z.object({ ageMs: z.number().min(0).nullable() });
export type ScreenBeat = z.infer<typeof screenBeatSchema>;
