import * as z from 'zod';

/** `spec` follows the specification strictly; `live` adds live-service behaviour that public clients reveal. */
export const PROFILES = ['spec', 'live'] as const;
export type Profile = (typeof PROFILES)[number];

interface Choice<T extends z.ZodType> {
  readonly schema: T;
  readonly spec: z.output<T>;
  readonly live: z.output<T>;
  readonly about: string;
}

function choice<T extends z.ZodType>(
  schema: T,
  spec: z.output<T>,
  live: z.output<T>,
  about: string,
): Choice<T> {
  return { schema, spec, live, about };
}

const flag = z.stringbool().or(z.boolean());
const count = (max: number) => z.coerce.number().int().min(0).max(max);
const DAY_MS = 86_400_000;

/**
 * Everything that the specification leaves open: the allowed values, each profile's value, and the meaning. Times are
 * milliseconds; 0 switches a limit off where the text says so.
 */
export const CHOICES = {
  translate: choice(
    z.enum(['transform', 'echo', 'silence', 'speak']),
    'transform',
    'transform',
    'the speech that comes back: the sentence in another voice, the same bytes, silence, or the phrase spoken by espeak-ng',
  ),
  echoSilence: choice(
    flag,
    true,
    true,
    'with "echo": whether digital silence also comes back; if not, nothing is sent between sentences',
  ),
  setupMs: choice(count(60_000), 2500, 2500, 'from set_task until the pipeline runs (4.7 rule 1)'),
  heartbeatMs: choice(
    count(60_000).min(10),
    1000,
    1000,
    'interval of pings; a revoked stream closes within this time (3.1)',
  ),
  concurrent: choice(count(100_000).min(1), 10, 10, 'limit of running streams of the whole account (8)'),
  pending: choice(count(100_000), 100, 100, 'limit of created but unused sessions (4.1 rule 3)'),
  refusalDelivery: choice(
    z.enum(['http', 'message', 'close']),
    'http',
    'http',
    'how a stream is refused: status and envelope at the upgrade, a message and a close, or a bare close',
  ),
  bareRefusals: choice(flag, false, true, 'the refusal of a wrong credential at the upgrade has no body'),
  dataForm: choice(
    z.enum(['object', 'string', 'mixed']),
    'object',
    'object',
    'data of server messages as an object, as a JSON string, or in turn (4.7 rule 3)',
  ),
  endEvent: choice(
    z.enum(['none', 'eos', 'end_of_stream']),
    'none',
    'end_of_stream',
    'the message that answers end_task before the close',
  ),
  statusWhileActive: choice(
    z.enum(['pending', 'active']),
    'pending',
    'pending',
    'status of a session whose stream runs',
  ),
  statusAfterRevoke: choice(
    z.enum(['revoked', 'gone']),
    'revoked',
    'gone',
    'a deleted session keeps a status, or is no longer found',
  ),
  moreCommands: choice(
    flag,
    false,
    true,
    'pause_task, tts_task, interrupt_task, flush_task are known (end_task always is)',
  ),
  moreFormats: choice(flag, false, true, 'input format wav and output format zlib_pcm_s16le are accepted'),
  languages: choice(
    z.enum(['any', 'known']),
    'any',
    'known',
    'accepted languages of a task: any tag, or only those that public clients of a live service list',
  ),
  queueLimits: choice(
    flag,
    false,
    true,
    'translation_queue_configs is checked and applied: when too much speech waits, tempo rises and older speech is dropped',
  ),
  taskStatus: choice(flag, false, true, 'commands are acknowledged by a task_status push'),
  statusInTask: choice(flag, true, true, 'current_task also contains task_status, which clients wait for'),
  transcriptIds: choice(flag, false, true, 'texts and audio carry transcription ids, parts and last_chunk'),
  segments: choice(
    z.enum(['none', 'times', 'words']),
    'none',
    'words',
    'texts say which seconds of the stream they cover: not at all, with start and end, or also with words and timestamps',
  ),
  translatedTexts: choice(flag, true, true, 'translated_transcription is sent'),
  translationParts: choice(
    count(9).min(1),
    1,
    1,
    'number of parts of a translation, in texts and speech; a part has at least 1.5 s of voice, so short sentences have fewer',
  ),
  wholePhrasePercent: choice(
    count(100).min(1),
    70,
    70,
    'share of the usual speaking time after which a phrase counts as complete; after less, it is cut where the speaker stopped',
  ),
  partialIntervalMs: choice(count(10_000), 250, 250, 'shortest time between two partial texts'),
  outputRateHz: choice(
    count(48_000),
    0,
    24_000,
    'rate of the speech sent, mono; 0: rate and channels as requested',
  ),
  outputChunkMs: choice(count(2000).min(20), 320, 200, 'length of one chunk of speech sent'),
  outputIntervalMs: choice(
    count(2000),
    80,
    20,
    'time between two chunks sent; shorter than a chunk: a sentence comes as a burst',
  ),
  textDelayMs: choice(count(60_000), 150, 400, 'from the confirmed to the translated text'),
  speechDelayMs: choice(count(60_000), 400, 1200, 'from the confirmed text to the first speech'),
  silenceThresholdMs: choice(
    count(10_000).min(100),
    700,
    700,
    'silence that confirms a sentence, unless the task sets its own',
  ),
  minSpeechMs: choice(count(10_000), 200, 200, 'less voice than this counts as noise'),
  maxSegmentMs: choice(count(60_000).min(1000), 12_000, 12_000, 'a sentence is cut at this length'),
  forceSplitMs: choice(
    count(60_000),
    0,
    6000,
    'a sentence without a pause is cut at the end of a word once it reaches this length and forceSplitChars; 0: never',
  ),
  forceSplitChars: choice(
    count(10_000),
    100,
    100,
    'characters that a sentence must have before forceSplitMs cuts it',
  ),
  minSentenceMs: choice(count(60_000), 4000, 4000, 'shortest first part of a cut sentence'),
  earlyAudio: choice(
    z.enum(['discard', 'accept']),
    'discard',
    'discard',
    'what happens to audio that arrives before the pipeline runs',
  ),
  tooFast: choice(
    z.enum(['degrade', 'tolerate']),
    'degrade',
    'degrade',
    'sound that is more than two chunks ahead of real time is partly not transcribed, or is transcribed whole (8)',
  ),
  noAudioTimeoutMs: choice(count(DAY_MS), 0, 10_000, 'time without audio until SERVICE_TIMEOUT; 0: never'),
  warnings: choice(flag, false, true, 'AUDIO_STREAM_* and VOICE_NOT_FOUND warnings are sent'),
  enforceRates: choice(flag, false, true, 'commands that are sent too often get RATE_LIMIT_EXCEEDED'),
  minAudioChars: choice(count(65_536), 0, 1024, 'shortest base64 of one input_audio_data'),
  connectionsPerMinute: choice(
    count(100_000),
    0,
    20,
    'limit of connections with one token in a minute; more are closed with 1008; 0: no limit',
  ),
  legacyUnusedMs: choice(count(DAY_MS), 60_000, 60_000, 'lifetime of an unused legacy session (8)'),
  uploadTtlMs: choice(count(DAY_MS), 3_600_000, 3_600_000, 'lifetime of a pre-signed upload target'),
  uploadMaxBytes: choice(count(100_000_000), 10_000_000, 10_000_000, 'largest voice sample, in bytes'),
  unicodeNames: choice(
    flag,
    false,
    true,
    'names of voices and files may have letters of any script (4.4); otherwise ASCII letters only',
  ),
  voiceProcessingMs: choice(count(DAY_MS), 1500, 4000, 'from upload to ready or failed'),
  voiceMinSeconds: choice(
    count(3600),
    0,
    30,
    'a sample shorter than this fails; a sample below 10 s always fails',
  ),
  balanceMs: choice(
    z.coerce.number().min(0).nullable(),
    null,
    null,
    'stream time that the account can pay for, from the start; null: unlimited',
  ),
  recordBytes: choice(
    count(2_000_000_000),
    0,
    0,
    'bytes of each stream that are kept in each direction; 0: none',
  ),
  seed: choice(count(2 ** 31), 0, 0, 'the first phrase of the phrase book, and the seed of fault schedules'),
} as const;

