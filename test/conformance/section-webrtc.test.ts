import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { reasonsIn } from './client.ts';
import { useService } from './service.ts';
import { expectError } from './shapes.ts';

const service = useService();

/** The WebRTC addresses in sessions. */
async function addresses(): Promise<{ webrtc: string; legacy: string }> {
  const { client } = service;
  const session = await client.created({ connection_type: 'webrtc' });
  const legacy = (await client.legacy()) as unknown as { webrtc_url?: string };
  const webrtc = session.webrtc?.url ?? '';
  return { webrtc, legacy: legacy.webrtc_url ?? webrtc };
}

function withToken(address: string, token: string): string {
  const url = new URL(address);
  url.searchParams.set('token', token);
  return url.href;
}

test('7 connection_type_mismatch: refuses a WebSocket token at the address of WebRTC, with a message', async () => {
  const { client } = service;
  const { webrtc } = await addresses();
  const { token } = await client.created();
  const refusal = await client.refused(withToken(webrtc, token));
  expect(reasonsIn(refusal.said), refusal.said).toEqual(['connection_type_mismatch']);
  expect(refusal.said, 'a sentence, not only a code').toMatch(/token is for another transport/);
  await client.works(token);
});

test('7 connection_type_mismatch: refuses this token over plain HTTP, and in each delivery', async (context) => {
  const steering = service.steering(context, 'how a refusal is delivered (not shown) is an option');
  const { client } = service;
  const { webrtc } = await addresses();
  const { token } = await client.created();
  const answer = await client.request('GET', withToken(webrtc.replace(/^ws/, 'http'), token));
  expect(expectError(answer, 'GET').detail).toMatch(/connection_type_mismatch.*WebSocket/);
  for (const refusal_delivery of ['message', 'close'] as const) {
    await steering.set({ refusal_delivery });
    const refusal = await client.refused(withToken(webrtc, token));
    expect(refusal.delivery).toBe(refusal_delivery);
    expect(reasonsIn(refusal.said)).toEqual(['connection_type_mismatch']);
  }
});

test('2.1 webrtc: every WebRTC address reports that WebRTC is missing', async (context) => {
  service.steering(context, 'a service may well speak WebRTC');
  const { client } = service;
  const { webrtc, legacy } = await addresses();
  const token = (await client.created({ connection_type: 'webrtc' })).token;
  const { publisher } = await client.legacy();
  const keys = [token, publisher, client.target.apiKey, 'unknown', ''];
  for (const address of [webrtc, legacy, `${webrtc}/`, `${webrtc}/rtc`, `${webrtc}/rtc/validate`]) {
    for (const key of keys) {
      const url = key === '' ? address : withToken(address, key);
      const refusal = await client.refused(url);
      expect(refusal.said, `upgrade ${address}`).toMatch(/WebRTC: .*no signalling and no media/);
      for (const method of ['GET', 'POST', 'PATCH', 'DELETE']) {
        const answer = await client.request(method, url.replace(/^ws/, 'http'));
        expect(expectError(answer, `${method} ${address}`).detail).toMatch(/no signalling and no media/);
      }
    }
  }
});

test('2.1 webrtc: no other address counts as a WebRTC address', async () => {
  const { client } = service;
  const { webrtc } = await addresses();
  const path = `${webrtc}${randomBytes(3).toString('hex')}`;
  const refusal = await client.refused(path);
  expect(refusal.said).not.toContain('connection_type_mismatch');
});
