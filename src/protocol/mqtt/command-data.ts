import { z } from 'zod';
import { type CommandName, lanesAnswerSchema, statusAnswerSchema } from './command.ts';
import { diagnosisSchema } from './diagnose.ts';
import { timestampSchema } from './envelope.ts';

const until = timestampSchema.describe('end of the effect; null: no end, or the clock is not set');
const level = z.string().describe('as requested');

/** The `data` of each command's answer `ok`. docs/mqtt.md is generated from it. */
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
        played_ms: z.number().describe('duration of the speech, milliseconds'),
      }),
    ),
  }),
  identify: z.strictObject({ lanes: z.array(z.string()).describe('lanes that chime'), until }),
  log_level: z.strictObject({ level, until }),
  log_stream: z.strictObject({ level, until }),
  restart: z.strictObject({ in_ms: z.number().describe('milliseconds until the agent ends') }),
  reboot: z.strictObject({}),
  certificate: z.strictObject({
    valid_to: timestampSchema.describe(
      'expiry of the new certificate; after a request without arguments: of the current one',
    ),
  }),
  status: statusAnswerSchema,
  diagnose: diagnosisSchema,
};
