import { describe, expect, it } from 'vitest';
import { createMachineDeps } from '../../src/device/machine-deps.ts';
import { refused } from '../service-events.ts';
import { createVirtualClock } from '../virtual-clock.ts';
import { createFakeDeps, testConfig } from './fake-deps.ts';

/** Records every result of `randomHash`. */
function drawing() {
  const drawn: string[] = [];
  return {
    drawn,
    randomHash: () => {
      drawn.push(`drawn${drawn.length}-0123456789abcdef`);
      return drawn.at(-1) ?? '';
    },
  };
}

describe('ids of token requests', () => {
  it('are new for each request, and contain no published text', async () => {
    const { drawn, randomHash } = drawing();
    const deps = createFakeDeps(testConfig(), { randomHash });
    await deps.agent.start();
    deps.brokerUp();
    const first = deps.lastRequest().id;
    expect(drawn).toContain(first);
    const bootId = String(deps.sent('status').at(-1)?.body['boot_id']);
    expect(first).not.toContain(bootId);
    deps.deliver('dragoman/v1/museum/kiosk-01/token/res', {
      id: first,
      ok: false,
      error: { code: 'busy', title: 'Busy', detail: '', final: false },
    });
    deps.clock.advance(20_000);
    const second = deps.lastRequest().id;
    expect(drawn).toContain(second);
    expect(second).not.toBe(first);
  });

  it('are not published when a denial quotes them; nor are tokens, also old ones', async () => {
    const deps = createFakeDeps();
    await deps.agent.start();
    deps.brokerUp();
    const old = deps.lastRequest().id;
    deps.grant({ token: 'an-old-token-of-no-known-shape' });
    deps.lastStream().listener.said(refused('forbidden', { status: 403 }));
    deps.clock.advance(2000);
    const { id } = deps.lastRequest();
    expect(id).not.toBe(old);
    const detail = `no more after ${old} and ${id}, token=an-old-token-of-no-known-shape: ask again`;
    const error = { code: `busy-${old}`, title: 'Busy', detail, final: false };
    deps.deliver('dragoman/v1/museum/kiosk-01/token/res', { id, ok: false, error });
    deps.clock.advance(1500);
    expect(deps.sent('event/refused').at(-1)?.body['message']).toMatch(
      /no more after \[redacted\] and \[redacted\].*\(busy-\[redacted\]\)$/,
    );
    const published = deps.published.filter(({ topic }) => !topic.endsWith('/token/req'));
    for (const secret of [old, id, 'an-old-token'])
      expect(JSON.stringify([published, deps.logged])).not.toContain(secret);
  });

  it('are drawn again when a draw throws', async () => {
    let isBroken = false;
    const { randomHash, drawn } = drawing();
    const deps = createFakeDeps(testConfig(), {
      randomHash() {
        if (isBroken) throw new Error('no randomness');
        return randomHash();
      },
    });
    deps.expectDefects();
    await deps.agent.start();
    isBroken = true;
    deps.brokerUp();
    expect(deps.defects).toEqual(['tokens.draw_id']);
    expect(deps.sent('token/req')).toEqual([]);
    isBroken = false;
    deps.clock.advance(10_000);
    expect(drawn).toContain(deps.lastRequest().id);
    deps.grant();
    expect(deps.streams).toHaveLength(1);
  });

  it('have at least 96 random bits on a real machine', async () => {
    const { log } = createFakeDeps().deps;
    const { randomHash } = await createMachineDeps(testConfig(), createVirtualClock(), log, {});
    const hashes = Array.from({ length: 200 }, randomHash);
    expect(new Set(hashes).size).toBe(200);
    for (const hash of hashes)
      expect(Buffer.from(hash, 'base64url').byteLength * 8).toBeGreaterThanOrEqual(96);
    // Each of the first 96 bits is random: none is equal in all ids.
    const bytes = hashes.map((hash) => Buffer.from(hash, 'base64url'));
    for (let bit = 0; bit < 96; bit++) {
      const ones = bytes.filter((hash) => ((hash[bit >> 3] ?? 0) >> (bit & 7)) & 1).length;
      expect(ones).toBeGreaterThan(0);
      expect(ones).toBeLessThan(200);
    }
  });
});
