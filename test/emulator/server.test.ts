import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/server.ts';
import { findSpeechEngine } from '../../src/emulator/speak.ts';
import { needs } from '../needs.ts';
import { ask, connect, createToken, streamUrl } from './client.ts';
import { sentence, task } from './core/harness.ts';
import { chunks, concat, noise, pcm, speech } from './core/voice.ts';
import { open, start } from './started-emulator.ts';

const HZ = 24_000;
const JOB = {
  id: 1,
  stream: 's',
  sentence: 's-1',
  mode: 'speak',
  spoken: new Int16Array(0),
  spokenHz: HZ,
  language: 'es',
  voice: 'contrast',
  variant: 0,
  tempo: 1,
  outputHz: HZ,
  outputChannels: 1,
} as const;

describe('a stream over a real socket', () => {
  test('echo: sends every byte back, as the recordings show', async () => {
    const emulator = await start({ translate: 'echo', recordBytes: 10_000_000 });
    const client = await open(emulator);
    const sound = concat(speech(1.3, HZ), noise(0.77, HZ, 9000));
    for (const chunk of chunks(sound, HZ)) client.audio(chunk);
    client.send('end_task');
    await client.closed;
    const sent = Buffer.from(pcm(sound));
    expect(client.sound().equals(sent)).toBe(true);
    const recording = emulator.recording();
    expect(Buffer.from(recording.received).equals(sent)).toBe(true);
    expect(Buffer.from(recording.sent).equals(sent)).toBe(true);
    expect(recording.truncated).toBe(false);
  });

  test('transform: sends a sentence back in another voice, with its texts', async () => {
    const emulator = await start({ tooFast: 'tolerate', recordBytes: 10_000_000 });
    const client = await open(emulator);
    for (const chunk of chunks(sentence(), HZ)) client.audio(chunk);
    client.send('end_task');
    expect(await client.closed).toEqual({ code: 1000, reason: 'end of stream' });
    const types = [...new Set(client.received.map(({ message_type }) => message_type))];
    expect(types).toEqual(
      expect.arrayContaining(['validated_transcription', 'translated_transcription', 'output_audio_data']),
    );
    expect(client.sound().length).toBeGreaterThan(HZ * 2);
    expect(client.sound().equals(Buffer.from(emulator.recording().sent))).toBe(true);
    expect(emulator.reports()[0]).toMatchObject({ phase: 'closed', segments: 1 });
  });

  test('accepts data as a JSON string, and a message in any form of JSON', async () => {
    const emulator = await start();
    const client = await connect(streamUrl(emulator));
    client.send('set_task', JSON.stringify(task()));
    client.send('get_task', '{}');
    await client.next('current_task');
    for (const frame of ['null', '[]', '7', '"x"', '{}', '{"message_type":7}', '{', ''])
      client.socket.send(frame);
    client.socket.send(Buffer.from([1, 2, 3]));
    await expect
      .poll(() => client.received.filter(({ message_type }) => message_type === 'error').length)
      .toBe(9);
    expect(client.socket.readyState).toBe(client.socket.OPEN);
  });

  test('refuses deeply nested JSON without harm', async () => {
    const emulator = await start();
    const client = await connect(streamUrl(emulator));
    const deep = `${'{"x":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
    client.socket.send(
      `{"message_type":"set_task","data":${JSON.stringify(task()).slice(0, -1)},"x":${deep}}}`,
    );
    client.socket.send(`{"message_type":"set_task","data":${'['.repeat(300_000)}`);
    client.send('get_task');
    await expect
      .poll(() => client.received.map(({ data }) => data['code']))
      .toEqual(['VALIDATION_ERROR', 'VALIDATION_ERROR', 'NOT_FOUND']);
  });

  test('ends with 1009 after an oversized frame', async () => {
    const emulator = await start();
    const client = await open(emulator);
    client.audio(new Uint8Array(700_000));
    expect((await client.closed).code).toBe(1009);
  });

  test('is removed when the client disappears', async () => {
    const emulator = await start();
    const { id, token } = await createToken(emulator);
    const client = await open(emulator, streamUrl(emulator, token));
    client.socket.terminate();
    await expect.poll(() => emulator.service.streams().length).toBe(0);
    const { json } = await ask(emulator, 'GET', `/session-storage/v2/sessions/${id}`);
    expect(json).toMatchObject({ data: { active_stream_count: 0 } });
  });

  test('heartbeat: sends pings and answers pings', async () => {
    const emulator = await start({ heartbeatMs: 30 });
    const client = await connect(streamUrl(emulator));
    let pings = 0;
    client.socket.on('ping', () => {
      pings += 1;
    });
    await expect.poll(() => pings).toBeGreaterThan(2);
    const pong = new Promise((resolve) => client.socket.once('pong', resolve));
    client.socket.ping();
    await pong;
  });
});

describe('speaking', async () => {
  const engine = await findSpeechEngine();

  test(
    'speaks the phrase with espeak-ng (needs espeak-ng)',
    needs(engine === null && 'needs espeak-ng'),
    async () => {
      const emulator = await start({ tooFast: 'tolerate', translate: 'speak', recordBytes: 10_000_000 });
      const client = await open(emulator);
      for (const chunk of chunks(sentence(), HZ)) client.audio(chunk);
      client.send('end_task');
      await client.closed;
      const data = client.received.find(
        ({ message_type }) => message_type === 'translated_transcription',
      )?.data;
      const { text } = (data as { transcription: { text: string } }).transcription;
      expect(text).toMatch(/^Buenos días/);
      const spoken = await engine?.({ ...JOB, text });
      expect(client.sound().equals(Buffer.from(spoken ?? []))).toBe(true);
      expect(client.sound().length).toBeGreaterThan(HZ * 2);
    },
  );

  test(
    'speaks many sentences in many languages (needs espeak-ng)',
    needs(engine === null && 'needs espeak-ng'),
    async () => {
      const emulator = await start({
        tooFast: 'tolerate',
        translate: 'speak',
        silenceThresholdMs: 300,
        outputIntervalMs: 0,
      });
      const client = await connect(streamUrl(emulator));
      client.send('set_task', task({}, ['es', 'de', 'fr', 'it', 'xx']));
      client.send('get_task');
      await client.next('current_task');
      for (const chunk of chunks(concat(sentence(0.5), sentence(0.5), sentence(0.5)), HZ))
        client.audio(chunk);
      client.send('end_task', { eos_timeout: 30 });
      await client.closed;
      const translated = client.received.filter(
        ({ message_type }) => message_type === 'translated_transcription',
      );
      expect(translated).toHaveLength(15);
      expect(client.sound().length).toBeGreaterThan(12 * HZ * 2);
    },
  );

  test(
    'uses another voice of the speaker when the engine does not know the language',
    needs(engine === null && 'needs espeak-ng'),
    async () => {
      const emulator = await start({ tooFast: 'tolerate', translate: 'speak' });
      const client = await connect(streamUrl(emulator));
      client.send('set_task', task({}, ['xx']));
      client.send('get_task');
      await client.next('current_task');
      for (const chunk of chunks(sentence(), HZ)) client.audio(chunk);
      client.send('end_task');
      await client.closed;
      expect(client.sound().length).toBeGreaterThan(HZ * 2);
    },
  );
});

describe('safety', () => {
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((address) => address?.family === 'IPv4' && !address.internal);

  test(
    '/emulator answers this machine only (needs an address besides loopback)',
    needs(outside === undefined && 'needs an address beside loopback'),
    async () => {
      const emulator = await start({ host: '0.0.0.0' });
      const url = `http://${outside?.address}:${new URL(emulator.url).port}`;
      for (const path of ['/emulator', '/emulator/streams', '/emulator/settings']) {
        expect((await fetch(url + path)).status).toBe(403);
        expect((await fetch(`http://127.0.0.1:${new URL(url).port}${path}`)).status).toBe(200);
      }
      expect((await fetch(`${url}/session-storage/v2/sessions`)).status).toBe(401);
    },
  );

  test('uses the trained voice detector', async () => {
    const emulator = await start();
    expect(emulator.detector).toBe('fvad');
  });
});

describe('ending', () => {
  test('sends a close to clients and frees the port at once', async () => {
    const emulator = await startEmulator({ setupMs: 0 });
    const client = await open(emulator);
    await emulator.close();
    expect((await client.closed).code).toBe(1001);
    const port = Number(new URL(emulator.url).port);
    const again = await startEmulator({ port });
    await again.close();
  });

  test('fails to start when the address is in use', async () => {
    const emulator = await start();
    await expect(startEmulator({ port: Number(new URL(emulator.url).port) })).rejects.toThrow('EADDRINUSE');
  });
});
