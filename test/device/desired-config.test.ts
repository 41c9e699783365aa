import { createHash, createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSignatureReader } from '../../src/adapters/signing/reader.ts';
import { createSigner } from '../../src/adapters/signing/signer.ts';
import { createKeyPair, parsePrivateKey } from '../../src/adapters/signing/signing-keys.ts';
import { canonicalJson } from '../../src/core/canonical-json.ts';
import { asWall } from '../../src/protocol/common/time.ts';
import { type ReportedMessage, reportedSchema } from '../../src/protocol/config-reported.ts';
import { rejected } from '../service-events.ts';
import { createFakeDeps, testConfig } from './fake-deps.ts';
import { createMemoryFile } from './memory-file.ts';
import { watchedSignatures } from './watched-signatures.ts';

const BASE = 'dragoman/v1/museum';
const DESIRED = `${BASE}/kiosk-01/config/desired`;
const LOBBY = `${BASE}/group/lobby/config/desired`;
const CONFIG = (() => {
  const config = testConfig();
  return { ...config, device: { ...config.device, groups: ['lobby'] } };
})();

type Fake = ReturnType<typeof createFakeDeps>;
const optionsOf = (deps: Fake) => deps.agent.lanes[0]?.state.options;

/** The newest `config/reported`, checked against its schema. */
function reported(deps: Fake): ReportedMessage {
  deps.clock.advance(1000);
  const last = deps.published.filter(({ topic }) => topic === `${BASE}/kiosk-01/config/reported`).at(-1);
  expect(last?.options).toMatchObject({ qos: 1, retain: true });
  return reportedSchema.parse(last?.body);
}

