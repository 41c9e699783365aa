/**
 * The alert rules and the dashboard in `examples/monitoring`, with what a real backend shows in the state that each alert is for.
 * Prometheus itself judges the rules (`promtool` of Debian's package `prometheus`).
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { createSqliteEngine } from '../../src/backend/store/sqlite-engine.ts';
import type { ReadFamily } from '../adapters/watch/read-metrics.ts';
import { answerJson, sessionOf } from '../backend/fake-service.ts';
import { createJumpingClock } from '../backend/watch/jumping-clock.ts';
import { needs } from '../needs.ts';
import { until } from '../until.ts';
import { monitoredBackends, STATUS, stateOf } from './monitored-backends.ts';

const HERE = join(import.meta.dirname, '../../examples/monitoring');
const RULES = readFileSync(join(HERE, 'alerts.yml'), 'utf8');
const DASHBOARD = JSON.parse(readFileSync(join(HERE, 'dashboard.json'), 'utf8')) as {
  panels: { id: number; title: string; targets?: { expr: string }[] }[];
};
const ALERTS = [...RULES.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
const EXPRESSIONS = [
  ...RULES.split('\n').filter((line) => !/^\s*(#|summary:|action:)/.test(line)),
  ...DASHBOARD.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
];
const run = promisify(execFile);
const promtool = await run('promtool', ['--version']).then(
  () => 'promtool',
  () => null,
);

const { folder, closeAll, start, calm, serviceThat } = monitoredBackends();

type Provocation = {
  /**
   * Brings a backend into the state; null: it cannot be scraped any more.
   * @param isCalm called with a scrape before it, if another backend's does not do
   */
  readonly provoke: (isCalm: (seen: ReadFamily[]) => void) => Promise<ReadFamily[] | null>;
  /** Others that fire with it. */
  readonly also?: readonly string[];
};