export type Choices = { [K in keyof typeof CHOICES]: z.output<(typeof CHOICES)[K]['schema']> };
export type ChoiceName = keyof typeof CHOICES;

export function isChoiceName(name: string): name is ChoiceName {
  return Object.hasOwn(CHOICES, name);
}

/**
 * A profile's choices with some of them replaced.
 * @throws Error that names the choice and its allowed values
 */
export function resolveChoices(profile: Profile, overrides: Readonly<Record<string, unknown>> = {}): Choices {
  const resolved: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(CHOICES)) resolved[name] = entry[profile];
  for (const [name, value] of Object.entries(overrides)) {
    if (value === undefined) continue;
    if (!isChoiceName(name)) throw new Error(`there is no emulator option "${name}"`);
    const parsed = CHOICES[name].schema.safeParse(value);
    if (!parsed.success) {
      throw new Error(`emulator option "${name}": ${parsed.error.issues[0]?.message ?? 'wrong value'}`);
    }
    resolved[name] = parsed.data;
  }
  return resolved as Choices;
}

/** A choice's name in JSON bodies: `setupMs` is `setup_ms`. */
export function wireName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Changes choices of a running service, by their wire names; a problem prevents all changes. @returns the problems */
export function changeChoices(choices: Choices, body: Readonly<Record<string, unknown>>): string[] {
  const problems: string[] = [];
  const changes: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(body)) {
    const name = Object.keys(CHOICES).find((candidate) => wireName(candidate) === key);
    if (name === undefined || !isChoiceName(name)) {
      problems.push(`${key}: unknown setting`);
      continue;
    }
    const parsed = CHOICES[name].schema.safeParse(value);
    if (parsed.success) changes[name] = parsed.data;
    else problems.push(`${key}: ${parsed.error.issues[0]?.message ?? 'wrong value'}`);
  }
  if (problems.length === 0) Object.assign(choices, changes);
  return problems;
}

/** All choices by their wire names. */
export function showChoices(choices: Choices): Record<string, unknown> {
  return Object.fromEntries(Object.entries(choices).map(([name, value]) => [wireName(name), value]));
}
