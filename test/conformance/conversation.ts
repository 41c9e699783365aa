import type { Client } from './client.ts';
import { loadVoice, makeSilence } from './speech.ts';
import { type Message, type Stream, WAIT_MS } from './stream.ts';

/** Options of a `set_task` of the suite. */
export interface TaskOptions {
  readonly sampleRate?: number;
  readonly channels?: number;
  readonly outputRate?: number;
  readonly outputChannels?: number;
  readonly targets?: readonly string[];
  /** Further keys of `pipeline`. */
  readonly pipeline?: Record<string, unknown>;
}

/** The data of a `set_task` with exactly the keys that 4.7 shows. */
export function makeTask(options: TaskOptions = {}): Record<string, unknown> {
  const { sampleRate = 24_000, channels = 1, outputRate = 24_000, outputChannels = 1 } = options;
  const format = { type: 'ws', format: 'pcm_s16le' };
  return {
    input_stream: { content_type: 'audio', source: { ...format, sample_rate: sampleRate, channels } },
    output_stream: {
      content_type: 'audio',
      target: { ...format, sample_rate: outputRate, channels: outputChannels },
    },
    pipeline: {
      preprocessing: {},
      transcription: { source_language: 'en' },
      translations: (options.targets ?? ['es']).map((target) => ({
        target_language: target,
        speech_generation: {},
      })),
      ...options.pipeline,
    },
  };
}

/** The translated sound of a message, decoded. */
export function audioOf(message: Message): Buffer {
  const text = message.data['data'];
  return Buffer.from(typeof text === 'string' ? text : '', 'base64');
}

/** The transcription of a message of section 6. */
export function transcriptionOf(message: Message): Record<string, unknown> {
  const transcription = message.data['transcription'];
  return typeof transcription === 'object' && transcription !== null ? { ...transcription } : {};
}

/** A stream on which one sentence has been spoken and translated. */
export interface Conversation {
  readonly stream: Stream;
  /** Index of the first message after the task was live. */
  readonly from: number;
  /** The bytes sent as `input_audio_data`, in order. */
  readonly sent: Buffer;
  readonly sentence: Uint8Array;
}

/** Speaks one sentence at real time and waits until it is transcribed, translated and the service is done speaking. */
export async function converse(
  client: Client,
  token: string,
  options: TaskOptions & { chunkMs?: number; onTheClock?: boolean } = {},
): Promise<Conversation> {
  const voice = loadVoice();
  const stream = await client.open(token);
  await stream.run(makeTask({ ...options, sampleRate: voice.sampleRate }));
  const from = stream.messages.length;
  const sent = Buffer.concat([voice.sentence, makeSilence(1.6, voice.sampleRate)]);
  const { chunkMs = 320, onTheClock = false } = options;
  await stream.speak(sent, voice.sampleRate * 2, { chunkMs, onTheClock });
  await stream.next('validated_transcription', { from });
  await stream.next('output_audio_data', { from });
  await settles(stream);
  return { stream, from, sent, sentence: voice.sentence };
}

/** Makes an attempt in less than `mostMs`, by which the service's time goes on meanwhile. What a busy machine delays is tried again. */
export async function within<T>(mostMs: number, attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    const startedAt = performance.now();
    const result = await attempt();
    if (performance.now() - startedAt < mostMs) return result;
  }
}

/** Returns when no message has come for `quietMs`, or after `WAIT_MS`. */
export async function settles(stream: Stream, quietMs = 700): Promise<void> {
  const until = performance.now() + WAIT_MS;
  let count = -1;
  while (count !== stream.messages.length && performance.now() < until && !stream.isClosed) {
    count = stream.messages.length;
    await new Promise((resolve) => setTimeout(resolve, quietMs));
    // A stalled service is quiet, too: wait until it has handled all messages.
    await stream.sync();
    await stream.sync();
  }
}