const PROVOCATIONS: Readonly<Record<string, Provocation>> = {
  DragomanBackendDown: {
    async provoke() {
      const { fixture, scrape } = await start();
      await fixture.backend.close();
      await expect(scrape()).rejects.toThrow();
      return null;
    },
  },
  DragomanBrokerAway: {
    async provoke() {
      const { fixture, scrapeWith } = await start();
      await fixture.broker?.close();
      await scrapeWith('dragoman_backend_fleet_connected', {}, (value) => value === 0);
      return scrapeWith('dragoman_backend_broker_connected', {}, (value) => value === 0);
    },
  },
  DragomanStoreDown: {
    async provoke() {
      const { path, scrapeWith } = await start();
      const other = createSqliteEngine(path);
      let free = (): void => {};
      const held = other.transact(null, () => new Promise<void>((resolve) => (free = resolve)));
      const seen = await scrapeWith('dragoman_backend_store_up', {}, (value) => value === 0);
      free();
      await held;
      await other.close();
      return seen;
    },
  },
  DragomanServiceFails: {
    also: ['DragomanTokensDenied'],
    async provoke() {
      const serviceUrl = await serviceThat((_, response) => answerJson(response, 503, {}));
      const { fixture, scrapeWith } = await start({ serviceUrl });
      await fixture.ask('kiosk-1', 'refused');
      return scrapeWith(
        'dragoman_backend_service_failures_total',
        { kind: 'unavailable' },
        (value) => value === 1,
      );
    },
  },
  DragomanTokensSlow: {
    async provoke(isCalm) {
      const clock = createJumpingClock();
      const waiting: (() => void)[] = [];
      const serviceUrl = await serviceThat((_, response) => {
        waiting.push(() => answerJson(response, 201, { ok: true, data: sessionOf() }));
      });
      const { fixture, scrape, scrapeWith } = await start({ clock, serviceUrl });
      for (const [device, waitMs] of [
        ['kiosk-1', 0],
        ['kiosk-2', 7000],
      ] as const) {
        fixture.send(device, fixture.request('first'));
        await until(() => waiting.length > 0, 'the creation');
        clock.jump(waitMs);
        waiting.pop()?.();
        await until(() => fixture.answersTo(device).length > 0, 'the answer');
        if (waitMs === 0) isCalm(await scrape());
      }
      return scrapeWith(
        'dragoman_backend_token_answer_seconds_bucket',
        { le: '+Inf' },
        (value) => value === 2,
      );
    },
  },
  DragomanTokensDenied: {
    async provoke() {
      const { fixture, scrapeWith } = await start();
      await fixture.ask('kiosk-1', 'first');
      await fixture.ask('kiosk-1', 'second', { intent: 'stt' });
      return scrapeWith(
        'dragoman_backend_token_denials_total',
        { code: 'intent_not_allowed' },
        (value) => value === 1,
      );
    },
  },
  DragomanDevicesLost: {
    async provoke() {
      const { publish, scrapeWith } = await start();
      publish('kiosk-2', 'status', { ...STATUS, status: 'lost', reasons: ['connection_lost'] });
      return scrapeWith('dragoman_devices', { status: 'lost' }, (value) => value === 1);
    },
  },
  DragomanDevicesDegraded: {
    async provoke() {
      const { publish, scrapeWith } = await start();
      publish('kiosk-2', 'status', { ...STATUS, status: 'degraded', reasons: ['capture:lost'] });
      await scrapeWith('dragoman_devices_with_reason', { reason: 'capture' }, (value) => value === 1);
      return scrapeWith('dragoman_devices', { status: 'degraded' }, (value) => value === 1);
    },
  },
  DragomanSpeechLost: {
    async provoke() {
      const { publish, scrapeWith } = await start();
      publish('kiosk-1', 'state', stateOf(3000, 1000));
      return scrapeWith('dragoman_speech_lost_seconds_total', {}, (value) => value === 2);
    },
  },
  DragomanSpeechUnspoken: {
    async provoke() {
      const { publish, scrapeWith } = await start();
      publish('kiosk-1', 'state', stateOf(1000, 3000));
      return scrapeWith('dragoman_unspoken_seconds_total', {}, (value) => value === 2);
    },
  },
  DragomanBudgetNear: {
    async provoke() {
      const { scrapeWith } = await start({}, 8.5);
      return scrapeWith('dragoman_group_month_seconds', { group: 'halls' }, (value) => value === 510);
    },
  },
  DragomanBudgetOver: {
    async provoke() {
      const { scrapeWith } = await start({}, 11);
      return scrapeWith('dragoman_group_month_seconds', { group: 'halls' }, (value) => value === 660);
    },
  },
  DragomanWebhookFails: {
    also: ['DragomanDevicesLost'],
    async provoke() {
      const clock = createJumpingClock();
      const { publish, scrapeWith } = await start({ clock });
      publish('kiosk-2', 'status', { ...STATUS, status: 'lost', reasons: ['connection_lost'] });
      await scrapeWith('dragoman_devices', { status: 'lost' }, (value) => value === 1);
      clock.jump(31_000);
      return scrapeWith(
        'dragoman_backend_webhook_messages_total',
        { result: 'retried' },
        (value) => value >= 1,
      );
    },
  },
};