describe('config/desired', () => {
  it('takes effect at once, and is reported with its version and a verifiable hash', async () => {
    const deps = createFakeDeps(CONFIG);
    await deps.goLive();
    expect(reported(deps)).toMatchObject({
      version: {},
      errors: [],
      effective: { lanes: [{ echo: 'half-duplex' }] },
    });
    deps.deliver(DESIRED, { version: 3, lanes: [{ id: 'main', echo: 'off', standbyAfter: 7 }] });
    expect(optionsOf(deps)).toMatchObject({ echo: 'off', standbyAfterMs: 7000 });
    const report = reported(deps);
    expect(report).toMatchObject({
      version: { device: 3 },
      errors: [],
      effective: { lanes: [{ echo: 'off', standbyAfter: 7 }] },
    });
    const text = canonicalJson(report.effective, 9) ?? '';
    expect(report.hash).toBe(createHash('sha256').update(text).digest('hex'));
  });

  it('sets the volume, until a command sets another', async () => {
    const deps = createFakeDeps(CONFIG);
    await deps.goLive();
    deps.deliver(DESIRED, { version: 1, lanes: [{ id: 'main', volume: 30 }] });
    expect(optionsOf(deps)?.volume).toBe(30);
    expect(reported(deps).effective).toMatchObject({ lanes: [{ volume: 30 }] });
    deps.command('volume', { id: 'v', args: { percent: 60 } });
    deps.deliver(DESIRED, { version: 2, lanes: [{ id: 'main', volume: 30 }] });
    expect(optionsOf(deps)?.volume).toBe(60);
    deps.deliver(DESIRED, { version: 3, lanes: [{ id: 'main' }] });
    expect(optionsOf(deps)?.volume).toBe(100);
  });

  it('keeps the value in force, and that of a command, when a newer document has a wrong one', async () => {
    const memory = createMemoryFile();
    const deps = createFakeDeps(CONFIG, { desiredFile: memory.file });
    await deps.goLive();
    deps.deliver(DESIRED, { version: 1, lanes: [{ id: 'main', volume: 55 }], log: { level: 'warn' } });
    deps.command('volume', { id: 'v', args: { percent: 70 } });
    deps.deliver(DESIRED, { version: 2, lanes: [{ id: 'main', volume: 150, echo: 'off' }], log: 'x' });
    expect(optionsOf(deps)).toMatchObject({ volume: 70, echo: 'off' });
    // The next document keeps it, too.
    deps.deliver(DESIRED, { version: 3, lanes: [{ id: 'main', volume: -1 }], log: { level: 'loud' } });
    expect(optionsOf(deps)).toMatchObject({ volume: 70, echo: 'half-duplex' });
    const report = reported(deps);
    expect(report.errors.map(({ key }) => key)).toEqual(['lanes[0].volume', 'log.level']);
    expect(report.effective).toMatchObject({ lanes: [{ volume: 55 }], log: { level: 'warn' } });
    deps.clock.advance(60_000);
    await deps.clock.elapse(0);
    const next = createFakeDeps(CONFIG, { desiredFile: memory.file });
    expect(optionsOf(next)?.volume).toBe(55);
    // A key that is taken out has no value of its own any more.
    await next.goLive();
    next.deliver(DESIRED, { version: 4 });
    expect(optionsOf(next)?.volume).toBe(100);
  });

  it('reports a refusal by the service as an error of the document', async () => {
    const deps = createFakeDeps(CONFIG);
    await deps.goLive();
    deps.deliver(DESIRED, { version: 1, lanes: [{ id: 'main', echo: 'off' }] });
    deps.deliver(LOBBY, { version: 4, lanes: [{ id: 'main', standbyAfter: 9, targets: ['qqq'] }] });
    deps.clock.advance(1000);
    deps.service(rejected('unknown language qqq'));
    await deps.clock.elapse(0);
    expect(reported(deps).errors).toMatchObject([
      {
        from: 'group:lobby',
        key: 'lanes[0].targets',
        message: expect.stringContaining('unknown language qqq'),
      },
    ]);
  });

  it('reports again five minutes after the broker refused the report', async () => {
    const deps = createFakeDeps(CONFIG);
    await deps.goLive();
    reported(deps);
    const told = () => deps.published.filter(({ topic }) => topic.endsWith('/config/reported')).length;
    const end = deps.withholdAcknowledgements();
    deps.deliver(DESIRED, { version: 3, lanes: [{ id: 'main', echo: 'off' }] });
    await deps.clock.elapse(1000);
    const refused = told();
    end(false);
    await deps.clock.elapse(299_000);
    expect(told()).toBe(refused);
    await deps.clock.elapse(2000);
    expect(told()).toBe(refused + 1);
    expect(reported(deps)).toMatchObject({ version: { device: 3 } });
    // Accepted: not logged again.
    end(true);
    await deps.clock.elapse(600_000);
    expect(told()).toBe(refused + 1);
    // Refusals during the shutdown are not published again.
    deps.deliver(DESIRED, { version: 4, lanes: [{ id: 'main', echo: 'half-duplex' }] });
    await deps.clock.elapse(1000);
    await deps.agent.stop();
    end(false);
    const last = told();
    await deps.clock.elapse(600_000);
    expect(told()).toBe(last);
  });

  it('changes the languages in the running session', async () => {
    const deps = createFakeDeps(CONFIG);
    await deps.goLive();
    const stream = deps.lastStream();
    deps.deliver(DESIRED, { version: 1, lanes: [{ id: 'main', targets: ['fr'] }] });
    deps.clock.advance(5000);
    expect(deps.lastStream()).toBe(stream);
    expect(stream.calls.some((call) => call.startsWith('runTask') && call.includes('"fr"'))).toBe(true);
  });

  it("applies the groups first, and falls back to them when the device's own document is removed", async () => {
    const deps = createFakeDeps(CONFIG);
    await deps.goLive();
    deps.deliver(DESIRED, { version: 1, lanes: [{ id: 'main', echo: 'off' }] });
    deps.deliver(LOBBY, { version: 8, lanes: [{ id: 'main', echo: 'cancel', standbyAfter: 9 }] });
    expect(optionsOf(deps)).toMatchObject({ echo: 'off', standbyAfterMs: 9000 });
    deps.deliver(DESIRED, '');
    expect(optionsOf(deps)?.echo).toBe('cancel');
    expect(reported(deps).version).toEqual({ 'group:lobby': 8 });
    deps.deliver(LOBBY, '');
    expect(optionsOf(deps)).toMatchObject({ echo: 'half-duplex', standbyAfterMs: 120_000 });
  });

  it('lets the last of two groups win, in the order of the device and not in that of the messages', async () => {
    const deps = createFakeDeps({ ...CONFIG, device: { ...CONFIG.device, groups: ['lobby', 'east'] } });
    await deps.goLive();
    deps.deliver(`${BASE}/group/east/config/desired`, { version: 1, lanes: [{ id: 'main', echo: 'off' }] });
    deps.deliver(LOBBY, { version: 2, lanes: [{ id: 'main', echo: 'cancel', standbyAfter: 9 }] });
    expect(optionsOf(deps)).toMatchObject({ echo: 'off', standbyAfterMs: 9000 });
  });

  it('refuses an oversized document as a whole', async () => {
    const deps = createFakeDeps(CONFIG);
    await deps.goLive();
    for (const [topic, from] of [
      [DESIRED, 'device'],
      [LOBBY, 'group:lobby'],
    ] as const) {
      deps.oversized(topic, 300_000);
      expect(reported(deps).errors).toContainEqual({ from, key: '', message: 'it is too long' });
    }
    deps.deliver(DESIRED, { version: 1 });
    deps.deliver(LOBBY, { version: 1 });
    expect(reported(deps).errors).toEqual([]);
  });

  it('keeps the value of a command until its own key changes', async () => {
    const deps = createFakeDeps(CONFIG);
    await deps.goLive();
    const document = { version: 1, lanes: [{ id: 'main', standbyAfter: 9 }] };
    deps.deliver(DESIRED, document);
    deps.command('echo', { id: 'a', args: { mode: 'off' } });
    deps.deliver(DESIRED, document);
    deps.deliver(DESIRED, { ...document, version: 2 });
    expect(optionsOf(deps)?.echo).toBe('off');
    deps.deliver(DESIRED, { version: 3, lanes: [{ id: 'main', echo: 'cancel' }] });
    expect(optionsOf(deps)?.echo).toBe('cancel');
  });

  it('survives a restart without a broker, and overrides a changed file', async () => {
    const file = createMemoryFile();
    const first = createFakeDeps(CONFIG, { desiredFile: file.file });
    await first.goLive();
    first.deliver(DESIRED, { version: 5, lanes: [{ id: 'main', echo: 'off' }] });
    await new Promise((resolve) => setImmediate(resolve));
    expect(file.text).toContain('"version":5');
    const second = createFakeDeps(CONFIG, { desiredFile: file.file });
    expect(optionsOf(second)?.echo).toBe('off');
    await second.goLive();
    expect(reported(second).version).toEqual({ device: 5 });
    const [lane] = CONFIG.lanes;
    if (lane === undefined) throw new Error('no lane');
    second.agent.apply({ ...CONFIG, lanes: [{ ...lane, echo: 'cancel', standbyAfter: 33 }] });
    expect(optionsOf(second)).toMatchObject({ echo: 'off', standbyAfterMs: 33_000 });
  });

  it.each(['', '{', '{"version":9}', '[]'])(
    'does not stop the start when the kept file holds %j',
    async (text) => {
      const file = createMemoryFile();
      file.fill(text);
      const deps = createFakeDeps(CONFIG, { desiredFile: file.file });
      expect(optionsOf(deps)?.echo).toBe('half-duplex');
    },
  );
});

