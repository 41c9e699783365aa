/** Deeply nested JSON within every size limit: recursion over it would overflow the stack. */
import { describe, expect, it } from 'vitest';
import { unsignedJws } from './attacker.ts';
import { BASE, createFakeDeps } from './fake-deps.ts';

const DESIRED = `${BASE}/config/desired`;
const DEPTH = 20_000;
const LISTS = `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`;
const OBJECTS = `${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`;
const SENTENCE = 'it is nested more than 64 levels deep';

/** A signed message; the signature does not matter here. */
function signed(typ: string, payload: string, more: object = {}): string {
  return JSON.stringify({
    ...more,
    jws: unsignedJws(payload, { alg: 'EdDSA', kid: 'x', typ }, 'A'.repeat(86)),
  });
}

async function live() {
  const deps = createFakeDeps();
  await deps.goLive();
  deps.clock.advance(1000);
  return deps;
}
type Fake = Awaited<ReturnType<typeof live>>;

function reported(deps: Fake) {
  deps.clock.advance(1000);
  return deps.sent('config/reported').at(-1)?.body;
}

describe('config/desired that is deeply nested', () => {
  it.each([
    ['lanes', `{"version":20,"lanes":${LISTS}}`],
    ['lanes, in objects', `{"version":20,"lanes":[${OBJECTS}]}`],
    ['schedule', `{"version":20,"schedule":${OBJECTS}}`],
    ['an unknown key', `{"version":20,"x":${LISTS}}`],
    ['the whole', LISTS],
    ['beside a signature', `{"jws":"a","x":${LISTS}}`],
    ['inside a signature', signed('dragoman+config', `{"version":20,"device":"${BASE}","lanes":${LISTS}}`)],
  ])('in %s is refused and reported, and the next one is accepted', async (_, document) => {
    const deps = await live();
    deps.deliver(DESIRED, document);
    expect(reported(deps)).toMatchObject({
      version: {},
      errors: [{ from: 'device', key: '', message: SENTENCE }],
    });
    deps.deliver(DESIRED, { version: 21, lanes: [{ id: 'main', echo: 'off' }] });
    expect(reported(deps)).toMatchObject({ version: { device: 21 }, errors: [] });
    expect(deps.defects).toEqual([]);
  });
});

describe('an answer to a token request that is deeply nested', () => {
  it.each([
    ['as it is', (id: string) => `{"id":"${id}","ok":true,"session":${LISTS}}`],
    [
      'in a signature',
      (id: string) => signed('dragoman+token', `{"id":"${id}","device":"${BASE}","x":${LISTS}}`, { id }),
    ],
  ])('is refused, %s', async (_, answer) => {
    const deps = createFakeDeps();
    await deps.agent.start();
    deps.brokerUp();
    deps.deliver(`${BASE}/token/res`, answer(deps.lastRequest().id));
    deps.command('status', { id: 'a' });
    expect(deps.answers('status')[0]).toMatchObject({ data: { refused_answers: { nested: 1 } } });
    expect(deps.logged.some(([, sentence]) => String(sentence).endsWith(SENTENCE))).toBe(true);
    deps.grant();
    expect(deps.agent.lanes[0]?.phase).toBe('connecting');
  });
});

describe('a command that is deeply nested', () => {
  it.each([
    ['in its arguments', `{"id":"deep","args":{"a":${LISTS}}}`, 'malformed'],
    ['beside them', `{"id":"deep","args":{},"x":${LISTS}}`, 'malformed'],
    [
      'inside a signature',
      signed('dragoman+command', `{"id":"deep","device":"${BASE}","args":{"a":${LISTS}}}`, { id: 'deep' }),
      'signature',
    ],
  ])('%s is answered', async (_, command, code) => {
    const deps = await live();
    deps.command('mute', command);
    expect(deps.answers('mute')).toMatchObject([
      { id: 'deep', status: 'error', error: { code, message: expect.stringContaining('nested more than') } },
    ]);
  });
});

it('a status that is deeply nested is corrected', async () => {
  const deps = await live();
  const before = deps.sent('status').length;
  deps.deliver(`${BASE}/status`, `{"status":${'['.repeat(1900)}${']'.repeat(1900)}}`);
  expect(deps.sent('status')).toHaveLength(before + 1);
});
