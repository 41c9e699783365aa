import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Diagnosis, diagnosisSchema, type Finding } from '../../src/protocol/mqtt/diagnose.ts';
import { keysNotSnake } from '../snake-case.ts';
import { BASE, createFakeDeps, type FakeDeps, TOKEN, testConfig } from './fake-deps.ts';

let deps: FakeDeps;
afterEach(async () => {
  const stopped = deps.agent.stop();
  await deps.clock.elapse(20_000);
  await stopped;
});

/** Lets pending work run until it waits for something. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

const STREAM_URL = 'ws://127.0.0.1:1/{random_hash}/stream';

async function live(config = testConfig()): Promise<void> {
  deps = createFakeDeps(config);
  await deps.goLive();
}

/** Longer than any wait of the checks; then time stops, so that a slow network of the test machine is not late. */
const PASSES = 60;

/** Lets time pass, with constant speech, until the final answer. */
async function answerTo(speak: () => void = () => deps.speak()): Promise<Record<string, unknown>> {
  for (let step = 0; step < 4000; step++) {
    const final = deps.answers('diagnose').find(({ status }) => status !== 'accepted');
    if (final !== undefined) return final;
    if (step < PASSES) speak();
    await settle();
  }
  throw new Error('no final answer');
}

const diagnosisOf = (answer: Record<string, unknown>): Diagnosis => {
  expect(answer, JSON.stringify(answer)).toMatchObject({ status: 'ok' });
  expect(keysNotSnake(answer)).toEqual([]);
  return diagnosisSchema.strict().parse(answer['data']);
};
const of = (diagnosis: Diagnosis, check: string): Finding => {
  const finding = diagnosis.checks.find((one) => one.check === check);
  if (finding === undefined) throw new Error(`nothing about ${check}`);
  return finding;
};
const trialRequests = () => deps.sent('token/req').filter(({ body }) => body['probe'] === true);
/** Answers the trial as this project's backend does. */
const confirmTrial = (): void =>
  deps.deliver(`${BASE}/token/res`, {
    ts: '2026-01-15T09:00:00.000Z',
    id: trialRequests().at(-1)?.body['id'],
    ok: true,
    probe: { session: 'deleted' },
    stream_url: STREAM_URL,
  });

