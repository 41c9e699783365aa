import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { CHECK_LIST } from '../../../src/device/doctor/check-list.ts';
import type { BackendProbe, Probed } from '../../../src/device/doctor/checks/backend/backend-probe.ts';
import type { Configured, Outside } from '../../../src/device/doctor/outside.ts';
import { type Check, runChecks } from '../../../src/device/doctor/report/check.ts';
import { ok, problem, warning } from '../../../src/device/doctor/report/finding.ts';
import { createServers, type ServersParts } from '../../../src/device/doctor/servers.ts';
import { checksAt } from '../../../src/device/doctor/way.ts';
import type { Bus } from '../../../src/ports/bus.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { CheckName, Diagnosis, Finding } from '../../../src/protocol/mqtt/diagnose.ts';
import { deviceTopics } from '../../../src/protocol/mqtt/topics.ts';
import { findOpenssl, makeCertificates } from '../../adapters/mqtt/mosquitto.ts';
import { needs } from '../../needs.ts';

const BUS: Bus = {
  connected: true,
  outbox: { depth: 0, dropped: 0 },
  publish: () => {},
  urgent: () => {},
  reconnect: () => {},
  close: async () => {},
};
const TOKEN = 'token-that-nobody-may-see';
const servers: Server[] = [];
const asked: IncomingMessage[] = [];
afterEach(async () => {
  asked.splice(0);
  await Promise.all(
    servers.splice(0).map((server) => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    }),
  );
});

