import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownerSignatures } from '../../src/device/config/unusable-file.ts';
import type { SignatureReader } from '../../src/ports/signature.ts';
import type { Config } from '../../src/protocol/config.ts';
import { ready, refused } from '../service-events.ts';
import { jws, makePair } from './attacker.ts';
import { BASE, createFakeDeps, type FakeDeps, TOKEN, testConfig } from './fake-deps.ts';

const owner = makePair();
const next = makePair();
const stranger = makePair();
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-signed-'));
  writeFileSync(join(folder, 'owner.pem'), owner.publicPem);
  writeFileSync(join(folder, 'next.pem'), next.publicPem);
});
afterAll(() => rmSync(folder, { recursive: true }));

const configured = (...files: string[]) =>
  testConfig({}, { owner: { publicKeyFiles: files.map((file) => join(folder, file)) } });

/** A device that has just requested its first token. */
async function asking(...files: string[]): Promise<FakeDeps> {
  const config = configured(...files);
  const deps = createFakeDeps(config, { signatures: watched(config) });
  await deps.agent.start();
  deps.brokerUp();
  return deps;
}

/** Signatures are verified off the event loop; this waits for the pending ones. */
const underWay = new Set<Promise<unknown>>();
function watched(config: Config): SignatureReader | null {
  const reader = ownerSignatures(config);
  if (reader === null) return null;
  return {
    open(jws) {
      const opening = reader.open(jws).finally(() => underWay.delete(opening));
      underWay.add(opening);
      return opening;
    },
  };
}
const settle = async (): Promise<void> => {
  do {
    await Promise.all(underWay);
    await sleep(1);
  } while (underWay.size > 0);
};
const phaseOf = (deps: FakeDeps) => deps.agent.lanes[0]?.phase;

function grantFor(deps: FakeDeps, host = 'service.example', more: object = {}) {
  return {
    ts: null,
    id: deps.lastRequest().id,
    ok: true,
    session: deps.session(),
    stream_url: `wss://${host}/streaming-api/{random_hash}/v1`,
    device: BASE,
    iat: 0,
    ...more,
  };
}
const denialFor = (deps: FakeDeps, more: object = {}) => ({
  id: deps.lastRequest().id,
  ok: false,
  error: { code: 'disabled', title: 'Disabled', detail: 'gone', final: true },
  device: BASE,
  iat: 0,
  ...more,
});

const answer = (deps: FakeDeps, body: unknown): void => deps.deliver(`${BASE}/token/res`, body);
const sealed = (deps: FakeDeps, signed: string) => ({ id: deps.lastRequest().id, jws: signed });

async function refusedAnswers(deps: FakeDeps): Promise<Record<string, number>> {
  deps.command('status', { id: `status-${deps.published.length}` });
  const data = deps.answers('status').at(-1)?.['data'] as { refused_answers: Record<string, number> };
  return data.refused_answers;
}

describe('an answer that the owner has signed', () => {
  it('opens the stream', async () => {
    const deps = await asking('owner.pem');
    answer(deps, sealed(deps, jws(owner, grantFor(deps))));
    await settle();
    expect(new URL(deps.lastStream().address).host).toBe('service.example');
    expect(deps.lastStream().token).toBe(TOKEN);
    expect(await refusedAnswers(deps)).toEqual({});
  });

  it('is accepted as a denial', async () => {
    const deps = await asking('owner.pem');
    answer(deps, sealed(deps, jws(owner, denialFor(deps))));
    await settle();
    expect(phaseOf(deps)).toBe('parked');
  });

  it('is verified with the keys of the latest configuration', async () => {
    const deps = await asking('owner.pem');
    deps.agent.trust(watched(configured('next.pem')));
    answer(deps, sealed(deps, jws(owner, grantFor(deps))));
    await settle();
    expect(deps.streams).toHaveLength(0);
    answer(deps, sealed(deps, jws(next, grantFor(deps))));
    await settle();
    expect(deps.streams).toHaveLength(1);
  });

  it('confirms ended streams after the session, and only with its signature', async () => {
    const deps = await asking('owner.pem');
    answer(deps, sealed(deps, jws(owner, grantFor(deps))));
    await settle();
    deps.lastStream().listener.opened();
    deps.clock.advance(2800);
    deps.service(ready());
    deps.clock.advance(1000);
    const again = (): unknown => {
      deps.command('stop', { id: `stop-${deps.published.length}` });
      deps.clock.advance(30_000);
      deps.command('start', { id: `start-${deps.published.length}` });
      return deps.lastRequest().ended;
    };
    expect(again()).toHaveLength(1);
    answer(deps, sealed(deps, jws(owner, grantFor(deps))));
    await settle();
    expect(deps.streams).toHaveLength(2);
    const confirmation = { id: deps.lastRequest().id, recorded: ['session-...'], device: BASE, iat: 0 };
    answer(deps, confirmation);
    answer(deps, sealed(deps, jws(stranger, confirmation)));
    await settle();
    expect(await refusedAnswers(deps)).toEqual({ unsigned: 1, unknown_key: 1 });
    expect(again()).toHaveLength(1);
    answer(deps, sealed(deps, jws(owner, { ...confirmation, id: deps.lastRequest().id })));
    await settle();
    expect(again()).toBeUndefined();
  });

  it('is accepted without keys too, because the devices of a fleet get their keys one by one', async () => {
    const deps = createFakeDeps();
    await deps.agent.start();
    deps.brokerUp();
    answer(deps, sealed(deps, jws(stranger, grantFor(deps))));
    await settle();
    expect(deps.streams).toHaveLength(1);
  });
});

