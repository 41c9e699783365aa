import type { Clock } from '../../src/ports/clock.ts';
import type { OpenStream, Ready, StreamListener } from '../../src/ports/stream.ts';

/** A service without memory. It runs the task, and sends a translated sentence from time to time. */
export interface DayService {
  readonly openStream: OpenStream;
  /** A new session in the form of a grant. */
  session(): Record<string, unknown>;
}

const CONNECT_MS = 120;
const SETUP_MS = 2500;
const SESSION_S = 1800;
/** Number of chunks with voice in a sentence. */
const SENTENCE_CHUNKS = 8;
const ANSWER_MS = 800;
const SPOKEN_CHUNKS = 8;
export const SPOKEN_BYTES = 15_360;
const BURST_MS = 80;
const VOICE_PEAK = 1500;
/** Number of sentences between two network failures. */
const SENTENCES_PER_BREAK = 150;

/** @param spoken returns one chunk of a sentence's sound; 15,360 bytes */
export function createDayService(
  clock: Clock,
  counts: { sentences: number; sessions: number },
  spoken: (sentence: number, chunk: number) => Uint8Array,
): DayService {
  return {
    session() {
      counts.sessions += 1;
      const at = clock.wall() ?? 0;
      return {
        id: `session-${counts.sessions}-that-is-long`,
        token: `token-${counts.sessions}-0123456789`,
        intent: 's2s',
        connection_type: 'ws',
        single_use: true,
        status: 'pending',
        created_at: new Date(at).toISOString(),
        connect_by: new Date(at + 60_000).toISOString(),
        max_session_duration_seconds: SESSION_S,
      };
    },
    openStream(_url, listener) {
      let isOver = false;
      let isRunning = false;
      let voiced = 0;
      const later = (ms: number, act: () => void): void => {
        clock.at(clock.now() + ms, () => {
          if (!isOver) act();
        });
      };
      const end = (how: 'closed' | 'cut'): void => {
        isOver = true;
        listener.said({ type: 'ended', how, reason: null, detail: how });
      };
      later(CONNECT_MS, () => listener.opened());
      later(SESSION_S * 1000, () => {
        listener.said({ type: 'limit', reason: 'max_duration' });
        if (!isOver) end('closed');
      });
      return {
        runTask: () => later(SETUP_MS, () => (isRunning = true)),
        askForTask: () => later(20, () => listener.said(isRunning ? RUNNING : { ...RUNNING, task: 'none' })),
        sendAudio(pcm) {
          if (peakOf(pcm) < VOICE_PEAK || ++voiced < SENTENCE_CHUNKS) return;
          voiced = 0;
          counts.sentences += 1;
          if (counts.sentences % SENTENCES_PER_BREAK === 0) return later(1, () => end('cut'));
          say(listener, counts.sentences, later, spoken);
        },
        say: () => {},
        end: () => later(200, () => end('closed')),
        ping: () => later(20, () => listener.pong()),
        close() {
          isOver = true;
        },
        terminate() {
          isOver = true;
        },
        bufferedBytes: 0,
      };
    },
  };
}

const RUNNING: Ready = { type: 'ready', task: 'running', targets: null, isAnswer: true, detail: null };

function say(
  listener: StreamListener,
  number: number,
  later: (ms: number, act: () => void) => void,
  spoken: (sentence: number, chunk: number) => Uint8Array,
): void {
  const id = `sentence-${number}`;
  const text = `What visitor ${number} wanted to know.`;
  const source = { id, language: 'en', text };
  const translation = { id, language: 'es', text, part: null, span: null };
  listener.said({ type: 'heard', ...source });
  later(200, () => listener.said({ type: 'understood', ...source, span: null }));
  later(400, () => listener.said({ type: 'translated', ...translation, isFinal: true }));
  for (let chunk = 0; chunk < SPOKEN_CHUNKS; chunk++) {
    later(ANSWER_MS + chunk * BURST_MS, () =>
      listener.said({
        type: 'spoke',
        pcm: spoken(number, chunk),
        sentence: id,
        part: null,
        language: null,
        utterance: `${id}/0/es`,
        last: chunk === SPOKEN_CHUNKS - 1,
      }),
    );
  }
}

function peakOf(pcm: Uint8Array): number {
  const samples = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  let peak = 0;
  for (let at = 0; at + 1 < pcm.byteLength; at += 64)
    peak = Math.max(peak, Math.abs(samples.getInt16(at, true)));
  return peak;
}
