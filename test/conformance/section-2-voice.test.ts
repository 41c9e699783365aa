import { expect, test } from 'vitest';
import { useService } from './service.ts';

const service = useService();
const SAMPLE = { filename: 'visitor.wav', mime_type: 'audio/wav' };

test('2.2 utc_created_at: is the moment of creation', async (context) => {
  const before = service.now(context);
  const { utc_created_at } = await service.client.cloned();
  const zoned = /(Z|[+-]\d\d:?\d\d)$/.test(utc_created_at) ? utc_created_at : `${utc_created_at}Z`;
  expect(Date.parse(zoned)).toBeGreaterThanOrEqual(before - 1000);
  expect(Date.parse(zoned)).toBeLessThanOrEqual(service.now(context) + 1000);
});

test('2.2 voice_id: is a UUID, another one for each voice', async () => {
  const first = await service.client.cloned();
  const second = await service.client.cloned();
  expect(first.voice_id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
  expect(second.voice_id).not.toBe(first.voice_id);
});

test('2.2 user_id: is a string, the same for the voices of one account', async () => {
  const first = await service.client.cloned();
  const second = await service.client.cloned();
  expect(first.user_id).toBeTypeOf('string');
  expect(second.user_id).toBe(first.user_id);
});

test('2.2 name: is the one that was sent', async () => {
  expect((await service.client.cloned({ name: 'Museum guide-2.b_C' })).name).toBe('Museum guide-2.b_C');
});

test('2.2 voice_type: is instantly_cloned or instantly_cloned_builtin', async () => {
  expect(['instantly_cloned', 'instantly_cloned_builtin']).toContain(
    (await service.client.cloned()).voice_type,
  );
});

test('2.2 processing_status: is created, pending, ready or failed', async () => {
  const { processing_status } = await service.client.cloned();
  expect(['created', 'pending', 'ready', 'failed']).toContain(processing_status);
});

test('2.2 description: is optional and the one that was sent', async () => {
  expect((await service.client.cloned({ description: 'warm, slow' })).description).toBe('warm, slow');
  expect((await service.client.cloned()).description ?? '').toBe('');
});

test('2.2 labels: are optional and take gender, age_group and mood', async () => {
  const labels = { gender: 'female', age_group: 'adult', mood: 'calm' };
  expect((await service.client.cloned({ labels })).labels).toMatchObject(labels);
  expect((await service.client.cloned()).labels ?? {}).toEqual({});
});

test('2.2 lang_code: is optional, a string where present', async () => {
  const { lang_code } = await service.client.cloned({ samples: [{ ...SAMPLE, lang_code: 'en' }] });
  expect(lang_code ?? '').toBeTypeOf('string');
});

test('2.2 samples: hold the upload target', async () => {
  expect((await service.client.cloned()).samples).toHaveLength(1);
});

test('2.3 item_id: echoes the one of the request', async () => {
  const item_id = 'item_1';
  const { samples } = await service.client.cloned({ samples: [{ ...SAMPLE, item_id }] });
  expect(samples[0]?.item_id).toBe(item_id);
});

test('2.3 item_id: has 1 to 36 characters, also where none was sent', async () => {
  const without = await service.client.cloned();
  expect(without.samples[0]?.item_id.length).toBeGreaterThanOrEqual(1);
  expect(without.samples[0]?.item_id.length).toBeLessThanOrEqual(36);
  for (const item_id of ['x', 'x'.repeat(36)]) {
    const { samples } = await service.client.cloned({ samples: [{ ...SAMPLE, item_id }] });
    expect(samples[0]?.item_id).toBe(item_id);
  }
  const answer = await service.client.clone({
    name: 'Visitor 1',
    samples: [{ ...SAMPLE, item_id: 'x'.repeat(37) }],
  });
  expect(answer.status, 'an item_id that could not be echoed').toBeGreaterThanOrEqual(400);
});

test('2.3 blob_id: is a string, another one for each upload', async () => {
  const first = await service.client.cloned();
  const second = await service.client.cloned();
  expect(first.samples[0]?.blob_id).toBeTypeOf('string');
  expect(second.samples[0]?.blob_id).not.toBe(first.samples[0]?.blob_id);
});

test('2.3 url: is an address of 1 to 2083 characters that takes a POST', async () => {
  const url = (await service.client.cloned()).samples[0]?.url ?? '';
  expect(url.length).toBeGreaterThanOrEqual(1);
  expect(url.length).toBeLessThanOrEqual(2083);
  expect(new URL(url).protocol).toMatch(/^https?:$/);
});

test('2.3 form_data: is an object of form fields', async () => {
  const { samples } = await service.client.cloned();
  expect(samples[0]?.form_data).toBeTypeOf('object');
  for (const value of Object.values(samples[0]?.form_data ?? {})) {
    expect(['string', 'number', 'boolean']).toContain(typeof value);
  }
});