type Attack = (deps: FakeDeps) => unknown;
const evil = (deps: FakeDeps) => grantFor(deps, 'evil.example');
/** All attacks on a signature are in tokens/answer-rules.test.ts. */
const ATTACKS: readonly [name: string, why: string, attack: Attack][] = [
  ['unsigned', 'unsigned', evil],
  [
    "signed by a stranger in the owner's name",
    'signature',
    (w) => sealed(w, jws(stranger, evil(w), { kid: owner.kid })),
  ],
  ['with another id outside', 'unasked', (w) => ({ id: 'another-request', jws: jws(owner, evil(w)) })],
];

describe('an answer that is', () => {
  it.each(ATTACKS)('%s: refused as %s, counted, and logged once a minute', async (_, why, attack) => {
    const deps = await asking('owner.pem');
    const before = JSON.stringify(deps.agent.lanes[0]?.state);
    for (let i = 0; i < 5; i++) answer(deps, attack(deps));
    await settle();
    expect(deps.streams).toEqual([]);
    // The lane is neither stopped, nor parked, nor waiting: its state is unchanged.
    expect(JSON.stringify(deps.agent.lanes[0]?.state)).toBe(before);
    expect(await refusedAnswers(deps)).toEqual({ [why]: 5 });
    const told = () =>
      deps.logged.filter(([, text]) => String(text).startsWith('an answer to a token request was'));
    expect(told()).toHaveLength(1);
    expect(told()[0]?.[0]).toBe(why === 'unasked' ? 'debug' : 'warn');
    expect(JSON.stringify([deps.logged, deps.published])).not.toMatch(/SECRET|eyJ|evil\.example/);
    // The owner's own answer is still accepted.
    answer(deps, sealed(deps, jws(owner, grantFor(deps))));
    await settle();
    expect(new URL(deps.lastStream().address).host).toBe('service.example');
    deps.clock.advance(66_000);
    expect(told()).toHaveLength(2);
    expect(told()[1]?.[2]).toMatchObject({ repeated: 4 });
  });

  it('replayed: an old answer matches neither a new request nor its own again', async () => {
    const deps = await asking('owner.pem');
    const old = sealed(deps, jws(owner, grantFor(deps)));
    answer(deps, old);
    await settle();
    expect(deps.streams).toHaveLength(1);
    answer(deps, old);
    await settle();
    expect(await refusedAnswers(deps)).toEqual({ unasked: 1 });
    deps.lastStream().listener.said(refused('session_already_used', { status: 409, errorCode: 202100 }));
    deps.clock.advance(10_000);
    expect(deps.lastRequest().id).not.toBe(old.id);
    answer(deps, old);
    answer(deps, { ...old, id: deps.lastRequest().id });
    await settle();
    expect(deps.streams).toHaveLength(1);
    expect(await refusedAnswers(deps)).toEqual({ unasked: 2, id: 1 });
  });

  it('one of very many at once: the number of verifications is limited, and the lane continues', async () => {
    const deps = await asking('owner.pem');
    const forged = sealed(deps, jws(stranger, evil(deps), { kid: owner.kid }));
    for (let i = 0; i < 1000; i++) answer(deps, forged);
    await settle();
    const { flood = 0, signature = 0 } = await refusedAnswers(deps);
    expect(flood + signature).toBe(1000);
    expect(signature).toBeLessThanOrEqual(32);
    answer(deps, sealed(deps, jws(owner, grantFor(deps))));
    await settle();
    expect(deps.streams).toHaveLength(1);
  });
});
