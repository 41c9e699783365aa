/** Random input on each topic: the device keeps running, answers if possible, and loses nothing. */
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.ts';
import { phaseOf } from '../../src/device/lane/state/session-state.ts';
import { heard } from '../service-events.ts';
import { BASE, createFakeDeps, TOKEN, testConfig } from './fake-deps.ts';
import { createMemoryFile } from './memory-file.ts';

const TENANT = 'dragoman/v1/museum';
const CONFIG = testConfig(
  { standbyAfter: 0 },
  { device: { id: 'kiosk-01', tenant: 'museum', groups: ['lobby'] } },
);

/** Valid messages of each topic, by its filter; fuzzing changes something in them. */
const SAMPLES: Readonly<Record<string, readonly (readonly [topic: string, body: object])[]>> = {
  [`${BASE}/token/res`]: [
    [
      `${BASE}/token/res`,
      {
        id: 'nobody-asked',
        ok: true,
        stream_url: 'wss://service.example/x',
        session: {
          id: 's',
          token: TOKEN,
          intent: 's2s',
          connection_type: 'ws',
          single_use: true,
          status: 'pending',
          connect_by: '2026-01-15T09:01:00.000Z',
        },
      },
    ],
    [
      `${BASE}/token/res`,
      {
        id: 'nobody-asked',
        ok: false,
        error: { code: 'x', title: 'y', detail: 'z', final: false, retry_after_s: 5 },
      },
    ],
  ],
  [`${BASE}/cmd/+`]: [
    [
      `${BASE}/cmd/volume`,
      { id: 'a', args: { percent: 60, lane: 'main' }, not_after: '2030-01-01T00:00:00Z' },
    ],
    [`${BASE}/cmd/status`, { id: 'a', args: {} }],
    [`${BASE}/cmd/languages`, { id: 'a', args: { targets: ['es'], source: 'en' } }],
    [`${BASE}/cmd/log_stream`, { id: 'a', args: { minutes: 1, level: 'info' } }],
    [`${BASE}/cmd/no_such_thing`, { id: 'a', args: {} }],
  ],
  [`${TENANT}/all/cmd/+`]: [[`${TENANT}/all/cmd/unmute`, { id: 'a', args: { spread_s: 2 } }]],
  [`${TENANT}/group/lobby/cmd/+`]: [
    [`${TENANT}/group/lobby/cmd/echo`, { id: 'a', args: { mode: 'half-duplex' } }],
  ],
  [`${BASE}/config/desired`]: [
    [
      `${BASE}/config/desired`,
      { version: 3, ts: null, lanes: [{ id: 'main', standbyAfter: 900 }], log: { level: 'info' } },
    ],
    [`${BASE}/config/desired`, { jws: 'a.b.c' }],
  ],
  [`${TENANT}/group/lobby/config/desired`]: [
    [`${TENANT}/group/lobby/config/desired`, { version: 3, lanes: [{ echo: 'half-duplex', start: 'boot' }] }],
  ],
  [`${BASE}/status`]: [
    [
      `${BASE}/status`,
      { ts: null, status: 'ready', boot_id: 'x', conn_seq: 1, version: '1.0.0', reasons: [] },
    ],
  ],
};

const JUNK: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  '',
  'x',
  '\u0000',
  '\u202e',
  '__proto__',
  'x'.repeat(5000),
  [],
  {},
  [[]],
  { id: 'b' },
  { lane: 'left' },
  Array.from({ length: 300 }, () => ({})),
];

/** The same message with one place changed or a part missing. */
function spoil(value: unknown, random: () => number): unknown {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  if (typeof value !== 'object' || value === null || random() < 0.15) return pick(JUNK);
  const keys = Object.keys(value);
  const key = keys.length === 0 || random() < 0.1 ? pick(['extra', 'constructor', '0']) : pick(keys);
  const copy: Record<string, unknown> = { ...value };
  if (random() < 0.2) delete copy[key];
  else copy[key] = spoil(copy[key], random);
  return Array.isArray(value) ? Object.values(copy) : copy;
}

/** Its text, sometimes cut short or with a wrong character. */
function spoilText(body: unknown, random: () => number): string {
  const text = JSON.stringify(body) ?? 'undefined';
  const at = Math.floor(random() * text.length);
  if (random() < 0.85) return text;
  return random() < 0.5 ? text.slice(0, at) : `${text.slice(0, at)}\u0007${text.slice(at + 1)}`;
}

/** The id of a command as any reader sees it; null: no answer is possible. */
function idOf(payload: string): string | null {
  try {
    const { id } = JSON.parse(payload) as { id?: unknown };
    return typeof id === 'string' && /^\P{Cc}{1,128}$/u.test(id) ? id : null;
  } catch {
    return null;
  }
}

