/** What `dragoman devices --json` prints: names of its own, in snake_case like everything that is published. */
import { z } from 'zod';

const directionSchema = z.enum(['capture', 'playback']);
const spanSchema = z.object({ min: z.number(), max: z.number() }).describe('both included');

const cardDeviceSchema = z.object({
  direction: directionSchema,
  device: z.string().describe('what a configuration names it by'),
  number: z.int().describe('its number on the card'),
  name: z.string(),
  formats: z.array(z.string()).readonly().describe('as ALSA names them; empty: not known'),
  channels: z.array(spanSchema).readonly(),
  rates: z.array(spanSchema).readonly().describe('samples per second'),
  unknown_because: z.string().nullable().describe('why nothing could be learned of it, in the words of ALSA'),
  places: z.int().describe('how many programs may open it at once'),
  busy: z.boolean().describe('all places are taken'),
  held_by: z
    .array(z.object({ pid: z.int().nullable(), program: z.string() }))
    .readonly()
    .describe('one for each place that is taken'),
});

/** Without `--meter`: one object. */
export const devicesReportSchema = z.object({
  kernel_sound: z.boolean().describe('the kernel has sound'),
  alsa_tools: z.boolean().describe('arecord and aplay are installed'),
  cards: z.array(
    z.object({
      id: z.string().describe('what a configuration names the card by'),
      index: z.int().describe('changes between boots'),
      name: z.string(),
      driver: z.string(),
      usb: z.object({ port: z.string().nullable(), model: z.string().nullable() }).nullable(),
      allowed: z.boolean().nullable().describe('this user may open it; null: not known'),
      devices: z.array(cardDeviceSchema),
    }),
  ),
  software: z
    .array(
      z.object({
        name: z.string(),
        description: z.string(),
        directions: z.array(directionSchema).readonly(),
      }),
    )
    .readonly()
    .describe('devices of sound servers and plugins'),
  configured: z
    .array(
      z.object({
        lane: z.string(),
        direction: directionSchema,
        device: z.string(),
        there: z.boolean(),
        finding: z.string().describe('for people'),
      }),
    )
    .describe('with `--config`: the devices that it names'),
  suggested: z
    .object({ capture: z.string().nullable(), playback: z.string().nullable() })
    .readonly()
    .describe('the devices to begin with'),
  advice: z.array(
    z.object({
      code: z.string(),
      message: z.string(),
      lines: z.array(z.string()).readonly().describe('for a file or a shell, as they stand'),
    }),
  ),
});
export type DevicesReport = z.infer<typeof devicesReportSchema>;

const readingSchema = z.object({
  sound_ms: z.int().describe('how long it listened'),
  rms_dbfs: z.number(),
  peak_dbfs: z.number(),
  clipped_samples: z.int(),
  digital_silence: z.boolean().describe('nothing but zeros'),
  speech_ms: z.int().describe('how much of it was speech'),
});
export type MeterReading = z.infer<typeof readingSchema>;

/** With `--meter`: an object each second, one for each trouble, and a last one for all of it. */
export const meterLineSchema = z.union([
  readingSchema.extend({ t_s: z.number().describe('seconds since the begin') }).strict(),
  z.strictObject({ fault: z.strictObject({ code: z.string(), message: z.string() }) }),
  z.strictObject({ summary: readingSchema.strict() }),
]);
export type MeterLine = z.infer<typeof meterLineSchema>;
