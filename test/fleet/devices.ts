/** Simulated devices: each has its connection to the broker, its status, and can get a token and open a stream with it. */
import { randomBytes } from 'node:crypto';
import { WebSocket } from 'ws';
import { type LightClient, openLightClient } from './light-client.ts';

export const TENANT = 'bench';
const PREFIX = 'dragoman/v1';
/** As the agent: the first repetition of a request, and its growth. */
const REPEAT_MS = 5000;
const HEALTH_EACH_MS = 60_000;
const ASK_TASK_EACH_MS = 500;
/** A stream must come so far within this time (ms). */
const STREAM_WITHIN_MS = 60_000;
const CHUNK_MS = 320;
const FORMAT = { type: 'ws', format: 'pcm_s16le', sample_rate: 24_000, channels: 1 };
const TASK = {
  input_stream: { content_type: 'audio', source: FORMAT },
  output_stream: { content_type: 'audio', target: FORMAT },
  pipeline: {
    preprocessing: {},
    transcription: { source_language: 'en' },
    translations: [{ target_language: 'es', speech_generation: {} }],
  },
};
const CHUNK = message('input_audio_data', {
  data: Buffer.from(
    Int16Array.from({ length: 7680 }, (_, index) => 800 * Math.sin(index / 17)).buffer,
  ).toString('base64'),
});

export interface Grant {
  readonly session: { readonly id: string; readonly token: string };
  readonly url: string;
  /** From the first request to the grant, denials included. */
  readonly waitedMs: number;
  readonly denials: number;
}

export interface Device {
  readonly client: LightClient;
  /** Asks until there is a session. */
  token(): Promise<Grant>;
  close(): void;
}

/** @param asked called for each token request that is sent */
export function openDevice(name: string, port: number, asked: () => void, up: () => void): Device {
  const base = `${PREFIX}/${TENANT}/${name}`;
  const status = (what: string) =>
    JSON.stringify({ ts: null, status: what, boot_id: name, conn_seq: 1, version: '1.0.0', reasons: [] });
  const health = JSON.stringify({ ts: null, boot_id: name, lanes: [{ id: 'main', billed_s: 0 }] });
  let answered: ((answer: Answer) => void) | null = null;
  let waitingFor = '';
  const client = openLightClient({
    port,
    clientId: `${TENANT}.${name}`,
    will: { topic: `${base}/status`, payload: status('lost') },
    subscriptions: [`${base}/token/res`, `${base}/cmd/+`],
    retryMs: () => 500 + Math.random() * 4500,
    up() {
      client.publish(`${base}/status`, status('ready'), { retain: true });
      up();
    },
    message(topic, payload) {
      if (!topic.endsWith('/token/res')) return;
      const answer = JSON.parse(payload) as Answer;
      if (answer.id === waitingFor) answered?.(answer);
    },
  });
  const heartbeat = setInterval(() => {
    if (client.isUp) client.publish(`${base}/health`, health, { qos: 0 });
  }, HEALTH_EACH_MS);

  const ask = (attempt: number): Promise<Answer> =>
    new Promise((resolve) => {
      waitingFor = randomBytes(12).toString('base64url');
      const request = {
        id: waitingFor,
        lane: 'main',
        intent: 's2s',
        connection_type: 'ws',
        reason: 'start',
        attempt,
      };
      let waitMs = REPEAT_MS;
      const send = (): void => {
        if (client.isUp) {
          asked();
          client.publish(`${base}/token/req`, JSON.stringify({ ts: null, ...request }));
        }
        timer = setTimeout(send, waitMs);
        waitMs = Math.min(60_000, waitMs * 2);
      };
      let timer: NodeJS.Timeout;
      answered = (answer) => {
        clearTimeout(timer);
        answered = null;
        resolve(answer);
      };
      send();
    });

  return {
    client,
    async token() {
      const began = performance.now();
      for (let denials = 0; ; denials += 1) {
        const answer = await ask(denials + 1);
        if (answer.ok) {
          const url = answer.stream_url.replace('{random_hash}', randomBytes(18).toString('base64url'));
          return { session: answer.session, url, waitedMs: performance.now() - began, denials };
        }
        await new Promise((resolve) => setTimeout(resolve, (answer.error.retry_after_s ?? 5) * 1000));
      }
    },
    close() {
      clearInterval(heartbeat);
      client.close();
    },
  };
}

type Answer =
  | {
      readonly id: string;
      readonly ok: true;
      readonly session: Grant['session'];
      readonly stream_url: string;
    }
  | { readonly id: string; readonly ok: false; readonly error: { readonly retry_after_s?: number } };

/** Opens the stream of a grant, and resolves when its task runs. @throws if it does not come so far */
export function openStream({ session, url }: Grant): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url}?token=${encodeURIComponent(session.token)}`, {
      perMessageDeflate: false,
    });
    const fail = (why: string): void => {
      clearInterval(asking);
      clearTimeout(limit);
      socket.terminate();
      reject(new Error(why));
    };
    let asking: NodeJS.Timeout | undefined;
    const limit = setTimeout(() => fail('no running task in time'), STREAM_WITHIN_MS);
    socket.on('open', () => {
      socket.send(message('set_task', TASK));
      asking = setInterval(() => socket.send(message('get_task', {})), ASK_TASK_EACH_MS);
    });
    socket.on('error', (error) => fail(error.message));
    socket.on('close', () => fail('the stream ended'));
    socket.on('message', function seen(data) {
      const { message_type: type } = JSON.parse(String(data)) as { message_type: string };
      if (type !== 'current_task') return;
      clearInterval(asking);
      clearTimeout(limit);
      for (const event of ['close', 'message', 'error']) socket.removeAllListeners(event);
      socket.on('error', () => {});
      socket.on('message', () => {});
      resolve(socket);
    });
  });
}

export function endStream(socket: WebSocket): void {
  socket.send(message('end_task', { force: false }));
  socket.close();
}

/** Speaks in real time. @param late called for each chunk with how late it was sent (ms) */
export function speak(socket: WebSocket, late: (ms: number) => void): () => void {
  const began = performance.now();
  let chunks = 0;
  let timer: NodeJS.Timeout;
  const next = (): void => {
    if (socket.readyState !== WebSocket.OPEN) return;
    socket.send(CHUNK);
    chunks += 1;
    const dueAt = began + chunks * CHUNK_MS;
    timer = setTimeout(() => {
      late(Math.max(0, performance.now() - dueAt));
      next();
    }, dueAt - performance.now());
  };
  next();
  return () => clearTimeout(timer);
}

function message(message_type: string, data: object): string {
  return JSON.stringify({ message_type, data });
}