async function live(more: Parameters<typeof createFakeDeps>[1] = {}) {
  const deps = createFakeDeps(CONFIG, more);
  await deps.goLive();
  return deps;
}
type Fake = Awaited<ReturnType<typeof live>>;

const phaseIn = (deps: Fake): string | undefined => {
  const state = deps.agent.lanes[0]?.state;
  return state && phaseOf(state.session);
};

/** A visitor speaks for one chunk, and the service accepts it. */
function converse(deps: Fake): void {
  deps.speak();
  deps.lastStream().listener.pong();
  deps.service(heard({ text: 'how do we get' }));
}
const CHUNK_MS = 320;
/** The longest time to an answer (ms): the service decides about languages. */
const ANSWERED_MS = 40_000;

/** @param messages on each topic; @param files of each kind */
export function describeInputFuzz({ messages, files }: { messages: number; files: number }): void {
  describe('a device that receives random input', () => {
    it('subscribes to no topic that is not fuzzed here', async () => {
      const deps = await live();
      const filters = deps.bus.options.subscriptions.map((one) =>
        typeof one === 'string' ? one : one.filter,
      );
      expect(filters.toSorted()).toEqual(Object.keys(SAMPLES).toSorted());
    });

    it.each(Object.keys(SAMPLES))(
      'keeps running and loses nothing when the input comes on %s',
      async (filter) => {
        const deps = await live();
        const random = seededRandom(filter.length);
        const stream = deps.lastStream();
        const sentBefore = stream.audio.length;
        const ids = new Set<string>();
        for (let index = 0; index < messages; index++) {
          const [topic, body] = SAMPLES[filter]?.[index % (SAMPLES[filter]?.length ?? 1)] ?? ['', {}];
          const named = 'id' in body && topic.includes('/cmd/') ? { ...body, id: `f${index}` } : body;
          const payload = spoilText(spoil(named, random), random);
          const id = topic.includes('/cmd/') ? idOf(payload) : null;
          if (id !== null) ids.add(id);
          deps.deliver(topic, payload, { retain: random() < 0.05 });
          await deps.clock.elapse(0);
          converse(deps);
        }
        for (let ms = 0; ms < ANSWERED_MS; ms += CHUNK_MS) {
          await deps.clock.elapse(0);
          converse(deps);
        }
        expect(phaseIn(deps)).toBe('live');
        expect(deps.lastStream()).toBe(stream);
        expect(stream.calls.filter((call) => call === 'close' || call === 'terminate')).toEqual([]);
        expect(stream.audio.length - sentBefore).toBeGreaterThanOrEqual(messages);
        expect(deps.agent.lanes[0]?.state.backlog.accounts).toMatchObject({ dropped: 0, lost: 0 });
        expect(deps.defects).toEqual([]);
        // Each answerable command is answered, once if it came once, and with a reason if it is refused.
        const answers = deps.published.filter(
          ({ topic, body }) => topic.endsWith('/res') && body['status'] !== 'accepted',
        );
        expect([...ids].filter((id) => !answers.some(({ body }) => body['id'] === id))).toEqual([]);
        for (const { body } of answers) {
          const { message = 'none' } = (body['error'] ?? {}) as { message?: string };
          expect(body['status'] === 'error' ? message.length : 20).toBeGreaterThan(8);
        }
        expect(JSON.stringify([deps.logged, deps.published])).not.toContain(TOKEN);
        // A flood of invalid messages costs few log lines.
        expect(deps.logged.length).toBeLessThan(400);
      },
    );
  });

  describe('a device with random content in its state files', () => {
    const KEPT = {
      desiredFile: {
        version: 1,
        documents: [
          { from: 'device', version: 3, body: { version: 3, lanes: [{ id: 'main', standbyAfter: 33 }] } },
        ],
      },
      commandFile: {
        version: 1,
        commands: [{ key: 'k', content: 'c', at: 1, open: { id: 'x', name: 'mute' }, answer: null }],
      },
      budgetFile: { version: 1, day: '2026-01-15', usedMs: 1 },
    } as const;

    it.each(Object.keys(KEPT) as (keyof typeof KEPT)[])('starts whatever %s holds', async (name) => {
      const random = seededRandom(name.length);
      for (let index = 0; index < files; index++) {
        const file = createMemoryFile();
        file.fill(spoilText(spoil(KEPT[name], random), random));
        const deps = await live({ [name]: file.file });
        expect(phaseIn(deps)).toBe('live');
        expect(deps.defects).toEqual([]);
      }
    });
  });
}