describe('the command diagnose', () => {
  it('is accepted, and then answered once with the findings', async () => {
    await live();
    deps.command('diagnose', { id: 'd1' });
    expect(deps.answers('diagnose')).toMatchObject([{ id: 'd1', status: 'accepted' }]);
    await settle();
    expect(trialRequests()).toHaveLength(1);
    confirmTrial();
    const diagnosis = diagnosisOf(await answerTo());
    expect(diagnosis.version).toBe('9.9.9');
    expect(of(diagnosis, 'broker')).toMatchObject({ verdict: 'ok', data: { login_as: 'agent' } });
    expect(of(diagnosis, 'isolation')).toMatchObject({
      verdict: 'skipped',
      finding: expect.stringContaining('could disconnect the running agent'),
    });
    expect(of(diagnosis, 'backend')).toMatchObject({ verdict: 'ok', data: { answer: 'probed' } });
    // No client listens there.
    expect(of(diagnosis, 'stream')).toMatchObject({ verdict: 'problem', data: { port: 1 } });
    expect(of(diagnosis, 'capture')).toMatchObject({
      verdict: 'ok',
      lane: 'main',
      data: { rate_hz: 16_000, measured_hz: 16_000 },
    });
    expect(of(diagnosis, 'playback')).toMatchObject({ verdict: 'ok', lane: 'main' });
    expect(deps.answers('diagnose').map(({ status }) => status)).toEqual(['accepted', 'ok']);
    // It opened no second microphone and played nothing.
    expect([deps.openMicrophones, deps.played.length]).toEqual([1, 0]);
  });

  it('runs only the requested checks, and leaves the lane alone', async () => {
    await live();
    const phase = deps.agent.lanes[0]?.phase;
    deps.command('diagnose', { id: 'd1', args: { only: ['capture', 'playback'] } });
    const diagnosis = diagnosisOf(await answerTo());
    expect(diagnosis.checks.map(({ check }) => check)).toEqual(['capture', 'playback']);
    expect(trialRequests()).toEqual([]);
    expect(deps.agent.lanes[0]?.phase).toBe(phase);
  });

  it('drops the token of a backend that does not know trials, and does not publish it', async () => {
    await live();
    deps.command('diagnose', { id: 'd1', args: { only: ['backend'] } });
    await settle();
    deps.deliver(`${BASE}/token/res`, {
      id: trialRequests()[0]?.body['id'],
      ok: true,
      stream_url: STREAM_URL,
      session: deps.session({ token: `${TOKEN}-trial` }),
    });
    const answer = await answerTo();
    expect(of(diagnosisOf(answer), 'backend')).toMatchObject({ verdict: 'ok', data: { answer: 'granted' } });
    expect(JSON.stringify([deps.published, deps.logged])).not.toContain(`${TOKEN}-trial`);
    expect(deps.streams).toHaveLength(1);
  });

  it.each([
    ['device_not_allowed', true, 'problem'],
    ['too_many_requests', false, 'warning'],
  ])('reports a denial of the backend: %s, final: %s, is a %s', async (code, final, verdict) => {
    await live();
    deps.command('diagnose', { id: 'd1', args: { only: ['backend', 'stream'] } });
    await settle();
    deps.deliver(`${BASE}/token/res`, {
      id: trialRequests()[0]?.body['id'],
      ok: false,
      error: { code, title: 'Denied', detail: 'so it is', final, retry_after_s: 30 },
    });
    const diagnosis = diagnosisOf(await answerTo());
    expect(of(diagnosis, 'backend')).toMatchObject({ verdict, finding: expect.stringContaining('so it is') });
    expect(of(diagnosis, 'stream').verdict).toBe('skipped');
  });

  it('reports a backend that does not answer', async () => {
    await live();
    deps.command('diagnose', { id: 'd1', args: { only: ['backend'] } });
    const diagnosis = diagnosisOf(await answerTo());
    expect(of(diagnosis, 'backend')).toMatchObject({ verdict: 'problem', data: { answer: 'silent' } });
  });

  it('reports a broker that refuses its requests', async () => {
    await live();
    const refuse = (): void =>
      deps.bus.listener.lost?.({ topic: `${BASE}/token/req`, why: 'refused', reason: 'Not authorized' });
    // The refusal is old: the request may be allowed by now.
    refuse();
    deps.command('diagnose', { id: 'd1', args: { only: ['backend'] } });
    await settle();
    refuse();
    const diagnosis = diagnosisOf(await answerTo());
    expect(of(diagnosis, 'backend')).toMatchObject({ verdict: 'problem', data: { answer: 'unasked' } });
    expect(of(diagnosis, 'backend').finding).toContain(`does not let this device publish ${BASE}/token/req`);
  });

  it("ignores answers to other devices' trials and to lanes", async () => {
    await live();
    deps.deliver(`${BASE}/token/res`, {
      id: 'doctor-of-another-process',
      ok: true,
      probe: { session: 'deleted' },
      stream_url: STREAM_URL,
    });
    expect(JSON.stringify(deps.logged)).not.toContain('malformed token answer');
    expect(deps.agent.lanes[0]?.phase).toBe('live');
  });

  it('reports a failed microphone, and a silent one', async () => {
    await live();
    deps.command('diagnose', { id: 'd1', args: { only: ['capture'] } });
    const silent = diagnosisOf(await answerTo(() => deps.clock.advance(320)));
    expect(of(silent, 'capture')).toMatchObject({ verdict: 'problem' });
    deps.microphoneFault({ code: 'lost', message: 'the microphone was unplugged' });
    deps.command('diagnose', { id: 'd2', args: { only: ['capture'] } });
    for (let step = 0; step < 40; step++) {
      deps.clock.advance(320);
      await settle();
    }
    const lost = deps.answers('diagnose').find(({ id, status }) => id === 'd2' && status === 'ok');
    expect(of(diagnosisOf(lost ?? {}), 'capture')).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining('unplugged'),
    });
  });

  it('reports that a stopped lane does not listen', async () => {
    deps = createFakeDeps(testConfig({ start: 'command' }));
    await deps.agent.start();
    deps.brokerUp();
    deps.command('diagnose', { id: 'd1', args: { only: ['capture'] } });
    const diagnosis = diagnosisOf(await answerTo(() => deps.clock.advance(320)));
    expect(of(diagnosis, 'capture')).toMatchObject({ verdict: 'skipped' });
  });

  it('runs only once at a time', async () => {
    await live();
    deps.command('diagnose', { id: 'd1', args: { only: ['capture'] } });
    deps.command('diagnose', { id: 'd2', args: { only: ['capture'] } });
    await answerTo();
    await new Promise((resolve) => setImmediate(resolve));
    const finals = () => deps.answers('diagnose').filter(({ status }) => status !== 'accepted');
    const untilFinals = async (count: number): Promise<void> => {
      for (let step = 0; step < 4000 && finals().length < count; step++) {
        if (step < PASSES) deps.speak();
        await settle();
      }
    };
    await untilFinals(2);
    expect(finals()).toMatchObject([
      { id: 'd2', status: 'error', error: { code: 'busy' } },
      { id: 'd1', status: 'ok' },
    ]);
    // It can run again afterwards.
    deps.command('diagnose', { id: 'd3', args: { only: ['playback'] } });
    await untilFinals(3);
    expect(finals().at(-1)).toMatchObject({ id: 'd3', status: 'ok' });
  });

  it('is answered once when the agent ends before the checks', async () => {
    await live();
    deps.command('diagnose', { id: 'd1' });
    const stopped = deps.agent.stop();
    await deps.clock.elapse(20_000);
    await stopped;
    expect(deps.answers('diagnose')).toMatchObject([
      { id: 'd1', status: 'accepted' },
      { id: 'd1', status: 'error', error: { code: 'stopping' } },
    ]);
  });

  it.each([[{ only: [] }], [{ only: ['brokr'] }], [{ all: true }]])('refuses %j', async (args) => {
    await live();
    deps.command('diagnose', { id: 'd1', args });
    expect(deps.answers('diagnose')).toMatchObject([{ status: 'error', error: { code: 'invalid_args' } }]);
  });

  it('checks the machine too when it runs on one', async () => {
    const folder = mkdtempSync(`${tmpdir()}/dragoman-diagnose-`);
    onTestFinished(() => rmSync(folder, { recursive: true }));
    deps = createFakeDeps(testConfig({}, { service: { hosts: ['service.example'] } }), {
      machine: {
        env: {},
        kernel: { proc: folder, sys: folder },
        run: async () => ({ ok: false, missing: true, text: '' }),
        soundAccess: () => ({ hasSound: false, user: 'test', isInAudio: false, cards: [] }),
      },
    });
    await deps.goLive();
    deps.command('diagnose', { id: 'd1', args: { only: ['configuration', 'memory', 'service', 'power'] } });
    const diagnosis = diagnosisOf(await answerTo());
    expect(diagnosis.checks.map(({ check, verdict }) => `${check} ${verdict}`)).toEqual([
      'configuration ok',
      'memory ok',
      'service skipped',
      'power skipped',
    ]);
  });
});
