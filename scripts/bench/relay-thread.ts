/**
 * A relay between the measured programs and the service; it records the time of each message. It runs in its own thread, with
 * priority if allowed, so that the recorded times are as exact as possible.
 */
import { connect, createServer, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { createFrameReader } from './frame-reader.ts';
import type { Passing, RelayReady, RelayTask } from './relay.ts';

const HOST = '127.0.0.1';
const URGENT = -10;
/** Samples that identify a chunk's place in the recording. */
const HEAD_SAMPLES = 64;

const { service, names } = workerData as RelayTask;
const now = (): number => Number(process.hrtime.bigint()) / 1e6;
const tell = (passing: Passing): void => parentPort?.postMessage(passing);

function takePriority(): boolean {
  try {
    // On Linux this affects only this thread.
    setPriority(0, URGENT);
    return true;
  } catch {
    return false;
  }
}

function samplesOf(base64: string): Int16Array {
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'));
  return new Int16Array(bytes.buffer, 0, bytes.byteLength >> 1);
}

interface Message {
  readonly message_type?: string;
  readonly data?: {
    readonly data?: string;
    readonly transcription_id?: string;
    readonly task_status?: string;
  };
}

/** From the device to the service. */
function noteSent(name: string, text: string, atMs: number): void {
  const { message_type: type, data } = JSON.parse(text) as Message;
  if (type === 'set_task') tell({ kind: 'set_task', name, atMs });
  if (type !== 'input_audio_data') return;
  const pcm = samplesOf(data?.data ?? '');
  const head = pcm.some((sample) => sample !== 0) ? pcm.slice(0, HEAD_SAMPLES) : null;
  tell({ kind: 'sent', name, atMs, head, samples: pcm.length });
}

/** From the service to the device. */
function noteReceived(name: string, text: string, atMs: number): void {
  const { message_type: type, data } = JSON.parse(text) as Message;
  if (type !== 'output_audio_data') return;
  tell({
    kind: 'received',
    name,
    atMs,
    sentence: data?.transcription_id ?? '',
    pcm: samplesOf(data?.data ?? ''),
  });
}

function serve(name: string, client: Socket): void {
  const upstream = connect({ host: service.hostname, port: Number(service.port) });
  const [fromClient, fromService] = [createFrameReader(), createFrameReader()];
  client.setNoDelay(true);
  upstream.setNoDelay(true);
  client.on('data', (bytes) => {
    const atMs = now();
    upstream.write(bytes);
    for (const text of fromClient.push(bytes)) noteSent(name, text, atMs);
  });
  upstream.on('data', (bytes) => {
    client.write(bytes);
    const atMs = now();
    for (const text of fromService.push(bytes)) noteReceived(name, text, atMs);
  });
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    from.on('end', () => to.end());
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
  }
}

async function listen(name: string): Promise<[string, string]> {
  const server = createServer((client) => serve(name, client));
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return [name, `ws://${HOST}:${port}`];
}

const ready: RelayReady = {
  isUrgent: takePriority(),
  urls: Object.fromEntries(await Promise.all(names.map(listen))),
};
parentPort?.postMessage(ready);
