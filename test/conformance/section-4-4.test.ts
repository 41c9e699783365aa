import { expect, test } from 'vitest';
import { PATHS } from './client.ts';
import { useService } from './service.ts';
import { expectData, expectRefusal, voiceShape } from './shapes.ts';

const service = useService();
const SAMPLE = { filename: 'visitor.wav', mime_type: 'audio/wav' };

async function taken(data: Record<string, unknown>): Promise<void> {
  await service.client.cloned(data);
}

/** Sends a valid request changed by `data` and fails unless it is refused. */
async function refused(data: Record<string, unknown>): Promise<void> {
  const answer = await service.client.clone({ name: 'Visitor 1', samples: [SAMPLE], ...data });
  expectRefusal(answer, JSON.stringify(data).slice(0, 160));
}

async function sampleTaken(sample: Record<string, unknown>): Promise<void> {
  await taken({ samples: [{ ...SAMPLE, ...sample }] });
}

async function sampleRefused(sample: Record<string, unknown>): Promise<void> {
  await refused({ samples: [{ ...SAMPLE, ...sample }] });
}

test('4.4: POST /saas/voice/clone with the JWT registers a voice', async () => {
  const { client } = service;
  const answer = await client.request('POST', '/saas/voice/clone', {
    headers: {
      Authorization: `Bearer ${client.target.jwt}`,
      'Content-Type': 'application/json',
      accept: 'application/json',
    },
    body: JSON.stringify({ data: { name: 'Visitor 1', samples: [SAMPLE] } }),
  });
  expectData(answer, 200, voiceShape, '4.4 clone');
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
});

test('4.4: a body without Content-Type application/json is refused', async () => {
  const { client } = service;
  const bytes = new TextEncoder().encode(JSON.stringify({ data: { name: 'Visitor 1', samples: [SAMPLE] } }));
  for (const type of [null, 'text/plain', 'multipart/form-data']) {
    const answer = await client.request('POST', PATHS.clone, {
      credential: client.target.jwt,
      body: bytes,
      ...(type === null ? {} : { headers: { 'content-type': type } }),
    });
    expectRefusal(answer, `clone with Content-Type ${type}`);
  }
});

test('4.4 data.name: letters outside ASCII are accepted or refused, in names of voices and of files', async () => {
  const { client } = service;
  for (const word of ['Jürgen', 'Ольга', '太郎さん']) {
    for (const data of [{ name: word }, { samples: [{ ...SAMPLE, filename: `${word}.wav` }] }]) {
      const answer = await client.clone({ name: 'Visitor 1', samples: [SAMPLE], ...data });
      if (answer.status === 200) expectData(answer, 200, voiceShape, `4.4 clone ${word}`);
      else expectRefusal(answer, word);
    }
  }
});

test('4.4 data.name: whether letters outside ASCII are accepted is a choice of the emulator', async (context) => {
  const steering = service.steering(context, 'the flavour of the regular expressions is not shown');
  for (const unicode_names of [true, false]) {
    await steering.set({ unicode_names });
    const check = unicode_names ? taken : refused;
    await check({ name: 'Jürgen' });
    await check({ samples: [{ ...SAMPLE, filename: '太郎.wav' }] });
    await refused({ name: 'Jürgen/' });
    await refused({ name: '太'.repeat(65) });
  }
  await steering.set({ unicode_names: true });
  await taken({ name: '\u{20000}'.repeat(64) });
});

test('4.4 data: is required', async () => {
  const { client } = service;
  const credential = client.target.jwt;
  for (const json of [{}, { name: 'Visitor 1', samples: [SAMPLE] }, { data: null }, { data: {} }]) {
    expectRefusal(await client.request('POST', PATHS.clone, { credential, json }), JSON.stringify(json));
  }
});

test('4.4 data.name: is required', async () => {
  expectRefusal(await service.client.clone({ samples: [SAMPLE] }), 'without a name');
  for (const name of [null, 7, true, ['Visitor']]) await refused({ name });
});

test('4.4 data.name: 3 and 64 characters are accepted', async () => {
  for (const name of ['abc', 'x'.repeat(4), 'x'.repeat(63), 'x'.repeat(64)]) await taken({ name });
});

test('4.4 data.name: 2 and 65 characters are refused', async () => {
  for (const name of ['', 'a', 'ab', 'x'.repeat(65), 'x'.repeat(5000)]) await refused({ name });
});

test('4.4 data.name: word characters, hyphen, full stop and space are accepted', async () => {
  for (const name of ['aZ09_', '---', '...', '   ', 'Dr. No-2_b']) await taken({ name });
});

test('4.4 data.name: other characters are refused', async () => {
  for (const bad of '/\\@#!?,;:\'"()[]{}<>|&*+=%$^~`\t') await refused({ name: `abc${bad}def` });
});

test('4.4 data.samples: is required', async () => {
  expectRefusal(await service.client.clone({ name: 'Visitor 1' }), 'without samples');
  for (const samples of [null, {}, 'visitor.wav', SAMPLE, ['visitor.wav'], [null]])
    await refused({ samples });
});

