import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { speechTask } from '../../../src/adapters/stream/task.ts';
import { closed, ready, understood, warned } from '../../service-events.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { accept, connected, listen, open, TOKEN } from './peer.ts';

describe('a stream that is open', () => {
  it('sends each command as a text frame of message_type and data', async () => {
    const { connection, service } = await connected();
    const frames: { text: string; isBinary: boolean }[] = [];
    const five = new Promise<void>((resolve) => {
      service.on('message', (data, isBinary) => {
        frames.push({ text: data.toString(), isBinary });
        if (frames.length === 5) resolve();
      });
    });
    const task = { source: 'en', targets: ['es'], voice: null, inputRateHz: 24_000 };
    connection.runTask(task);
    connection.askForTask();
    connection.sendAudio(new Uint8Array([0, 1, 254, 255]));
    connection.say('Cerramos a las seis', 'es', true);
    connection.end();
    await five;
    expect(frames.every(({ isBinary }) => !isBinary)).toBe(true);
    expect(frames.map(({ text }) => JSON.parse(text))).toEqual([
      { message_type: 'set_task', data: speechTask(task) },
      { message_type: 'get_task', data: {} },
      { message_type: 'input_audio_data', data: { data: Buffer.from([0, 1, 254, 255]).toString('base64') } },
      {
        message_type: 'tts_task',
        data: { text: 'Cerramos a las seis', language: 'es', translate_text: true },
      },
      { message_type: 'end_task', data: {} },
    ]);
  });

  it.each(['/stream?room=5', '/stream?room=5&token=old'])(
    'has the token as a query parameter in place of any other: %s (docs/service.md 4.7)',
    async (path) => {
      const { url, request } = await accept();
      open(new URL(path, url).href, listen().listener);
      const { searchParams } = new URL((await request).url ?? '', url);
      expect(searchParams.getAll('token')).toEqual([TOKEN]);
      expect(searchParams.get('room')).toBe('5');
    },
  );

  it('sends only its own bytes of a view into a larger buffer', async () => {
    const { connection, service } = await connected();
    const frame = once(service, 'message');
    connection.sendAudio(new Uint8Array([9, 9, 1, 2, 9]).subarray(2, 4));
    const [data] = await frame;
    expect(JSON.parse(String(data)).data.data).toBe(Buffer.from([1, 2]).toString('base64'));
  });

  it('delivers audio decoded, with its sentence, and in whole samples', async () => {
    const { until, service } = await connected();
    service.send(
      JSON.stringify({
        message_type: 'output_audio_data',
        data: {
          data: Buffer.from([1, 2, 3]).toString('base64'),
          transcription_id: 't1',
          translation_part_id: '0',
          language: 'es',
          last_chunk: true,
        },
      }),
    );
    const [, message] = await until('spoke');
    expect(message).toMatchObject({ type: 'spoke', utterance: 't1/0/es', last: true });
    expect([...(message as { pcm: Uint8Array }).pcm]).toEqual([1, 2]);
  });

  const sound = Buffer.from(Uint8Array.from({ length: 9600 }, (_, at) => (at * at) >> 3));
  const plain = `{"message_type":"output_audio_data","data":{"data":"${sound.toString('base64')}"}}`;
  const first = sound.subarray(0, 2).toString('base64');
  it.each([
    ['as usual', plain, sound],
    ['with room between its words', JSON.stringify(JSON.parse(plain), null, 1), sound],
    ['with escapes', plain.replaceAll('/', '\\/'), sound],
    [
      'as a JSON string',
      JSON.stringify({ ...JSON.parse(plain), data: JSON.stringify(JSON.parse(plain).data) }),
      sound,
    ],
    ['twice, with the last one valid', plain.replace('"}}', `","data":"${first}"}}`), sound.subarray(0, 2)],
    [
      'beside another one further down',
      plain.replace('{"data":"', `{"data":"${first}","more":{"data":"`).replace('"}}', '"}}}'),
      sound.subarray(0, 2),
    ],
  ])('delivers long audio that is written %s', async (_, text, expected) => {
    const { until, service } = await connected();
    service.send(text);
    const [, message] = await until('spoke');
    expect(Buffer.from((message as { pcm: Uint8Array }).pcm).equals(expected)).toBe(true);
  });

  it.each(['t1', undefined])(
    'delivers audio that is cut within samples, for a sentence named %s',
    async (id) => {
      const { said, service, until } = await connected();
      const pcm = Buffer.concat([sound, sound, sound, sound]);
      for (let from = 0; from < pcm.byteLength; from += 3001) {
        const data = { data: pcm.subarray(from, from + 3001).toString('base64'), transcription_id: id };
        service.send(JSON.stringify({ message_type: 'output_audio_data', data }));
      }
      service.send(JSON.stringify({ message_type: 'unheard_of' }));
      await until('oddity');
      const pieces = said.flatMap(([word, message]) =>
        word === 'spoke' ? [message as { pcm: Buffer }] : [],
      );
      expect(Buffer.concat(pieces.map(({ pcm: piece }) => piece)).equals(pcm)).toBe(true);
    },
  );

  it.each([
    ['short', sound.subarray(0, 2)],
    ['long', sound],
  ])('delivers %s audio with other fields of wrong types, and a number as a name', async (_, pcm) => {
    const { until, service } = await connected();
    const odd = { translation_part_id: [1], language: 5, last_chunk: 'true', chunk_generation_delta: {} };
    const data = { ...odd, data: pcm.toString('base64'), transcription_id: 7 };
    service.send(JSON.stringify({ message_type: 'output_audio_data', data }));
    const [, message] = await until('spoke');
    expect(message).toMatchObject({
      sentence: '7',
      part: null,
      language: null,
      utterance: '7//',
      last: false,
    });
    expect(Buffer.from((message as { pcm: Uint8Array }).pcm).equals(pcm)).toBe(true);
  });

  it('does not change sound-like data in other messages', async () => {
    const { until, service } = await connected();
    const data = { task_status: 'running', data: sound.toString('base64') };
    service.send(JSON.stringify({ message_type: 'current_task', data }));
    const [, message] = await until('ready');
    expect(message).toEqual(ready());
  });

  it('names no sentence when the service names none', async () => {
    const { until, service } = await connected();
    service.send(JSON.stringify({ message_type: 'output_audio_data', data: { data: '' } }));
    const [, message] = await until('spoke');
    expect(message).toMatchObject({ utterance: null, last: false });
  });

  it('reads data in a JSON string (4.7 rule 3)', async () => {
    const { until, service } = await connected();
    const transcription = { text: 'hello', language: 'en' };
    service.send(
      JSON.stringify({ message_type: 'validated_transcription', data: JSON.stringify({ transcription }) }),
    );
    const [, message] = await until('understood');
    expect(message).toEqual(understood({ text: 'hello' }));
  });

  it('reports unknown messages as oddities, and unreadable ones, without any content', async () => {
    const { said, service } = await connected();
    const secret = 'private words';
    service.send('not json');
    service.send('{}');
    service.send(JSON.stringify({ message_type: 'brand_new', data: { secret } }));
    service.send(JSON.stringify({ message_type: 'validated_transcription', data: { text: secret } }));
    service.send(Buffer.from([1, 2, 3]));
    service.send('[]');
    service.send(JSON.stringify({ message_type: 'output_audio_data', data: { data: 7, secret } }));
    service.send(
      JSON.stringify({ message_type: 'output_audio_data', data: { data: '!%!%', last_chunk: true } }),
    );
    service.send(JSON.stringify({ message_type: 'current_task', data: {} }));
    await expect.poll(() => said.at(-1)?.[1]).toMatchObject({ type: 'ready' });
    const withoutTask = said.slice(1, -1);
    expect(withoutTask).toEqual([
      ['unreadable', 'frame', 'a text that is not JSON'],
      ['oddity', 'an unknown message ""'],
      ['oddity', 'an unknown message "brand_new"'],
      ['unreadable', 'speech', 'validated_transcription without a usable transcription'],
      ['unreadable', 'frame', 'binary frames'],
      ['unreadable', 'frame', 'JSON without a message_type'],
      ['unreadable', 'sound', 'output_audio_data without a usable data'],
      ['spoke', expect.objectContaining({ last: true })],
      ['unreadable', 'sound', 'output_audio_data with data that is not base64'],
    ]);
    expect(JSON.stringify(said)).not.toContain(secret);
  });

  it('reports pongs to its pings', async () => {
    const { until, connection } = await connected();
    connection.ping();
    await expect(until('pong')).resolves.toEqual(['pong']);
  });

  it.each([
    [
      'message',
      async (service: WebSocket, heard: () => Promise<unknown>) => {
        service.send(JSON.stringify({ message_type: 'eos', data: {} }));
        await heard();
      },
    ],
    [
      'ping',
      async (service: WebSocket) => {
        service.ping();
        await once(service, 'pong');
      },
    ],
  ])('counts a recent %s as a sign of life, and sends a ping when the last sign is old', async (_, speak) => {
    const clock = createVirtualClock();
    const { said, connection, service, until } = await connected(clock);
    let asked = 0;
    service.on('ping', () => asked++);
    await speak(service, () => until('ended'));
    connection.ping();
    expect(said.at(-1)).toEqual(['pong']);
    expect(asked).toBe(0);
    clock.advance(1600);
    connection.ping();
    await expect.poll(() => said.filter(([word]) => word === 'pong').length).toBe(2);
    expect(asked).toBe(1);
  });

  it('reports how many bytes are unsent, and when all are sent', async () => {
    const { connection, service, until, said } = await connected();
    service.pause();
    const chunk = new Uint8Array(512 * 1024);
    for (let i = 0; i < 40; i++) connection.sendAudio(chunk);
    expect(connection.bufferedBytes).toBeGreaterThan(1_000_000);
    expect(said).toEqual([['opened']]);
    service.resume();
    await until('drained');
    expect(connection.bufferedBytes).toBe(0);
  });

  it('sends everything, also after a wait', async () => {
    const { connection, service } = await connected();
    service.pause();
    const chunks = Array.from({ length: 60 }, (_, at) => new Uint8Array(256 * 1024).fill(at));
    for (const chunk of chunks) connection.sendAudio(chunk);
    expect(connection.bufferedBytes).toBeGreaterThan(0);
    const texts: string[] = [];
    const all = new Promise<void>((resolve) => {
      service.on('message', (data) => {
        texts.push(JSON.parse(String(data)).data.data);
        if (texts.length === chunks.length) resolve();
      });
    });
    service.resume();
    await all;
    expect(texts.every((text, at) => Buffer.from(text, 'base64').equals(chunks[at] ?? sound))).toBe(true);
  });

  it('reports the code and the reason of a close', async () => {
    const { until, service } = await connected();
    service.close(4003, 'session_revoked');
    await expect(until('ended')).resolves.toEqual([
      'ended',
      closed('cut', { reason: 'session_revoked', detail: '4003, session_revoked' }),
    ]);
  });

  it.each(['warning', 'error', TOKEN])('hides its token in every text of a message "%s"', async (type) => {
    const { said, until, service } = await connected();
    const text = `bad ?token=${TOKEN} or ${TOKEN}`;
    const data = { code: text, message: text, desc: text, reason: text, param: text };
    service.send(JSON.stringify({ message_type: type, data }));
    await until(type === TOKEN ? 'oddity' : 'warned');
    expect(JSON.stringify(said)).not.toContain(TOKEN);
    expect(JSON.stringify(said)).toContain('[redacted]');
  });

  it('hides its token when the service repeats it', async () => {
    const { said, until, service } = await connected();
    const data = { code: 'X', desc: `not ${TOKEN}` };
    service.send(JSON.stringify({ message_type: 'error', data }));
    service.close(4003, `bad ${TOKEN}`);
    await until('ended');
    expect(said).toContainEqual(['warned', warned('error', { code: 'X', text: 'not [redacted]' })]);
    expect(said.at(-1)?.[1]).toMatchObject({ detail: '4003, bad [redacted]' });
  });

  it('ends with 1006 when the connection is reset', async () => {
    const { until, service } = await connected();
    service.terminate();
    await expect(until('ended')).resolves.toEqual(['ended', closed('cut', { detail: '1006' })]);
  });

  it('ends on a huge frame instead of reading it', async () => {
    const { said, until, service } = await connected();
    service.send(`{"message_type":"current_task","data":"${'x'.repeat(9 * 1024 * 1024)}"}`);
    await until('broke');
    expect(said.map(([word]) => word)).toEqual(['opened', 'broke']);
  });

  it.each(['close', 'terminate'] as const)('reports nothing after %s', async (how) => {
    const { said, connection, service } = await connected();
    const gone = once(service, 'close');
    connection[how]();
    service.send(JSON.stringify({ message_type: 'current_task', data: {} }));
    const [code] = await gone;
    expect(code).toBe(how === 'close' ? 1000 : 1006);
    connection.sendAudio(new Uint8Array(2));
    connection.ping();
    expect(said).toEqual([['opened']]);
  });
});
