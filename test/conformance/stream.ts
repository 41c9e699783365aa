import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

/** One message of the service. Data that was sent as a JSON string is parsed (4.7 rule 3). */
export interface Message {
  readonly type: string;
  readonly data: Record<string, unknown>;
  /** Whether `data` was sent as a JSON string. */
  readonly dataWasString: boolean;
  /** Milliseconds since the stream opened. */
  readonly atMs: number;
}

export interface Close {
  readonly code: number;
  readonly reason: string;
  readonly atMs: number;
}

/** An HTTP answer that refused a WebSocket upgrade. */
export interface UpgradeRefusal {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: unknown;
}

export const WAIT_MS = 30_000;

/** Options for sending sound. */
export interface Speaking {
  readonly chunkMs?: number;
  readonly onTheClock?: boolean;
  /** Multiple of real time. */
  readonly speed?: number;
}

/** Timing of a stream. */
export interface Pace {
  /** Time from set_task to the first get_task. */
  readonly settleMs: number;
  /** Advances the service's time at once; null if the suite must wait. */
  readonly hurry: ((ms: number) => Promise<void>) | null;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An open stream and all its messages. */
export class Stream {
  readonly messages: Message[] = [];
  /** Frames that are not JSON objects in text. */
  readonly junk: string[] = [];
  /** Frames that are JSON objects, but not `{message_type: string, data: object}` (4.7). */
  readonly misshapen: string[] = [];
  readonly closed: Promise<Close>;
  readonly socket: WebSocket;
  #close: Close | null = null;
  #wake: (() => void)[] = [];
  readonly #openedAt = performance.now();
  readonly #pace: Pace;
  #lastGetTaskAt = Number.NEGATIVE_INFINITY;
  #passedMs = 0;

