import * as z from 'zod';
import { languageSchema, targetsSchema } from '../../common/language.ts';
import { plainTextSchema } from '../../common/plain-text.ts';
import { ECHO_MODES, VOLUME_PERCENT } from '../../common/setting-values.ts';
import { timestampSchema } from '../envelope.ts';
import { type CommandDefinitions, LANE_WORD, laneArg, readNumber } from './command-definition.ts';

/** Maximum characters of a spoken text, as the service accepts. */
const LONGEST_SAID = 2048;

/** The answer of commands that act on lanes: the state of these lanes after the command. */
export const lanesAnswerSchema = z.strictObject({
  lanes: z.array(
    z.strictObject({
      id: z.string().describe('the lane'),
      phase: z.string().describe('see [lane.md](lane.md#phases)'),
      muted: z.boolean().describe('muted by command or by a key'),
      volume: z.number().describe('percent'),
      echo: z.string().describe('the wanted echo mode'),
      source: z.string().describe('language of the speech at the microphone'),
      targets: z.array(z.string()).readonly().describe('languages of the translations'),
    }),
  ),
  note: z.string().optional().describe('when it takes effect, if later'),
});

/** Commands that act on lanes, in the order of the reference. */
export const LANE_COMMANDS = {
  start: {
    args: z
      .strictObject({
        ...laneArg,
        until: z.iso
          .datetime({ offset: true, error: 'must be a time in ISO 8601 such as "2026-05-04T20:00:00Z"' })
          .optional()
          .describe('keeps the lane open until this time, regardless of `schedule`'),
      })
      .describe(
        'Starts to listen; a parked or waiting lane retries at once. Outside the opening hours the answer is `closed`, unless `until` is given.',
      ),
    keeps: ['lane', 'until'],
    data: lanesAnswerSchema,
    role: 'operator',
    example: {},
    verb: {
      says: 'start to listen; a waiting or parked lane retries at once',
      words: [
        LANE_WORD,
        {
          flags: '--until <time>',
          says: 'keep it open until this time regardless of the schedule, such as 2026-05-04T20:00:00Z',
        },
      ],
    },
  },
  stop: {
    args: z.strictObject(laneArg).describe('Stops listening and speaking at once and ends the session.'),
    keeps: ['lane'],
    data: lanesAnswerSchema,
    role: 'operator',
    example: { lane: 'main' },
    verb: { says: 'stop listening and speaking at once', words: [LANE_WORD] },
  },
  mute: {
    args: z
      .strictObject(laneArg)
      .describe(
        'Mutes the microphone until `unmute`; the session continues and receives silence. A [key](desk.md#keys) mutes until the end of the conversation.',
      ),
    keeps: ['lane'],
    data: lanesAnswerSchema,
    role: 'operator',
    atRelease: ({ lane }) => ({ command: 'unmute', args: { lane } }),
    example: {},
    verb: { says: 'mute the microphone', words: [LANE_WORD] },
  },
  unmute: {
    args: z
      .strictObject(laneArg)
      .describe('Unmutes the microphone, also if a key has muted it. A key does not lift a mute by command.'),
    keeps: ['lane'],
    data: lanesAnswerSchema,
    role: 'operator',
    atRelease: ({ lane }) => ({ command: 'mute', args: { lane } }),
    example: {},
    verb: { says: 'unmute the microphone', words: [LANE_WORD] },
  },
  languages: {
    args: z
      .strictObject({
        ...laneArg,
        source: languageSchema.optional().describe('language of the speech at the microphone'),
        targets: targetsSchema.optional().describe('languages of the translations'),
        step: z
          .literal(1)
          .optional()
          .describe(
            "1: switches the visitor to the next language of `offer`, and speaks that language's own name",
          ),
      })
      .refine(
        ({ source, targets, step }) => source !== undefined || targets !== undefined || step !== undefined,
        'needs "source", "targets" or both, or "step"',
      )
      .refine(
        ({ source, targets, step }) => step === undefined || (source === undefined && targets === undefined),
        'needs "step" alone, or "source" and "targets"',
      )
      .describe(
        'Changes the languages. During a session the service decides: the final answer is `ok` when the new task runs, or `rejected` with the message of the service.',
      ),
    keeps: ['lane', 'source', 'targets', 'step'],
    data: lanesAnswerSchema,
    role: 'operator',
    example: { source: 'en', targets: ['de', 'fr'] },
    verb: {
      says: 'set the source and target languages',
      words: [
        {
          flags: '--source <language>',
          says: 'language of the speech at the microphone, such as en',
        },
        {
          flags: '--targets <languages>',
          says: 'languages of the translations, such as es,fr',
          read: (text) => text.split(','),
        },
        {
          flags: '--step <n>',
          says: '1: the next of the languages that the lane offers to visitors',
          read: readNumber,
        },
        LANE_WORD,
      ],
    },
  },
  conversation: {
    args: z
      .strictObject({
        ...laneArg,
        do: z.enum(['begin', 'end']).describe('begin a conversation, or end it'),
      })
      .describe(
        'Begins or ends a conversation ([desk.md](desk.md#a-conversation)). When it ends, the volume and the languages are restored, and a mute that was set by a key is lifted.',
      ),
    keeps: ['lane', 'do'],
    data: lanesAnswerSchema,
    role: 'operator',
    example: { do: 'end' },
    verb: { says: 'begin or end a conversation', words: [{ flags: '<do>' }, LANE_WORD] },
  },
  volume: {
    args: z
      .strictObject({
        ...laneArg,
        percent: z
          .int()
          .min(VOLUME_PERCENT.min)
          .max(VOLUME_PERCENT.max)
          .describe('volume of the loudspeaker, or of the headset while its plug is in'),
      })
      .describe('Sets the volume.'),
    keeps: ['lane', 'percent'],
    data: lanesAnswerSchema,
    role: 'operator',
    example: { percent: 60 },
    verb: {
      says: 'set the volume of the loudspeaker',
      words: [{ flags: '<percent>', read: readNumber }, LANE_WORD],
    },
  },
  echo: {
    args: z
      .strictObject({ ...laneArg, mode: z.enum(ECHO_MODES).describe('see [sound.md](sound.md#echo)') })
      .describe('Sets the echo mode; a lane in fallback tries the mode again.'),
    keeps: ['lane', 'mode'],
    data: lanesAnswerSchema,
    role: 'operator',
    example: { mode: 'cancel' },
    verb: {
      says: 'set the echo protection: half-duplex, cancel or off',
      words: [{ flags: '<mode>' }, LANE_WORD],
    },
  },
  voice: {
    args: z
      .strictObject({
        ...laneArg,
        voice: plainTextSchema
          .min(1)
          .max(128)
          .nullable()
          .describe('voice id of the service; null: its default'),
      })
      .describe('Changes the voice of the translation; answered like `languages`.'),
    keeps: ['lane', 'voice'],
    data: lanesAnswerSchema,
    role: 'operator',
    example: { voice: 'default_low' },
    verb: {
      says: 'set the voice of the translation; "none" is the default of the service',
      words: [{ flags: '<voice>', read: (text) => (text === 'none' ? null : text) }, LANE_WORD],
    },
  },
  say: {
    args: z
      .strictObject({
        ...laneArg,
        text: plainTextSchema
          .max(LONGEST_SAID)
          .refine((text) => text.trim() !== '', 'must not be empty')
          .describe('text to speak'),
        language: languageSchema.describe('language of the speech'),
        translate: z
          .boolean()
          .optional()
          .describe(
            "true: the text is translated first. It is in the source language, or with `twoWay` in the other person's language",
          ),
      })
      .describe(
        "Speaks a text in the lane's session and wakes a lane in standby. It waits for earlier texts, and at most 20 s for a pause in the conversation. `dragoman ctl` and the console send it with QoS 0, and only to a connected device, so that no broker stores it. The answer `ok` comes after playback. If the service does not speak texts, the answer is `unsupported` or `not_spoken`; the emulator speaks them with `--profile live`.",
      ),
    keeps: ['lane', 'language', 'translate'],
    onlyConnected: true,
    data: z.strictObject({
      lanes: z.array(
        z.strictObject({
          id: z.string().describe('the lane'),
          played_ms: z.number().describe('duration of the speech, milliseconds'),
        }),
      ),
    }),
    role: 'operator',
    example: { text: 'El museo cierra en diez minutos.', language: 'es' },
    verb: {
      says: "speak a text in the lane's session; answered after playback",
      words: [
        { flags: '<text>' },
        { flags: '--language <language>', says: 'language of the speech, such as es' },
        { flags: '--translate', says: 'the text is in the source language: translate it first' },
        LANE_WORD,
      ],
    },
  },
  identify: {
    args: z
      .strictObject({
        ...laneArg,
        seconds: z.number().min(1).max(300).optional().describe('duration; left out: 10'),
      })
      .describe('Plays chimes on the loudspeaker, so that a person in the room can find the device.'),
    keeps: ['lane', 'seconds'],
    data: z.strictObject({
      lanes: z.array(z.string()).describe('lanes that chime'),
      until: timestampSchema.describe('end of the effect; null: no end, or the clock is not set'),
    }),
    role: 'operator',
    example: { seconds: 20 },
    verb: {
      says: 'play chimes, to find the device in a room',
      words: [LANE_WORD, { flags: '--seconds <n>', says: 'duration (default: 10)', read: readNumber }],
    },
  },
} as const satisfies CommandDefinitions;
