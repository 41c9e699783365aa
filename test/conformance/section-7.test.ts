import { expect, test } from 'vitest';
import { type Refusal, reasonsIn } from './client.ts';
import { useService } from './service.ts';
import { expectError, expectRefusal } from './shapes.ts';
import type { Steering } from './steering.ts';
import { isNotFound, WAIT_MS } from './stream.ts';

const service = useService();
const DELIVERIES = ['http', 'message', 'close'] as const;

/** The envelope of a refused upgrade. */
function envelopeOf(refusal: Refusal): ReturnType<typeof expectError> {
  const { status, text, json } = refusal.upgrade ?? { status: 0, text: '', json: undefined };
  return expectError({ status, text, json, headers: new Headers() }, 'refused upgrade');
}

/** Expects that the refusal names exactly this reason in the chosen delivery. */
function expectReason(refusal: Refusal, reason: string, published?: { code: number; http: number }): void {
  expect(reasonsIn(refusal.said), refusal.said).toEqual([reason]);
  if (refusal.delivery === 'http') {
    const error = envelopeOf(refusal);
    if (published === undefined) return;
    expect([refusal.status, error.status, error.error_code]).toEqual([
      published.http,
      published.http,
      published.code,
    ]);
  }
  if (refusal.delivery === 'message' && published !== undefined)
    expect(refusal.said).toContain(String(published.code));
}

/** Refuses `attempt` once in each delivery. */
async function inEachDelivery(
  steering: Steering,
  attempt: () => Promise<Refusal>,
  check: (refusal: Refusal) => void,
): Promise<void> {
  for (const delivery of DELIVERIES) {
    await steering.set({ refusal_delivery: delivery });
    const refusal = await attempt();
    expect(refusal.delivery).toBe(delivery);
    check(refusal);
  }
}

const WHY = 'how a refusal is delivered (not shown) is an option';
const USED = { code: 202100, http: 409 };
const DURATION = { code: 202102, http: 410 };

test('7: an HTTP error body is the one of 2.4', async () => {
  const { client } = service;
  expectRefusal(await client.create({ intent: 'none' }), 'create');
  expectRefusal(await client.clone({}), 'clone');
});

test('7 session_already_used: a single-use token is refused a second time', async () => {
  const { client } = service;
  const { id, token } = await client.created({ single_use: true });
  await (await client.works(token)).end();
  await client.sessionWhen(id, (session) => session.status === 'used');
  expectReason(await client.refused(token), 'session_already_used', USED);
});

test('7 session_already_used: comes also while the first stream still runs', async () => {
  const { client } = service;
  const { token } = await client.created({ single_use: true });
  const first = await client.works(token);
  expectReason(await client.refused(token), 'session_already_used', USED);
  await first.getTask();
  expect(first.isClosed, 'the first stream continues').toBe(false);
});

test('7 session_already_used: comes in each delivery', async (context) => {
  const steering = service.steering(context, WHY);
  const { client } = service;
  const { token } = await client.created({ single_use: true });
  await client.works(token);
  await inEachDelivery(
    steering,
    () => client.refused(token),
    (refusal) => expectReason(refusal, 'session_already_used', USED),
  );
});

test('7 max_duration_reached: ends a stream that reached max_session_duration_seconds', async (context) => {
  const steering = service.steering(context, 'the shortest maximum is 60 s');
  const { client } = service;
  const stream = await client.works((await client.created({ max_session_duration_seconds: 60 })).token);
  await steering.advance(61_000);
  await stream.closes();
  expect(stream.messages.at(-1)?.type).toBe('max_duration_reached');
});

test('7 max_duration_reached: is 202102 and HTTP 410, in each delivery', async (context) => {
  const steering = service.steering(context, WHY);
  const { client } = service;
  const { token } = await client.created();
  await inEachDelivery(
    steering,
    async () => {
      await steering.refuseNext('max_duration_reached');
      return client.refused(token);
    },
    (refusal) => expectReason(refusal, 'max_duration_reached', DURATION),
  );
  await client.works(token);
});

test('7 intent_mismatch: refuses a token at the endpoint of another product', async () => {
  const { client } = service;
  for (const intent of ['stt', 'tts']) {
    expectReason(await client.refused((await client.created({ intent })).token), 'intent_mismatch');
  }
});

