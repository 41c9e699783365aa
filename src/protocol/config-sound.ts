/** Microphone and loudspeaker of a lane: the parts `capture` and `playback` of the configuration. */
import * as z from 'zod';
import { plainTextSchema } from './common/plain-text.ts';
import { VOLUME_PERCENT } from './common/setting-values.ts';
import { INPUT_RATE_HZ } from './service/task.ts';

export const SAMPLE_RATE_HZ = { ...INPUT_RATE_HZ, default: 24_000 } as const;

export const fileSchema = plainTextSchema.min(1, 'must name a file').max(4096);

/** Default driver of `capture` and `playback`. */
export const DEFAULT_DRIVER = 'alsa';
// Optional here, because a union selects its member by the value before defaults are applied.
const alsaSchema = z.literal(DEFAULT_DRIVER).optional().default(DEFAULT_DRIVER).describe('A sound card.');
const alsaDeviceSchema = plainTextSchema.min(1, 'must name an ALSA device').max(256).default('default');
const sampleRateSchema = z
  .int()
  .min(SAMPLE_RATE_HZ.min)
  .max(SAMPLE_RATE_HZ.max)
  .default(SAMPLE_RATE_HZ.default)
  .describe("Samples per second of the lane's stream to the service.");
export const volumeSchema = z
  .int()
  .min(VOLUME_PERCENT.min)
  .max(VOLUME_PERCENT.max)
  .describe('Loudness in percent; 100 leaves the sound as it is.');
const volumeKey = volumeSchema.default(VOLUME_PERCENT.default);

const gainSchema = z
  .int()
  .min(0)
  .max(100)
  .nullable()
  .default(null)
  .describe("Level of the card's capture control, percent as in amixer, set and kept; null: not changed.");

const normalizeSchema = (isUsual: boolean) =>
  z
    .boolean()
    .default(isUsual)
    .describe('Adjust all voices of the service to the same loudness, slowly and without clipping.');

export const commandSchema = (description: string) =>
  z
    .array(plainTextSchema.min(1).max(4096))
    .min(1, 'must name a program and its arguments, such as ["pw-record", "--raw", "-"]')
    .max(64)
    .describe(description);
const addonSchema = (name: string) =>
  z
    .literal('addon')
    .describe(`A sound card through the npm package "${name}", which you install beside the program.`);

export const captureSchema = z
  .discriminatedUnion('driver', [
    z.strictObject({
      driver: alsaSchema,
      device: alsaDeviceSchema.describe('ALSA device, best by card name: "plughw:CARD=Mic".'),
      gain: gainSchema,
      sampleRate: sampleRateSchema,
    }),
    z.strictObject({
      driver: z.literal('file').describe('A WAV file, played in real time: for tests and demos.'),
      path: fileSchema.describe('WAV file to use as input.'),
      loop: z.boolean().default(false).describe('Repeat the file; otherwise silence follows it.'),
      sampleRate: sampleRateSchema,
    }),
    z.strictObject({
      driver: z.literal('command').describe('A program of your own that records.'),
      command: commandSchema(
        'Program and arguments, no shell. It writes raw 16-bit little-endian mono samples at `sampleRate` to its standard output.',
      ),
      sampleRate: sampleRateSchema,
    }),
    z.strictObject({
      driver: addonSchema('alsa-capture'),
      device: alsaDeviceSchema.describe('ALSA device, best by card name: "plughw:CARD=Mic".'),
      sampleRate: sampleRateSchema,
    }),
  ])
  .describe('The microphone of the lane.');

export const headsetSchema = z
  .strictObject({
    device: plainTextSchema
      .min(1, 'must name an ALSA device')
      .max(256)
      .describe('ALSA device of the headset, best by card name: "plughw:CARD=Headset".'),
    detect: plainTextSchema
      .max(256)
      .regex(
        /^(\/.+|[^/'][^']*)$/,
        'must be a jack control of the card such as "Headphone Jack", or an input device such as "/dev/input/by-path/..."',
      )
      .describe(
        'What tells that the plug is in: a jack control of the card ("Headphone Jack", as `amixer controls` names it), or the path of an input device with a headphone switch.',
      ),
  })
  .nullable()
  .default(null)
  .describe(
    'Private listening: while the plug is in, all sound goes to the headset alone, at a volume of its own; null: none.',
  );
export type HeadsetConfig = NonNullable<z.infer<typeof headsetSchema>>;

/** Why a lane cannot have a headset; null: it can, or has none. The lane may have other problems, too. */
export function headsetClash(lane: unknown): string | null {
  const { headset, playback }: { headset?: unknown; playback?: { driver?: unknown } | null } = lane ?? {};
  return headset == null || playback?.driver !== 'file'
    ? null
    : 'must be null: with the driver "file" the lane records, and has no loudspeaker to return to';
}

export const playbackSchema = z
  .discriminatedUnion('driver', [
    z.strictObject({
      driver: alsaSchema,
      device: alsaDeviceSchema.describe('ALSA device, best by card name: "plughw:CARD=Speaker".'),
      also: plainTextSchema
        .min(1, 'must name an ALSA device, or be null')
        .max(256)
        .nullable()
        .default(null)
        .describe('A second ALSA device that plays the same, such as a hearing loop; null: none.'),
      volume: volumeKey,
      normalize: normalizeSchema(true),
    }),
    z.strictObject({
      driver: z.literal('file').describe('A WAV file, written in real time: for tests and demos.'),
      path: fileSchema.describe('WAV file to write; an older one that this program has written is replaced.'),
      overwrite: z.boolean().default(false).describe('Replace a file of another program, too.'),
      maxMinutes: z
        .int()
        .min(1)
        .max(1440)
        .default(60)
        .describe('Maximum length of the file; after that, new sound overwrites the oldest.'),
      volume: volumeKey,
      normalize: normalizeSchema(false),
    }),
    z.strictObject({
      driver: z.literal('command').describe('A program of your own that plays.'),
      command: commandSchema(
        'Program and arguments, no shell. It reads raw 16-bit little-endian mono samples at 24000 Hz from its standard input.',
      ),
      volume: volumeKey,
      normalize: normalizeSchema(true),
    }),
    z.strictObject({
      driver: addonSchema('speaker'),
      device: alsaDeviceSchema.describe('ALSA device, best by card name: "plughw:CARD=Speaker".'),
      volume: volumeKey,
      normalize: normalizeSchema(true),
    }),
  ])
  .describe('The loudspeaker of the lane.');
