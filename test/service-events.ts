/** What a service reports, for tests: fields that a test does not name have their usual values. */
import type {
  Ended,
  Heard,
  Limit,
  Ready,
  Refusal,
  Refused,
  Spoke,
  TaskState,
  Translated,
  Understood,
  Warned,
} from '../src/ports/stream.ts';

/** Answers whether the task runs. */
export function ready(task: TaskState = 'running', given: Partial<Ready> = {}): Ready {
  return { type: 'ready', task, targets: null, isAnswer: true, detail: null, ...given };
}

/** Reports unasked whether the task runs. */
export function pushed(task: TaskState): Ready {
  return ready(task, { isAnswer: false });
}

export function heard(given: Partial<Heard> = {}): Heard {
  return { type: 'heard', id: null, language: 'en', text: 'so', ...given };
}

export function understood(given: Partial<Understood> = {}): Understood {
  return { type: 'understood', id: null, language: 'en', text: 'so', span: null, ...given };
}

export function translated(given: Partial<Translated> = {}): Translated {
  return {
    type: 'translated',
    id: null,
    part: null,
    language: 'es',
    text: 'así',
    span: null,
    isFinal: true,
    ...given,
  };
}

export function spoke(pcm: Uint8Array, given: Partial<Spoke> = {}): Spoke {
  return {
    type: 'spoke',
    pcm,
    sentence: null,
    part: null,
    language: null,
    utterance: null,
    last: false,
    ...given,
  };
}

export function warned(level: Warned['level'], given: Partial<Warned> = {}): Warned {
  return { type: 'warned', level, code: null, text: null, ...given };
}

/** The task, or a text that it should speak, is not valid. */
export function rejected(text: string | null = null): Warned {
  return warned('rejection', { code: 'NOT_VALID', text });
}

/** Refuses a stream that is open, if no status is given. */
export function refused(reason: Refusal, given: Partial<Refused> = {}): Refused {
  return {
    type: 'refused',
    reason,
    status: null,
    errorCode: null,
    detail: null,
    retryAfterMs: null,
    ...given,
  };
}

export function limit(reason: Limit['reason']): Limit {
  return { type: 'limit', reason };
}

/** Everything has been spoken. */
export function finished(): Ended {
  return { type: 'ended', how: 'complete', reason: null, detail: '' };
}

/** The connection closed. */
export function closed(how: 'closed' | 'cut' = 'cut', given: Partial<Ended> = {}): Ended {
  return { type: 'ended', how, reason: null, detail: how, ...given };
}