test('7 intent_mismatch: comes in each delivery', async (context) => {
  const steering = service.steering(context, WHY);
  const { client } = service;
  const { token } = await client.created({ intent: 'stt' });
  await inEachDelivery(
    steering,
    () => client.refused(token),
    (refusal) => expectReason(refusal, 'intent_mismatch'),
  );
});

test('7 connection_type_mismatch: refuses a token over another transport', async () => {
  const { client } = service;
  const { token } = await client.created({ connection_type: 'webrtc' });
  expectReason(await client.refused(token), 'connection_type_mismatch');
});

test('7 connection_type_mismatch: comes in each delivery', async (context) => {
  const steering = service.steering(context, WHY);
  const { client } = service;
  const { token } = await client.created({ connection_type: 'webrtc' });
  await inEachDelivery(
    steering,
    () => client.refused(token),
    (refusal) => expectReason(refusal, 'connection_type_mismatch'),
  );
});

test('7 connect_window_expired: refuses a token after connect_by, in each delivery', async (context) => {
  const steering = service.steering(context, 'a connect window lasts 60 s at least');
  const { client } = service;
  const { token } = await client.created({ expires_in_seconds: 60 });
  await steering.advance(61_000);
  await inEachDelivery(
    steering,
    () => client.refused(token),
    (refusal) => expectReason(refusal, 'connect_window_expired'),
  );
});

test("7 session_limit_reached: refuses a connection above the plan's limit, in each delivery", async (context) => {
  const steering = service.steering(context, 'the concurrent session limit is not shown');
  const { client } = service;
  await steering.set({ concurrent: 2 });
  const running = [
    await client.works((await client.created()).token),
    await client.works(client.target.apiKey),
  ];
  const { token } = await client.created();
  await inEachDelivery(
    steering,
    () => client.refused(token),
    (refusal) => expectReason(refusal, 'session_limit_reached'),
  );
  await running[0]?.end();
  await steering.set({ refusal_delivery: 'http' });
  await client.works(token);
});

test('7 pending_sessions_limit_reached: refuses a create request while the cap is reached', async (context) => {
  const steering = service.steering(context, 'the cap on unused sessions is not shown');
  const { client } = service;
  const unused = (await client.list()).filter((session) => session.status === 'pending').length;
  await steering.set({ pending: unused + 1 });
  await client.created();
  const answer = await client.create({ intent: 's2s' });
  expectRefusal(answer, 'create above the cap');
  expect(answer.text).toContain('pending_sessions_limit_reached');
  expect(answer.text).not.toMatch(/"session_limit_reached/);
});

test('7 session_revoked: ends the running stream of a revoked session', async () => {
  const { client } = service;
  const { id, token } = await client.created();
  const stream = await client.works(token);
  await client.revoke(id);
  await stream.closes(service.heartbeatMs + WAIT_MS);
  expect(stream.messages.at(-1)?.type).toBe('session_revoked');
});

test('7: a token of a revoked session is refused in each delivery', async (context) => {
  const steering = service.steering(context, WHY);
  const { client } = service;
  const { id, token } = await client.created();
  await client.revoke(id);
  await inEachDelivery(
    steering,
    () => client.refused(token),
    (refusal) => {
      if (refusal.delivery === 'http') envelopeOf(refusal);
    },
  );
});

test('7: a wrong token is refused in each delivery', async (context) => {
  const steering = service.steering(context, WHY);
  await inEachDelivery(
    steering,
    () => service.client.refused('wrong'),
    (refusal) => {
      expect(reasonsIn(refusal.said), 'no rule of a session was broken').toEqual([]);
      if (refusal.delivery === 'http') envelopeOf(refusal);
    },
  );
});

test('7: an account without balance refuses in each delivery', async (context) => {
  const steering = service.steering(context, 'the account cannot be emptied from outside');
  await steering.set({ account: 'out_of_balance' });
  await inEachDelivery(
    steering,
    () => service.client.refused(service.client.target.apiKey),
    (refusal) => {
      if (refusal.delivery === 'http') envelopeOf(refusal);
    },
  );
});

test('7 NOT_FOUND: answers get_task before the pipeline starts', async () => {
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  expect(isNotFound(await stream.getTask())).toBe(true);
});
