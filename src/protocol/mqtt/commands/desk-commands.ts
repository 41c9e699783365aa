import * as z from 'zod';
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
} as const satisfies CommandDefinitions;