/** A service that answers every upgrade request in the same way. */
async function serve(
  answer: (response: ServerResponse) => void,
  tls: { key: Buffer; cert: Buffer } | null = null,
): Promise<string> {
  const hear = (request: IncomingMessage, response: ServerResponse): void => {
    asked.push(request);
    answer(response);
  };
  const server = tls === null ? createServer(hear) : createTlsServer(tls, hear);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const refuse =
  (status: number, date = new Date()) =>
  (response: ServerResponse): void => {
    response.sendDate = false;
    response.writeHead(status, { date: date.toUTCString() }).end();
  };

/** The checks of the servers, from outside; topics of other devices are not tried. */
function connectionChecks(parts: ServersParts): Check[] {
  const isolation = { run: async () => {}, facts: () => null };
  const configured = { isolation, servers: createServers(parts) } as unknown as Configured;
  const place = { configured, clock: parts.clock, tells: parts.tells } as Outside;
  const names = ['broker', 'isolation', 'backend', 'stream', 'clock'] as const;
  return checksAt(place, CHECK_LIST, names, ({ outside }) => outside);
}

async function examine(
  streamUrl: string | null,
  more: Partial<Probed> & { ca?: Buffer; clock?: Clock; hosts?: string[] } = {},
) {
  const clock = more.clock ?? createSystemClock();
  const probe: BackendProbe = {
    ask: async () => ({
      answer: { kind: 'probed', session: 'deleted' },
      tookMs: 20,
      streamUrl,
      sight: null,
      ...more,
    }),
    receive: () => false,
    pending: [],
    refused() {},
  };
  const findings = await runChecks(
    connectionChecks({
      clock,
      probe,
      lane: 'main',
      hosts: more.hosts ?? [],
      topics: deviceTopics({ prefix: 'p', tenant: 'museum', device: 'kiosk-01' }),
      join: async () => ({ outcome: ok('joined'), bus: BUS }),
      serviceCa: () => more.ca,
      tells: () => true,
    }),
    { clock },
  );
  expect(JSON.stringify(findings)).not.toContain(TOKEN);
  return (check: string): Finding => {
    const finding = findings.find((one) => one.check === check);
    if (finding === undefined) throw new Error(`nothing about ${check}`);
    return finding;
  };
}

describe('the stream host', () => {
  it.each([
    [401, 'ok'],
    [403, 'ok'],
    [400, 'ok'],
    [426, 'ok'],
    [200, 'warning'],
    [404, 'problem'],
    [503, 'warning'],
  ])('that answers HTTP %i to an upgrade without a token is %s', async (status, verdict) => {
    const host = await serve(refuse(status));
    const of = await examine(`ws://${host}/streaming-api/{random_hash}/v1/stream?token=${TOKEN}`);
    expect(of('stream')).toMatchObject({ verdict, data: { http_status: status } });
    // It requested a stream, with everything except the token.
    expect(asked[0]?.headers).toMatchObject({ upgrade: 'websocket', connection: 'Upgrade' });
    expect(asked[0]?.url).toMatch(/^\/streaming-api\/[\w-]{20,}\/v1\/stream$/);
  });

  it('is a problem when it hangs up or cannot be reached', async () => {
    const host = await serve((response) => response.destroy());
    expect((await examine(`ws://${host}/x`))('stream')).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining('does not answer a request to open'),
    });
    expect((await examine('ws://127.0.0.1:1/x'))('stream')).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining('nothing listens there'),
      fix: expect.stringContaining('streamUrl'),
    });
  });

  it.each([
    ['ws://stream.example/x', 'neither wss://'],
    [`http://stream.example/x?token=${TOKEN}`, 'neither wss://'],
    ['nonsense', 'not a URL'],
  ])('is not contacted at the address %s', async (url, words) => {
    expect((await examine(url))('stream')).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining(words),
    });
  });

  it('is not contacted when the owner has not listed it', async () => {
    const host = await serve(refuse(401));
    const of = await examine(`ws://${host}/x`, { hosts: ['stream.example'] });
    expect(of('stream')).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining(`leads to ${host}, which is not among service.hosts`),
      fix: expect.stringContaining('service.hosts'),
    });
    expect(asked).toEqual([]);
    expect((await examine(`ws://${host}/x`, { hosts: [host] }))('stream').verdict).toBe('ok');
  });

  it('is reported with the fault of the broker when no other check reports that fault', async () => {
    const clock = createSystemClock();
    const checks = connectionChecks({
      clock,
      lane: 'main',
      hosts: [],
      serviceCa: () => undefined,
      tells: (name) => name === 'stream',
      probe: {
        ask: () => Promise.reject(new Error('never asked')),
        receive: () => false,
        pending: [],
        refused() {},
      },
      topics: deviceTopics({ prefix: 'p', tenant: 'museum', device: 'kiosk-01' }),
      join: async () => ({ outcome: problem('no broker', 'Start it.'), bus: null }),
    });
    const findings = (await runChecks(checks, { clock })).filter(({ check }) => check !== 'isolation');
    expect(findings.map(({ check, finding }) => `${check}: ${finding}`).slice(0, 3)).toEqual([
      'broker: no broker',
      'backend: no broker',
      'stream: no broker',
    ]);
  });

  it('is not contacted without an address', async () => {
    expect((await examine(null))('stream').verdict).toBe('skipped');
  });
});

describe('the clock', () => {
  const HOUR_MS = 3_600_000;
  it.each([
    [0, 'ok'],
    [60_000, 'warning'],
    [-60_000, 'warning'],
    [HOUR_MS, 'problem'],
    [-72 * HOUR_MS, 'problem'],
  ])('that is %i ms away from that of the stream host is %s', async (offMs, verdict) => {
    const host = await serve((response) => refuse(401, new Date(Date.now() + offMs))(response));
    expect((await examine(`ws://${host}/x`))('clock')).toMatchObject({
      verdict,
      data: { compared_with: 'the stream host' },
    });
  });

  it('is compared with the backend, which is more exact', async () => {
    const sight = { who: 'the backend', offsetMs: 90_000, uncertaintyMs: 10 };
    const host = await serve(refuse(401));
    expect((await examine(`ws://${host}/x`, { sight }))('clock')).toMatchObject({
      verdict: 'warning',
      finding: expect.stringContaining('90 s behind the backend'),
    });
  });

  it('is a problem when it was never set', async () => {
    const clock = { ...createSystemClock(), wall: () => null };
    expect((await examine(null, { clock }))('clock')).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining('not set'),
    });
  });
});

