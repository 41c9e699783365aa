/** Output of `dragoman devices --json`. Keys are snake_case, like everything that is published. */
import * as z from 'zod';

const directionSchema = z.enum(['capture', 'playback']);
const spanSchema = z.object({ min: z.number(), max: z.number() }).describe('inclusive');

const cardDeviceSchema = z.object({
  direction: directionSchema,
  device: z.string().describe('its name in a configuration'),
  number: z.int().describe('its number on the card'),
  name: z.string(),
  formats: z.array(z.string()).readonly().describe('names of ALSA; empty: not known'),
  channels: z.array(spanSchema).readonly(),
  rates: z.array(spanSchema).readonly().describe('samples per second'),
  unknown_because: z.string().nullable().describe("why its abilities are unknown, in ALSA's words"),
  places: z.int().describe('how many programs can open it at once'),
  busy: z.boolean().describe('no place is free'),
  held_by: z
    .array(z.object({ pid: z.int().nullable(), program: z.string() }))
    .readonly()
    .describe('one entry per used place'),
});

/** Without `--meter`: one object. */
export const devicesReportSchema = z.object({
  kernel_sound: z.boolean().describe('the kernel has sound'),
  alsa_tools: z.boolean().describe('arecord and aplay are installed'),
  cards: z.array(
    z.object({
      id: z.string().describe('name of the card in a configuration'),
      index: z.int().describe('may change at a reboot'),
      name: z.string(),
      driver: z.string(),
      usb: z.object({ port: z.string().nullable(), model: z.string().nullable() }).nullable(),
      allowed: z.boolean().nullable().describe('the user running the command has access; null: not known'),
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
    .describe('with `--config`: its devices'),
  suggested: z
    .object({ capture: z.string().nullable(), playback: z.string().nullable() })
    .readonly()
    .describe('recommended devices'),
  advice: z.array(
    z.object({
      code: z.string(),
      message: z.string(),
      lines: z.array(z.string()).readonly().describe('lines to copy into a file or a shell'),
    }),
  ),
});
export type DevicesReport = z.infer<typeof devicesReportSchema>;

const readingSchema = z.object({
  sound_ms: z.int().describe('duration of the sound, milliseconds'),
  rms_dbfs: z.number(),
  peak_dbfs: z.number(),
  clipped_samples: z.int(),
  digital_silence: z.boolean().describe('all samples are zero'),
  speech_ms: z.int().describe('speech within that sound, milliseconds'),
});
export type MeterReading = z.infer<typeof readingSchema>;

/** With `--meter`: one object per second, one per fault, and a summary at the end. */
export const meterLineSchema = z.union([
  readingSchema.extend({ t_s: z.number().describe('seconds since the start') }).strict(),
  z.strictObject({ fault: z.strictObject({ code: z.string(), message: z.string() }) }),
  z.strictObject({ summary: readingSchema.strict() }),
]);
export type MeterLine = z.infer<typeof meterLineSchema>;
