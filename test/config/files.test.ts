import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { formatProblem } from '../../src/adapters/config/layer.ts';
import { loadConfig } from '../../src/adapters/config/load.ts';
import { loadBackendConfig } from '../../src/backend/config/load-config.ts';
import { DESIRED_KEYS, DESIRED_WHOLE } from '../../src/protocol/config.ts';
import { configJsonSchema, configSchemaFile, type SchemaNode } from '../../src/protocol/config-schema.ts';

const path = (name: string): string => fileURLToPath(new URL(`../../config/${name}`, import.meta.url));

describe('config/schema.json', () => {
  it('matches the schema; "npm run generate" updates it', () => {
    expect(readFileSync(path('schema.json'), 'utf8')).toBe(configSchemaFile());
  });

  it('describes every key', () => {
    const bare: string[] = [];
    const visit = (node: SchemaNode, name: string): void => {
      if (name !== '' && node.description === undefined) bare.push(name);
      for (const [key, child] of Object.entries(node.properties ?? {})) visit(child, `${name}.${key}`);
      for (const alternative of node.oneOf ?? []) {
        for (const [key, child] of Object.entries(alternative.properties ?? {}))
          visit(child, `${name}.${key}`);
      }
      for (const [key, child] of Object.entries(node.items?.properties ?? {}))
        visit(child, `${name}[].${key}`);
    };
    visit(configJsonSchema(), '');
    expect(bare).toEqual([]);
  });
});

describe('config/example.jsonc', () => {
  const result = loadConfig({ file: path('example.jsonc'), env: {} });

  it('is valid', () => {
    expect(result.ok ? [] : result.problems.map(formatProblem)).toEqual([]);
  });

  it('contains every key, with its default unless marked "for example"', () => {
    const lines = readFileSync(path('example.jsonc'), 'utf8').split('\n');
    const withoutDefault = /^(device\.|mqtt\.url|lanes\[0\]\.(source|targets)$)/;
    const wrong = (result.ok ? result.provenance : []).filter(({ path: key, value, source }) => {
      const line = lines[(source.line ?? 0) - 1] ?? '';
      if (source.kind === 'default') return true;
      return !withoutDefault.test(key) && line.includes('for example') === isDefault(key, value);
    });
    expect(wrong).toEqual([]);
  });

  it('marks the keys of config/desired', () => {
    const text = readFileSync(path('example.jsonc'), 'utf8');
    for (const key of [...DESIRED_WHOLE, ...Object.values(DESIRED_KEYS).flat()]) {
      expect(text).toMatch(new RegExp(`(// \\*.*\\n\\s*"${key}"|"${key}": .*// \\*)`));
    }
  });
});

describe('the example configurations', () => {
  it('is valid: config/desk.jsonc, with both forms of a desk', () => {
    const desk = loadConfig({ file: path('desk.jsonc'), env: {} });
    expect(desk.ok ? [] : desk.problems.map(formatProblem)).toEqual([]);
    if (!desk.ok) return;
    expect(desk.config.lanes.map(({ twoWay }) => twoWay)).toEqual(['auto', 'off', 'off']);
    expect(desk.config.rooms).toEqual([{ id: 'counter', lanes: ['clerk', 'visitor'] }]);
  });

  it('are valid: config/files.jsonc for the agent, config/backend.jsonc for the backend that serves it', () => {
    const agent = loadConfig({ file: path('files.jsonc'), env: {} });
    expect(agent.ok ? [] : agent.problems.map(formatProblem)).toEqual([]);
    const backend = loadBackendConfig(path('backend.jsonc'), {});
    if (!agent.ok) return;
    expect(agent.config.mqtt.url).toBe(backend.mqtt.url);
    expect(backend.allow).toContain(`${agent.config.device.tenant}/*`);
    expect(agent.config.lanes.map(({ capture, playback }) => [capture.driver, playback.driver])).toEqual([
      ['file', 'file'],
    ]);
  });

  it.each([
    ['auto', 'auto'],
    ['4', 4],
    ['5', 5],
  ])('accepts the version of MQTT from the environment (%s)', (text, version) => {
    const loaded = loadConfig({ file: null, env: { ...SMALLEST, DRAGOMAN_MQTT_VERSION: text } });
    expect(loaded.ok ? loaded.config.mqtt.version : loaded.problems).toBe(version);
  });
});

const SMALLEST = {
  DRAGOMAN_DEVICE_ID: 'a',
  DRAGOMAN_DEVICE_TENANT: 'a',
  DRAGOMAN_MQTT_URL: 'mqtts://a',
  DRAGOMAN_LANES_0_SOURCE: 'en',
  DRAGOMAN_LANES_0_TARGETS: 'es',
};
const DEFAULTS = loadConfig({ file: null, env: SMALLEST });

function isDefault(key: string, value: unknown): boolean {
  const found = DEFAULTS.ok ? DEFAULTS.provenance.find(({ path: other }) => other === key) : undefined;
  return JSON.stringify(found?.value) === JSON.stringify(value);
}