test('4.4 data.samples: one sample is accepted', async () => {
  await taken({ samples: [SAMPLE] });
});

test('4.4 data.samples: two samples are refused', async () => {
  const named = (item_id: string) => ({ ...SAMPLE, item_id });
  await refused({ samples: [named('a'), named('b')] });
});

test('4.4 data.samples: an empty array registers nothing to upload', async () => {
  const answer = await service.client.clone({ name: 'Visitor 1', samples: [] });
  if (answer.status !== 200) expectRefusal(answer, 'no sample');
  else expect(answer.json).toMatchObject({ data: { samples: [] } });
});

test('4.4 filename: is required', async () => {
  await refused({ samples: [{ mime_type: 'audio/wav' }] });
  for (const filename of [null, 7, {}]) await sampleRefused({ filename });
});

test('4.4 filename: 3 and 255 characters are accepted', async () => {
  for (const filename of ['a.b', `${'x'.repeat(250)}.wav`, `${'x'.repeat(251)}.wav`])
    await sampleTaken({ filename });
});

test('4.4 filename: 2 and 256 characters are refused', async () => {
  for (const filename of ['', 'ab', `${'x'.repeat(252)}.wav`]) await sampleRefused({ filename });
});

test('4.4 filename: word characters, hyphen, full stop, space, quotes and parentheses are accepted', async () => {
  for (const filename of ['aZ09_-.wav', "Anna's voice (2).wav", 'the "best".wav'])
    await sampleTaken({ filename });
});

test('4.4 filename: other characters are refused', async () => {
  for (const bad of '/\\@#!?,;:[]{}<>|&*+=%$^~`\t') await sampleRefused({ filename: `abc${bad}.wav` });
});

test('4.4 mime_type: is required', async () => {
  await refused({ samples: [{ filename: 'visitor.wav' }] });
});

test('4.4 mime_type: each of the nine listed types is accepted', async () => {
  const audio = ['x-wav', 'wav', 'mp3', 'x-m4a', 'mpeg', 'flac'].map((kind) => `audio/${kind}`);
  const video = ['webm', 'mp4', 'mpeg'].map((kind) => `video/${kind}`);
  for (const mime_type of [...audio, ...video]) await sampleTaken({ mime_type });
});

test('4.4 mime_type: other types are refused', async () => {
  for (const mime_type of ['audio/ogg', 'audio/webm', 'video/ogg', 'text/plain', 'wav', '', 'audio/*', 7]) {
    await sampleRefused({ mime_type });
  }
});

test('4.4 display_name: is optional, a string', async () => {
  await sampleTaken({ display_name: 'Anna / first take' });
  for (const display_name of [7, true, {}]) await sampleRefused({ display_name });
});

test('4.4 sample description: is optional, a string', async () => {
  await sampleTaken({ description: 'recorded in the hall' });
  for (const description of [7, true, {}]) await sampleRefused({ description });
});

test('4.4 item_id: is optional and finds the upload target', async () => {
  const voice = await service.client.cloned({ samples: [{ ...SAMPLE, item_id: 'take-1' }] });
  expect(voice.samples.find((target) => target.item_id === 'take-1')?.url).toBeTypeOf('string');
  for (const item_id of [7, true, {}]) await sampleRefused({ item_id });
});

test('4.4 denoise: is optional, a boolean', async () => {
  for (const denoise of [true, false]) await sampleTaken({ denoise });
  for (const denoise of ['true', 1, {}]) await sampleRefused({ denoise });
});

test('4.4 speech_normalization: is optional, a boolean', async () => {
  for (const speech_normalization of [true, false]) await sampleTaken({ speech_normalization });
  for (const speech_normalization of ['true', 1, {}]) await sampleRefused({ speech_normalization });
});

test('4.4 sample lang_code: is optional, a string', async () => {
  for (const lang_code of ['en', 'pt-br']) await sampleTaken({ lang_code });
  for (const lang_code of [7, true, {}]) await sampleRefused({ lang_code });
});

test('4.4 data.description: is optional, a string', async () => {
  await taken({ description: 'warm and slow' });
  for (const description of [7, true, {}]) await refused({ description });
});

test('4.4 data.labels: is optional, an object', async () => {
  await taken({ labels: { gender: 'male', age_group: 'senior', mood: 'calm' } });
  await taken({ labels: {} });
  for (const labels of ['male', 7, true, ['male']]) await refused({ labels });
});

test('4.4: the response is HTTP 200 with the voice record and one upload target per file', async () => {
  const answer = await service.client.clone({ name: 'Visitor 1', samples: [SAMPLE] });
  const voice = expectData(answer, 200, voiceShape, '4.4 clone') as { samples: unknown[] };
  expect(voice.samples).toHaveLength(1);
});

test('4.4: any other response has the error envelope', async () => {
  const { client } = service;
  expectRefusal(await client.clone({ name: 'Visitor 1', samples: [SAMPLE] }, null), 'without a credential');
  expectRefusal(await client.clone({ name: '!' }), 'invalid');
});