/** Both scrapes as series of Prometheus, a minute apart: 20 calm minutes, then what was provoked goes on for 20 minutes. */
function seriesOf(before: readonly ReadFamily[], after: readonly ReadFamily[] | null) {
  const where = 'job="dragoman-backend",instance="127.0.0.1:9464"';
  const named = (families: readonly ReadFamily[]) =>
    families.flatMap(({ type, samples }) =>
      samples.map(({ name, labels, value }) => {
        const pairs = Object.entries(labels).map(([label, text]) => `,${label}=${JSON.stringify(text)}`);
        const grows = type === 'counter' || type === 'histogram';
        return [`${name}{${where}${pairs.join('')}}`, { grows, value }] as const;
      }),
    );
  const [calmValues, provoked] = [new Map(named(before)), new Map(named(after ?? []))];
  const up = { series: `up{${where}}`, values: `1x20 ${after === null ? 0 : 1}x20` };
  const others = [...new Set([...calmValues.keys(), ...provoked.keys()])].map((series) => {
    const [from, to] = [calmValues.get(series), provoked.get(series)];
    const first = from === undefined ? '_x21' : `${from.value}x20`;
    if (to === undefined) return { series, values: first };
    const more = to.grows ? Math.max(0, to.value - (from?.value ?? 0)) : 0;
    return { series, values: `${first} ${to.value}+${more}x19` };
  });
  return [up, ...others];
}

const FIRING = 'count by (alertname) (ALERTS{alertstate="firing"})';

describe('the alert rules', () => {
  it('have each a test that provokes its state', () => {
    expect(Object.keys(PROVOCATIONS).sort()).toEqual([...ALERTS].sort());
  });

  describe(
    promtool === null ? 'skipped: "promtool" is not installed' : 'by promtool',
    needs(promtool === null && 'needs promtool'),
    () => {
      let before: ReadFamily[] = [];
      beforeAll(async () => {
        before = await calm();
        await closeAll();
      });

      it('are valid', async () => {
        await run('promtool', ['check', 'rules', '--lint-fatal', join(HERE, 'alerts.yml')]);
        await run('promtool', ['check', 'config', join(HERE, 'prometheus.yml')]);
      });

      it.each(Object.entries(PROVOCATIONS))(
        'fire alone in their state: %s',
        async (alert, { provoke, also = [] }) => {
          let calmBefore = before;
          const after = await provoke((seen) => {
            calmBefore = seen;
          });
          const expected = [alert, ...also].map((name) => ({ labels: `{alertname="${name}"}`, value: 1 }));
          const file = join(folder, `${alert}.json`);
          const test = {
            rule_files: [join(HERE, 'alerts.yml')],
            evaluation_interval: '1m',
            tests: [
              {
                interval: '1m',
                input_series: seriesOf(calmBefore, after),
                promql_expr_test: [
                  { expr: FIRING, eval_time: '20m', exp_samples: [] },
                  { expr: FIRING, eval_time: '38m', exp_samples: expected },
                ],
              },
            ],
          };
          writeFileSync(file, JSON.stringify(test));
          await run('promtool', ['test', 'rules', file]).catch(
            ({ stdout, stderr }: { stdout: string; stderr: string }) => {
              throw new Error(`${stdout}${stderr}`);
            },
          );
        },
      );
    },
  );
});

describe('alert rules and dashboard', () => {
  it('name only metrics and labels that a backend shows', async () => {
    const kit = await start();
    await kit.fixture.ask('kiosk-1', 'first', { intent: 'stt' });
    kit.publish('kiosk-2', 'status', { ...STATUS, status: 'degraded', reasons: ['capture:lost'] });
    await until(() => kit.fixture.answersTo('kiosk-1').length > 0, 'the answer');
    const seen = await kit.scrapeWith('dragoman_devices', { status: 'degraded' }, (value) => value === 1);
    const samples = seen.flatMap((family) => family.samples);
    const names = new Set(samples.map(({ name }) => name));
    const used = [...new Set(EXPRESSIONS.join('\n').match(/\bdragoman_\w+/g))];
    expect(used.length).toBeGreaterThan(15);
    expect(used.filter((name) => !names.has(name))).toEqual([]);
    const labels = new Set([...samples.flatMap((one) => Object.keys(one.labels)), 'instance', 'job']);
    const grouped = EXPRESSIONS.flatMap((text) =>
      [...text.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */)),
    );
    expect(grouped.filter((label) => !labels.has(label))).toEqual([]);
  });

  it('have panels that a person can tell apart', () => {
    const { panels } = DASHBOARD;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  });
});