describe('config/desired of an owner with keys', () => {
  const pair = createKeyPair();
  const signer = createSigner(parsePrivateKey(pair.privatePem, 'k'));
  const { signatures, settle } = watchedSignatures(
    createSignatureReader([{ kid: pair.kid, key: createPublicKey(pair.publicPem) }]),
  );
  const sign = async (
    base: string,
    body: object,
    type: 'dragoman+config' | 'dragoman+token' = 'dragoman+config',
  ) => ({
    jws: await signer.sign(type, base, body, asWall(0)),
  });
  const lanes = (echo: string) => [{ id: 'main', echo }];

  it('is accepted only if signed, for this device or its group, and not older', async () => {
    const deps = createFakeDeps(CONFIG, { signatures });
    await deps.agent.start();
    deps.brokerUp();
    const own = `${BASE}/kiosk-01`;
    const deliver = async (topic: string, body: object): Promise<string | undefined> => {
      deps.deliver(topic, body);
      await settle();
      return optionsOf(deps)?.echo;
    };
    expect(await deliver(DESIRED, { version: 1, lanes: lanes('off') })).toBe('half-duplex');
    expect(await deliver(DESIRED, await sign(`${BASE}/kiosk-02`, { version: 1, lanes: lanes('off') }))).toBe(
      'half-duplex',
    );
    expect(
      await deliver(DESIRED, await sign(own, { version: 1, lanes: lanes('off') }, 'dragoman+token')),
    ).toBe('half-duplex');
    expect(await deliver(LOBBY, await sign(own, { version: 1, lanes: lanes('off') }))).toBe('half-duplex');
    expect(await deliver(DESIRED, await sign(own, { version: 4, lanes: lanes('off') }))).toBe('off');
    expect(await deliver(DESIRED, await sign(own, { version: 3, lanes: lanes('cancel') }))).toBe('off');
    expect(reported(deps).errors.map(({ from, message }) => [from, message])).toEqual([
      ['group:lobby', 'it was signed for another device'],
      ['device', 'version: 3 is older than 4, which is in force'],
    ]);
    // The broker sends it again with each connection.
    expect(await deliver(DESIRED, await sign(own, { version: 4, lanes: lanes('off') }))).toBe('off');
    expect(reported(deps).errors.map(({ from }) => from)).toEqual(['group:lobby']);
    deps.deliver(DESIRED, '');
    expect(optionsOf(deps)?.echo).toBe('off');
    expect(
      await deliver(LOBBY, await sign(`${BASE}/group/lobby`, { version: 1, lanes: lanes('cancel') })),
    ).toBe('off');
    expect(reported(deps).version).toEqual({ device: 4, 'group:lobby': 1 });
  });
});
