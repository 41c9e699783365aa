/** Connections by name over slow and broken lines, in a network of its own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { needs } from '../../needs.ts';
import { createProbe, type FarNetwork, farNetworkTrouble, type ProbeOptions } from './far-network.ts';

const trouble = farNetworkTrouble();

const SLOW: FarNetwork = { delayMs: 300, dropped: [] };
const [IPV4, IPV6] = ['10.9.0.2', 'fd00:9::2'];
/** An address to which there is no route. */
const NO_ROUTE = '2001:db8::1';
const NAT64 = '64:ff9b::a09:2';

describe('a connection by name', needs(trouble), () => {
  let probe: Awaited<ReturnType<typeof createProbe>>;
  beforeAll(async () => {
    probe = await createProbe();
  });
  afterAll(() => probe.close());

  const run = (network: FarNetwork, options: Partial<ProbeOptions> & { addresses: string[] }) =>
    probe.run(network, { name: 'broker.example', lookupMs: 0, ...options });
  const mostMs = (ms: number) =>
    Object.fromEntries(
      ['mqtt', 'mqtts', 'wss', 'stream', 'http', 'clock'].map((kind) => [
        kind,
        expect.toSatisfy((took: unknown) => typeof took === 'number' && took < ms, `under ${ms} ms`),
      ]),
    );

  it.concurrent.each<[string, FarNetwork, string[], number, string]>([
    ['IPv6 has no route and IPv4 takes 600 ms', SLOW, [IPV4, NO_ROUTE], 6000, IPV4],
    ['only IPv6 works and takes 600 ms', SLOW, [IPV6], 6000, IPV6],
    ['NAT64 gives the only address and takes 600 ms', SLOW, [NAT64], 6000, NAT64],
    ['IPv4 drops packets', { delayMs: 150, dropped: [IPV4] }, [IPV4, IPV6], 7000, IPV6],
    ['IPv6 drops packets', { delayMs: 10, dropped: [IPV6] }, [IPV4, IPV6], 3000, IPV4],
  ])('is up when %s', async (_, network, addresses, ms, address) => {
    const { took, facts } = await run(network, { addresses });
    expect(took).toEqual(mostMs(ms));
    expect(facts).toMatchObject({ failure: null, address, certificate: { distrust: null } });
  });

  it.concurrent('is up when the name server takes 1.5 s', async () => {
    const { took, facts } = await run(SLOW, { addresses: [IPV4, NO_ROUTE], lookupMs: 1500 });
    expect(took).toEqual(mostMs(10_000));
    expect(facts).toMatchObject({ failure: null, address: IPV4 });
  });

  it.concurrent('looks a name with letters beyond ASCII up by its ASCII form', async () => {
    const { took, facts, asked } = await run(
      { delayMs: 0, dropped: [] },
      { name: 'müsli.example', addresses: [IPV4] },
    );
    expect(took).toEqual(mostMs(6000));
    expect(facts).toMatchObject({ host: 'xn--msli-0ra.example', certificate: { distrust: null } });
    expect(asked).toEqual(['xn--msli-0ra.example']);
  });

  it.concurrent('is reported by the doctor with the address that drops packets', async () => {
    const { facts } = await run({ delayMs: 10, dropped: [IPV4] }, { addresses: [IPV4, IPV6] });
    expect(facts).toMatchObject({ address: IPV6, unanswered: [{ address: IPV4, code: 'TIMEOUT' }] });
  });
});