  constructor(socket: WebSocket, pace: Pace) {
    this.socket = socket;
    this.#pace = pace;
    socket.on('message', (frame, isBinary) => this.#receive(String(frame), isBinary));
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        this.#close = { code, reason: reason.toString(), atMs: this.elapsedMs() };
        resolve(this.#close);
        this.#notify();
      });
    });
  }

  elapsedMs(): number {
    return performance.now() - this.#openedAt;
  }

  get isClosed(): boolean {
    return this.#close !== null;
  }

  #receive(text: string, isBinary: boolean): void {
    const frame = parseJson(text);
    if (isBinary || !isRecord(frame)) {
      this.junk.push(`${isBinary ? 'binary ' : ''}frame ${text.slice(0, 120)}`);
      return;
    }
    if (typeof frame['message_type'] !== 'string') {
      this.misshapen.push(text.slice(0, 120));
      return;
    }
    const raw = frame['data'];
    const data = typeof raw === 'string' ? parseJson(raw) : raw;
    if (!isRecord(data)) {
      this.misshapen.push(text.slice(0, 120));
      return;
    }
    const dataWasString = typeof raw === 'string';
    this.messages.push({ type: frame['message_type'], data, dataWasString, atMs: this.elapsedMs() });
    this.#notify();
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }

  send(type: string, data?: unknown): void {
    this.socket.send(
      JSON.stringify(data === undefined ? { message_type: type } : { message_type: type, data }),
    );
  }

  of(type: string): Message[] {
    return this.messages.filter((message) => message.type === type);
  }

  /** The first message from index `from` that `wanted` accepts; waits for it. */
  async next(
    wanted: string | ((message: Message) => boolean),
    { from = 0, timeoutMs = WAIT_MS }: { from?: number; timeoutMs?: number } = {},
  ): Promise<Message> {
    const accepts = typeof wanted === 'string' ? (m: Message) => m.type === wanted : wanted;
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const found = this.messages.slice(from).find(accepts);
      if (found !== undefined) return found;
      const left = deadline - performance.now();
      if (left <= 0 || this.#close !== null) throw new Error(this.#missing(wanted, timeoutMs));
      await this.#change(left);
    }
  }

  #missing(wanted: unknown, timeoutMs: number): string {
    const name = typeof wanted === 'string' ? wanted : 'the awaited message';
    const close = this.#close;
    const end = close === null ? `within ${timeoutMs} ms` : `before close ${close.code} "${close.reason}"`;
    const tail = this.messages.slice(-8).map((m) => `${m.type} ${JSON.stringify(m.data).slice(0, 160)}`);
    return `${name} did not come ${end}; last came: ${tail.join(' | ') || 'nothing'}`;
  }

  #change(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#wake.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Returns when the service has read all messages and its answers have arrived. */
  async sync(): Promise<void> {
    const pong = new Promise((resolve) => this.socket.once('pong', resolve));
    this.socket.ping();
    await Promise.race([pong, this.closed, sleep(WAIT_MS, null, { ref: false })]);
  }

  /** Lets `ms` of the service's time pass, after it has read all messages. */
  async pass(ms: number): Promise<void> {
    if (this.isClosed) return;
    if (this.#pace.hurry === null) return sleep(ms);
    await this.sync();
    await this.#pace.hurry(ms);
    if (!this.isClosed) await this.sync();
    this.#passedMs += ms;
  }

  /** Service time in milliseconds, as far as this stream has waited. */
  #now(): number {
    return performance.now() + this.#passedMs;
  }

  /** Asks for the task, at most once per 2 s (8), and returns the answer to this request. */
  async getTask(data: unknown = {}): Promise<Message> {
    const waitMs = this.#lastGetTaskAt + 2050 - this.#now();
    if (waitMs > 0) await this.pass(waitMs);
    this.#lastGetTaskAt = this.#now();
    const from = this.messages.length;
    this.send('get_task', data);
    return this.next((message) => isTaskAnswer(message), { from });
  }

  /** Sets a task and returns when `get_task` shows it live. */
  async run(task: unknown): Promise<Message> {
    this.send('set_task', task);
    await this.pass(this.#pace.settleMs);
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const answer = await this.getTask();
      if (answer.type === 'current_task') return answer;
    }
    throw new Error('no current_task 12 s after set_task');
  }

  /**
   * Sends sound in real time, or at another `speed`, in chunks of `chunkMs` (8: 320 ms are recommended). It uses the service's time, or
   * with `onTheClock` the wall clock.
   */
  async speak(
    pcm: Uint8Array,
    bytesPerSecond: number,
    { chunkMs = 320, onTheClock = false, speed = 1 }: Speaking = {},
  ): Promise<void> {
    const bytes = Math.round((bytesPerSecond * chunkMs) / 1000);
    const hurried = !onTheClock && this.#pace.hurry !== null;
    const startedAt = performance.now();
    for (let index = 0; index * bytes < pcm.length && !this.isClosed; index += 1) {
      this.sendAudio(pcm.subarray(index * bytes, (index + 1) * bytes));
      if (hurried) await this.pass(chunkMs / speed);
      else await sleep(Math.max(0, startedAt + ((index + 1) * chunkMs) / speed - performance.now()));
    }
  }

  sendAudio(pcm: Uint8Array): void {
    this.send('input_audio_data', { data: Buffer.from(pcm).toString('base64') });
  }

  /** Waits for the close; fails after `timeoutMs`. */
  async closes(timeoutMs = WAIT_MS): Promise<Close> {
    const late = Symbol('late');
    const first = await Promise.race([this.closed, sleep(timeoutMs, late, { ref: false })]);
    if (typeof first === 'symbol') throw new Error(`the connection was not closed within ${timeoutMs} ms`);
    return first;
  }

  /** Closes the stream and returns when the socket is closed. */
  async end(): Promise<void> {
    if (this.#close !== null) return;
    this.socket.close(1000);
    const timer = setTimeout(() => this.socket.terminate(), 2000);
    await this.closed;
    clearTimeout(timer);
  }
}

/** Whether a message answers `get_task`: `current_task` or an error NOT_FOUND (4.7 rule 2). */
export function isTaskAnswer(message: Message): boolean {
  return message.type === 'current_task' || isNotFound(message);
}

/** Whether a message is the error of `get_task` before the pipeline runs; only its name is specified (4.7 rule 2, 7). */
export function isNotFound(message: Message): boolean {
  return message.type === 'error' && JSON.stringify(message.data).includes('NOT_FOUND');
}

/** Opens a WebSocket. @returns a stream, or the HTTP answer that refused it */
export function connect(
  url: string,
  headers: Record<string, string>,
  pace: Pace,
): Promise<Stream | UpgradeRefusal> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers, handshakeTimeout: WAIT_MS, perMessageDeflate: false });
    const stream = new Stream(socket, pace);
    socket.once('open', () => resolve(stream));
    socket.once('error', reject);
    socket.once('unexpected-response', (request, response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parseJson(text) });
        request.destroy();
      });
    });
  });
}
