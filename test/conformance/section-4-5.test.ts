import { expect, test } from 'vitest';
import { PATHS } from './client.ts';
import { useService } from './service.ts';
import { type Answer, expectRefusal, type UploadTargetObject } from './shapes.ts';
import { makeSpeech, makeWav } from './speech.ts';

const service = useService();
const WAV = makeWav(makeSpeech(1));

type Field = readonly [string, string | Blob];

/** Uploads a form with its fields in exactly this order, because 4.5 prescribes the order. */
function upload(url: string, fields: readonly Field[]): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of fields) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, 'visitor.wav');
  }
  return service.client.request('POST', url, { body: form });
}

async function newTarget(): Promise<{ target: UploadTargetObject; fields: Field[]; file: Field }> {
  const target = (await service.client.cloned()).samples[0] as UploadTargetObject;
  const fields = Object.entries(target.form_data).map(([key, value]) => [key, String(value)] as const);
  return { target, fields, file: ['file', new Blob([WAV], { type: 'audio/wav' })] };
}

function expectTaken(answer: Answer): void {
  expect(answer.status, answer.text.slice(0, 300)).toBeGreaterThanOrEqual(200);
  expect(answer.status, answer.text.slice(0, 300)).toBeLessThan(300);
}

/** Checks only the status, because the specification gives no shape for the answer to an upload. */
function expectNotTaken(answer: Answer): void {
  expect(answer.status, answer.text.slice(0, 300)).toBeGreaterThanOrEqual(400);
  expect(answer.status, answer.text.slice(0, 300)).toBeLessThan(500);
}

test('4.5: every form_data field and then the file, as multipart/form-data, are accepted', async () => {
  const { target, fields, file } = await newTarget();
  expectTaken(await upload(target.url, [...fields, file]));
});

test('4.5: an empty file is refused, and the target still takes a real one', async () => {
  const { target, fields, file } = await newTarget();
  expectNotTaken(await upload(target.url, [...fields, ['file', new Blob([])]]));
  expectTaken(await upload(target.url, [...fields, file]));
});

test('4.5: the upload target is pre-signed and needs no credential', async () => {
  const { target, fields, file } = await newTarget();
  expect(target.url).not.toContain(service.client.target.jwt);
  expectTaken(await upload(target.url, [...fields, file]));
});

test('4.5: a missing form_data field is refused', async (context) => {
  const { fields } = await newTarget();
  if (fields.length === 0) context.skip('this service sends no form_data');
  for (const [missing] of fields) {
    const fresh = await newTarget();
    const others = fresh.fields.filter(([key]) => key !== missing);
    expectNotTaken(await upload(fresh.target.url, [...others, fresh.file]));
  }
});

test('4.5: a changed form_data value is refused', async (context) => {
  const { fields } = await newTarget();
  if (fields.length === 0) context.skip('this service sends no form_data');
  for (const [changed] of fields) {
    const fresh = await newTarget();
    const others = fresh.fields.map(([key, value]) => [key, key === changed ? `${value}x` : value] as Field);
    expectNotTaken(await upload(fresh.target.url, [...others, fresh.file]));
  }
});

test('4.5: the form_data of another target is refused', async (context) => {
  const first = await newTarget();
  const second = await newTarget();
  if (JSON.stringify(first.fields) === JSON.stringify(second.fields))
    context.skip('form_data holds nothing of its own');
  expectNotTaken(await upload(first.target.url, [...second.fields, first.file]));
});

test('4.5: a file that is not the last field is refused', async (context) => {
  const { target, fields, file } = await newTarget();
  if (fields.length === 0) context.skip('this service sends no form_data');
  expectNotTaken(await upload(target.url, [file, ...fields]));
  const fresh = await newTarget();
  const [last] = fresh.fields.slice(-1);
  expectNotTaken(await upload(fresh.target.url, [...fresh.fields.slice(0, -1), fresh.file, last as Field]));
});

test('4.5: a form without a file is refused', async () => {
  const { target, fields } = await newTarget();
  expectNotTaken(await upload(target.url, fields));
});

test('4.5: a file in a field that is not called file is refused', async () => {
  const { target, fields, file } = await newTarget();
  expectNotTaken(await upload(target.url, [...fields, ['upload', file[1]]]));
});

test('4.5: a body that is not multipart/form-data is refused', async () => {
  const { client } = service;
  const { target } = await newTarget();
  expectNotTaken(await client.request('POST', target.url, { json: target.form_data }));
  expectNotTaken(
    await client.request('POST', target.url, { body: 'file', headers: { 'content-type': 'audio/wav' } }),
  );
  const broken = { body: '--x\r\nnothing', headers: { 'content-type': 'multipart/form-data; boundary=x' } };
  expectNotTaken(await client.request('POST', target.url, broken));
});

test('4.6: GET /saas/voice/m/{voice_id} returns the processing status', async () => {
  const { client } = service;
  const { voice_id } = await client.cloned();
  const answer = await client.request('GET', `/saas/voice/m/${voice_id}`, { credential: client.target.jwt });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.text).toMatch(/"(created|pending|ready|failed)"/);
});

test('4.6: the status of an unknown voice is an error', async () => {
  const { client } = service;
  const path = PATHS.voice('00000000-0000-4000-8000-000000000000');
  expectRefusal(await client.request('GET', path, { credential: client.target.jwt }), 'unknown voice');
});
