import { z } from 'zod';
import { type CommandName, lanesAnswerSchema, statusAnswerSchema } from './command.ts';
import { diagnosisSchema } from './diagnose.ts';
import { timestampSchema } from './envelope.ts';

const until = timestampSchema.describe('when it ends; null: it does not, or the clock is not set');
const level = z.string().describe('as it was asked for');

/** What each command tells in the `data` of its answer `ok`. docs/mqtt.md is made of it. */
export const COMMAND_DATA: Readonly<Record<CommandName, z.ZodType>> = {
  start: lanesAnswerSchema,
  stop: lanesAnswerSchema,
  mute: lanesAnswerSchema,
  unmute: lanesAnswerSchema,
  languages: lanesAnswerSchema,
  volume: lanesAnswerSchema,
  echo: lanesAnswerSchema,
  voice: lanesAnswerSchema,
  say: z.strictObject({
    lanes: z.array(
      z.strictObject({
        id: z.string().describe('the lane'),
        played_ms: z.number().describe('how long it was heard, milliseconds'),
      }),
    ),
  }),
  identify: z.strictObject({ lanes: z.array(z.string()).describe('the lanes that chime'), until }),
  log_level: z.strictObject({ level, until }),
  log_stream: z.strictObject({ level, until }),
  restart: z.strictObject({ in_ms: z.number().describe('when the agent ends, milliseconds from now') }),
  reboot: z.strictObject({}),
  certificate: z.strictObject({
    valid_to: timestampSchema.describe(
      'when the certificate ends: the new one, or (asked for) the present one',
    ),
  }),
  status: statusAnswerSchema,
  diagnose: diagnosisSchema,
};