describe(
  'the certificate of the stream host (skipped without openssl)',
  needs(!findOpenssl() && 'needs openssl'),
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-stream-'));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    let pems: ReturnType<typeof makeCertificates>;
    beforeAll(() => {
      pems = makeCertificates(folder);
    });
    const read = (file: string): Buffer => readFileSync(file);
    const start = (): Promise<string> =>
      serve(refuse(401), { key: read(pems.server.key), cert: read(pems.server.crt) });

    it('is trusted through service.caFile, and causes a warning when it ends soon', async () => {
      const of = await examine(`wss://${await start()}/{random_hash}/stream`, { ca: read(pems.ca.crt) });
      expect(of('stream')).toMatchObject({
        verdict: 'warning',
        finding: expect.stringContaining('is good only until'),
        data: { http_status: 401 },
      });
    });

    it('is a problem when it is not trusted, and gets no request', async () => {
      const of = await examine(`wss://${await start()}/{random_hash}/stream`);
      expect(of('stream')).toMatchObject({
        verdict: 'problem',
        fix: expect.stringContaining('service.caFile'),
      });
      expect(asked).toEqual([]);
    });
  },
);

describe('beside a running agent whose broker allows one client for each login', () => {
  const REFUSED = warning('the broker refuses the doctor', 'ask the agent');
  const about = (check: CheckName): Finding => ({
    check,
    lane: null,
    verdict: 'problem',
    finding: `the agent about ${check}`,
    fix: 'fix it',
    data: {},
  });
  async function beside(
    askAgent: (only: readonly CheckName[]) => Promise<Diagnosis | null>,
    isAgentsAlone = true,
  ) {
    const clock = createSystemClock();
    const findings = await runChecks(
      connectionChecks({
        clock,
        lane: 'main',
        hosts: [],
        askAgent,
        topics: deviceTopics({ prefix: 'p', tenant: 'museum', device: 'kiosk-01' }),
        probe: {
          ask: () => Promise.reject(new Error('there is no bus')),
          receive: () => false,
          pending: [],
          refused() {},
        },
        join: async () => ({ outcome: REFUSED, bus: null, isAgentsAlone }),
        serviceCa: () => undefined,
        tells: () => true,
      }),
      { clock },
    );
    return Object.fromEntries(
      findings.map(({ check, verdict, finding }) => [check, `${verdict}: ${finding}`]),
    );
  }

  it('reports what the agent finds out, and says how isolation can be checked', async () => {
    const asked: (readonly CheckName[])[] = [];
    const found = await beside(async (only) => {
      asked.push(only);
      return { version: '1', verdict: 'problem', checks: only.map(about) };
    });
    for (const check of ['broker', 'backend', 'stream', 'clock'])
      expect(found[check]).toBe(`problem: the agent about ${check}`);
    expect(found['isolation']).toMatch(/^skipped: .*no second client.*systemctl stop dragoman/);
    expect(asked).toEqual([['broker'], ['backend', 'stream', 'clock']]);
  });

  it('asks one thing at a time: the agent allows one diagnosis', async () => {
    let isAsked = false;
    const overlaps: boolean[] = [];
    await beside(async () => {
      overlaps.push(isAsked);
      isAsked = true;
      await new Promise((resolve) => setTimeout(resolve, 5));
      isAsked = false;
      return null;
    });
    expect(overlaps).toEqual([false, false]);
  });

  it('keeps its own findings when the agent does not answer, or is not concerned', async () => {
    expect((await beside(async () => null))['broker']).toBe('warning: the broker refuses the doctor');
    const checks = (['broker', 'backend'] as const).map(about);
    const found = await beside(async () => ({ version: '1', verdict: 'problem', checks }), false);
    expect(found['broker']).toBe('warning: the broker refuses the doctor');
    expect(found['backend']).toMatch(/^skipped/);
  });
});
