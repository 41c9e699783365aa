/** The effective value of each key comes from the last layer with it: defaults, file, conf.d, environment, groups in order, device. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/adapters/config/load.ts';
import { effectiveOf, readDocument, resolveDesired } from '../../src/device/config/desired-rules.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'dragoman-precedence-'));
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

/** Values of each key: the default, and one per layer above it. */
const VALUES = {
  echo: ['half-duplex', 'off', 'cancel', 'off', 'half-duplex', 'cancel', 'off'],
  start: ['boot', 'voice', 'command', 'boot', 'voice', 'command', 'boot'],
  standbyAfter: [120, 1, 2, 3, 4, 5, 6],
  voice: [null, 'file', 'addition', 'variable', 'lobby', 'floor', 'device'],
  targets: [null, ['es'], ['fr'], ['de'], ['it'], ['pt'], ['nl']],
} as const;
type Key = keyof typeof VALUES;
const KEYS = Object.keys(VALUES) as readonly Key[];
const LAYERS = ['file', 'conf.d', 'environment', 'group:lobby', 'group:floor', 'device'] as const;
const VARIABLES: Readonly<Record<Key, string>> = {
  echo: 'ECHO',
  start: 'START',
  standbyAfter: 'STANDBY_AFTER',
  voice: 'VOICE',
  targets: 'TARGETS',
};

/** Layers of each key, as bits of its own number, so that each key has all 64 combinations. */
function keysOf(layer: number, draw: number): Key[] {
  return KEYS.filter((_, at) => (((draw * (2 * at + 1) + at * 11) % 64) >> layer) & 1);
}
const valuesOf = (layer: number, keys: readonly Key[]): Record<string, unknown> =>
  Object.fromEntries(keys.map((key) => [key, VALUES[key][layer + 1]]));

describe('the effective configuration', () => {
  it.each(Array.from({ length: 64 }, (_, draw) => draw))(
    'comes from the last layer with the key (%i)',
    (draw) => {
      const folder = join(FOLDER, String(draw));
      mkdirSync(join(folder, 'conf.d'), { recursive: true });
      const file = join(folder, 'config.jsonc');
      const lane = (layer: number, more: object = {}): object => ({
        id: 'main',
        ...more,
        ...valuesOf(layer, keysOf(layer, draw)),
      });
      // A lane needs targets in the file if no other layer has any.
      writeFileSync(
        file,
        JSON.stringify({
          device: { id: 'kiosk-01', tenant: 'museum', groups: ['lobby', 'floor'] },
          mqtt: { url: 'mqtts://broker.example' },
          lanes: [lane(0, { source: 'en', targets: ['es'] })],
        }),
      );
      writeFileSync(join(folder, 'conf.d', '10.json'), JSON.stringify({ lanes: [lane(1)] }));
      const env = Object.fromEntries(
        keysOf(2, draw).map((key) => [`DRAGOMAN_LANES_0_${VARIABLES[key]}`, String(VALUES[key][3])]),
      );
      const loaded = loadConfig({ file, env });
      expect(loaded.ok ? [] : loaded.problems).toEqual([]);
      if (!loaded.ok) return;
      const documents = [3, 4, 5].flatMap((layer) => {
        const body = { version: layer, lanes: [{ id: 'main', ...valuesOf(layer, keysOf(layer, draw)) }] };
        const document = readDocument(LAYERS[layer] ?? '', body);
        return typeof document === 'string' ? [] : [document];
      });
      const { config, errors } = resolveDesired(loaded.config, documents);
      expect(errors).toEqual([]);
      const [effective] = effectiveOf(config).lanes;
      for (const key of KEYS) {
        const last = [5, 4, 3, 2, 1, 0].find((layer) => keysOf(layer, draw).includes(key));
        const usual = key === 'targets' ? ['es'] : VALUES[key][0];
        expect([key, effective?.[key]]).toEqual([key, last === undefined ? usual : VALUES[key][last + 1]]);
      }
    },
  );
});
