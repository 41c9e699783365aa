import { z } from 'zod';

/** `spec` plays strictly the document; `live` plays what public clients know of a running service. */
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
 * Everything that the specification leaves open, in one place: what is allowed, what each profile takes,
 * and what it means. Times are milliseconds; 0 switches a limit off where the text says so.
 */
export const CHOICES = {
  translate: choice(
    z.enum(['transform', 'echo', 'silence', 'speak']),
    'transform',
    'transform',
    'what comes back as speech: another voice, the very same bytes, silence, or the phrase really spoken',
  ),
  echoSilence: choice(
    flag,
    true,
    true,
    'with "echo": whether bytes of digital silence come back, too; else the stream is at rest between sentences',
  ),
  setupMs: choice(count(60_000), 2500, 2500, 'from set_task until the pipeline runs (4.7 rule 1)'),
  heartbeatMs: choice(
    count(60_000).min(10),
    1000,
    1000,
    'a ping each; a revoked stream closes within it (3.1)',
  ),
  concurrent: choice(count(100_000), 10, 10, 'running streams of the whole account (8)'),
  pending: choice(count(100_000), 100, 100, 'created but unused sessions (4.1 rule 3)'),
  refusalDelivery: choice(
    z.enum(['http', 'message', 'close']),
    'http',
    'http',
    'how a stream is refused: status and envelope at the upgrade, a message and a close, a bare close',
  ),
  bareRefusals: choice(flag, false, true, 'a wrong credential at the upgrade is answered without a body'),
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
    'a deleted session keeps a status, or is not found any more',
  ),
  moreCommands: choice(
    flag,
    false,
    true,
    'pause_task, tts_task, interrupt_task, flush_task are known (end_task always is)',
  ),
  moreFormats: choice(flag, false, true, 'input format wav and output format zlib_pcm_s16le are taken'),
  languages: choice(
    z.enum(['any', 'known']),
    'any',
    'known',
    'languages of a task: any tag, or only those that public clients of a live service list',
  ),
  queueLimits: choice(
    flag,
    false,
    true,
    'translation_queue_configs is checked and in effect: tempo, and older speech dropped, when too much waits',
  ),
  taskStatus: choice(flag, false, true, 'commands are acknowledged by a task_status push'),
  statusInTask: choice(flag, true, true, 'current_task also says task_status, for which clients wait'),
  transcriptIds: choice(flag, false, true, 'texts and audio carry transcription ids, parts and last_chunk'),
  segments: choice(
    z.enum(['none', 'times', 'words']),
    'none',
    'words',
    'texts say which seconds of the stream they cover: not at all, start and end, words and timestamps too',
  ),
  translatedTexts: choice(flag, true, true, 'translated_transcription is sent'),
  translationParts: choice(
    count(9).min(1),
    1,
    1,
    'a translation comes in this many parts, texts and speech alike, where each speaks 1.5 s of voice at least',
  ),
  wholePhrasePercent: choice(
    count(100).min(1),
    70,
    70,
    'who spoke for this share of the time in which the book is read has said their phrases whole; else as far as they spoke',
  ),
  partialIntervalMs: choice(count(10_000), 250, 250, 'at least this long between two interim texts'),
  outputRateHz: choice(
    count(48_000),
    0,
    24_000,
    'rate of the speech sent, mono; 0: rate and channels as asked',
  ),
  outputChunkMs: choice(count(2000).min(20), 320, 200, 'length of one chunk of speech sent'),
  outputIntervalMs: choice(count(2000), 80, 20, 'from one chunk sent to the next: a burst when shorter'),
  textDelayMs: choice(count(60_000), 150, 400, 'from the confirmed to the translated text'),
  speechDelayMs: choice(count(60_000), 400, 1200, 'from the confirmed text to the first speech'),
  silenceThresholdMs: choice(
    count(10_000).min(100),
    700,
    700,
    'silence that confirms a sentence, unless the task says otherwise',
  ),
  minSpeechMs: choice(count(10_000), 200, 200, 'less voice than this is taken for noise'),
  maxSegmentMs: choice(count(60_000).min(1000), 12_000, 12_000, 'a sentence is cut at this length'),
  forceSplitMs: choice(
    count(60_000),
    0,
    6000,
    'a sentence without a pause is cut at the end of a word once it is this long, in milliseconds and in characters; 0: not',
  ),
  forceSplitChars: choice(count(10_000), 100, 100, 'the characters that forceSplitMs waits for'),
  minSentenceMs: choice(count(60_000), 4000, 4000, 'the first part of a cut sentence is at least so long'),
  earlyAudio: choice(
    z.enum(['discard', 'accept']),
    'discard',
    'discard',
    'audio that comes before the pipeline runs',
  ),
  tooFast: choice(
    z.enum(['degrade', 'tolerate']),
    'degrade',
    'degrade',
    'sound that comes faster than real time, beyond two chunks, is partly not listened to, or all of it is (8)',
  ),
  noAudioTimeoutMs: choice(count(DAY_MS), 0, 10_000, 'SERVICE_TIMEOUT after so long without audio; 0: never'),
  warnings: choice(flag, false, true, 'AUDIO_STREAM_* and VOICE_NOT_FOUND warnings are sent'),
  enforceRates: choice(flag, false, true, 'commands that come too often get RATE_LIMIT_EXCEEDED'),
  minAudioChars: choice(count(65_536), 0, 1024, 'shortest base64 of one input_audio_data'),
  connectionsPerMinute: choice(
    count(100_000),
    0,
    20,
    'with one token; more are closed with 1008; 0: no limit',
  ),
  legacyUnusedMs: choice(count(DAY_MS), 60_000, 60_000, 'an unused legacy session lives so long (8)'),
  uploadTtlMs: choice(count(DAY_MS), 3_600_000, 3_600_000, 'a pre-signed upload target works so long'),
  uploadMaxBytes: choice(count(100_000_000), 10_000_000, 10_000_000, 'largest voice sample'),
  unicodeNames: choice(
    flag,
    false,
    true,
    'letters of any script are taken in names of voices and files (4.4); otherwise those of ASCII only',
  ),
  voiceProcessingMs: choice(count(DAY_MS), 1500, 4000, 'from upload to ready or failed'),
  voiceMinSeconds: choice(count(3600), 0, 30, 'a sample shorter than this fails; below 10 s all do'),
  balanceMs: choice(
    z.coerce.number().min(0).nullable(),
    null,
    null,
    'stream time that the account can pay for, from the start; null: without end',
  ),
  recordBytes: choice(
    count(2_000_000_000),
    0,
    0,
    'how many bytes of each stream are kept in each direction; 0: none',
  ),
  seed: choice(count(2 ** 31), 0, 0, 'where the phrase book begins, and the dice of fault schedules'),
} as const;

export type Choices = { [K in keyof typeof CHOICES]: z.output<(typeof CHOICES)[K]['schema']> };
export type ChoiceName = keyof typeof CHOICES;

export function isChoiceName(name: string): name is ChoiceName {
  return Object.hasOwn(CHOICES, name);
}

/**
 * A profile's choices with some of them replaced.
 * @throws Error that names the choice and what it takes
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

/** A choice's name as JSON bodies carry it: `setupMs` is `setup_ms`. */
export function wireName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Changes some choices of a running service, by their wire names. All or none. @returns what is wrong */
export function changeChoices(choices: Choices, body: Readonly<Record<string, unknown>>): string[] {
  const problems: string[] = [];
  const changes: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(body)) {
    const name = Object.keys(CHOICES).find((candidate) => wireName(candidate) === key);
    if (name === undefined || !isChoiceName(name)) {
      problems.push(`${key}: there is no such setting`);
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
