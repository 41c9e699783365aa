import * as z from 'zod';
import { plainTextSchema } from '../../common/plain-text.ts';
import { type CommandDefinitions, LANE_WORD, laneArg } from './command-definition.ts';
import { lanesAnswerSchema } from './lane-commands.ts';

const turnSchema = z
  .strictObject({
    ...laneArg,
    speaker: z
      .enum(['source', 'target'])
      .describe('who speaks now: the person with the source language, or the one with the target language'),
    held: z.boolean().optional().describe('false: the key was released; left out: true'),
  })
  .describe(
    'Sets who is speaking, if `twoWay` is `button` or `hold`. A chime confirms it at once; speech during the change of direction is kept. In `hold`, and with `pushToTalk`, the microphone is open until `held` is false; `pushToTalk` takes `source` alone.',
  );

/** Longest name of the member of staff who comes (characters): the screen shows it. */
const LONGEST_NAME = 64;

/** Reached: the broker has the call. Unanswered: no answer within `help.answerWithin`. Unreached: the broker does not have it. */
export const HELP_STATES = ['calling', 'called', 'unanswered', 'answered', 'unreached'] as const;
export type HelpCallState = (typeof HELP_STATES)[number];

const helpSchema = z
  .strictObject({
    ...laneArg,
    do: z.enum(['call', 'answer']).describe('call a member of staff, or answer the call'),
    by: plainTextSchema
      .max(LONGEST_NAME)
      .refine((text) => text.trim() !== '', 'must not be empty')
      .optional()
      .describe('with `answer`: who comes, as the visitor reads it'),
  })
  .refine(({ do: what, by }) => what === 'answer' || by === undefined, 'needs "by" with "answer" alone')
  .describe(
    'Calls a member of staff to the kiosk, or answers the call ([desk.md](desk.md#a-call-for-staff)). A repeated `call` changes nothing while one is open; it is `busy` within 30 s of the last call.',
  );

export const MENU_KEYS = ['open', 'back', 'next', 'choose', 'repeat'] as const;
export type MenuKey = (typeof MENU_KEYS)[number];

const menuSchema = z
  .strictObject({
    ...laneArg,
    do: z
      .enum(MENU_KEYS)
      .describe(
        'what the key does; each opens a closed menu, and `open` begins an open one with the languages',
      ),
  })
  .describe(
    'A key of the spoken menu, for visitors who do not see the screen ([desk.md](desk.md#a-spoken-menu)). `unsupported` where its sounds are not installed.',
  );

/** Commands for two people at one desk, in the order of the reference. */
export const DESK_COMMANDS = {
  turn: {
    args: turnSchema,
    keeps: ['lane', 'speaker', 'held'],
    data: lanesAnswerSchema,
    role: 'operator',
    example: { speaker: 'target' },
    verb: {
      says: 'say who speaks, where a key decides: source or target',
      words: [
        { flags: '<speaker>' },
        {
          flags: '--held <yes|no>',
          says: 'no: the key was released (default: yes)',
          read: (text) => (text === 'yes' ? true : text === 'no' ? false : text),
        },
        LANE_WORD,
      ],
    },
    atRelease: (args) => ({ command: 'turn', args: { ...args, held: false } }),
  },
  help: {
    args: helpSchema,
    keeps: ['lane', 'do', 'by'],
    data: z.strictObject({
      state: z
        .enum(HELP_STATES)
        .describe(
          '`calling`: not acknowledged by the broker yet; `unreached`: there is no connection to the broker',
        ),
      by: z.string().nullable().describe('who has answered; null: not answered, or without a name'),
    }),
    role: 'operator',
    example: { do: 'call' },
    verb: {
      says: 'answer the call of a visitor, or call a member of staff',
      words: [
        { flags: '<do>' },
        { flags: '--by <name>', says: 'who comes, as the visitor reads it' },
        LANE_WORD,
      ],
    },
  },
  menu: {
    args: menuSchema,
    keeps: ['lane', 'do'],
    data: z.strictObject({ lane: z.string().describe('the lane at whose desk the menu speaks') }),
    role: 'operator',
    example: { do: 'next' },
    verb: {
      says: 'press a key of the spoken menu: open, back, next, choose or repeat',
      words: [{ flags: '<do>' }, LANE_WORD],
    },
  },
} as const satisfies CommandDefinitions;
