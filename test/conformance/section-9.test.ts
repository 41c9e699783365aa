import { expect, test } from 'vitest';
import { useService } from './service.ts';
import { expectRefusal } from './shapes.ts';

const service = useService();

test('9: temporary sessions are created under v2', async () => {
  const { client } = service;
  const credential = client.target.apiKey;
  const json = { intent: 's2s' };
  const answer = await client.request('POST', '/session-storage/v2/sessions', { credential, json });
  expect(answer.status).toBe(201);
  for (const version of ['v1', 'v3', 'V2', 'v22']) {
    const path = `/session-storage/${version}/sessions`;
    expectRefusal(await client.request('POST', path, { credential, json }), path);
  }
});

test('9: the earlier creation path has no version segment', async () => {
  const { client } = service;
  const credential = client.target.apiKey;
  const json = { data: {} };
  const answer = await client.request('POST', '/session-storage/session', { credential, json });
  expect([200, 201]).toContain(answer.status);
  expectRefusal(
    await client.request('POST', '/session-storage/v2/session', { credential, json }),
    'v2/session',
  );
});

test('9: the streaming path carries v1', async () => {
  const { client } = service;
  const { token } = await client.created();
  const at = (version: string) =>
    `${client.target.streaming}/streaming-api/abc/${version}/speech-to-speech/stream?token=${token}`;
  await client.works(at('v1'));
  for (const version of ['v2', 'V1', 'v11']) await client.refused(at(version));
});
