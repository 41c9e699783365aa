/** The power fails at every single change of a disk: from then on nothing is written until the next boot. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { withoutSecrets } from '../../src/installer/core/secrets.ts';
import { MEMORY, makeOwnFolder } from '../setup/temporary.ts';
import { createSystem, FULL, type System } from './system-folder.ts';

const power = vi.hoisted(() => ({ changesLeft: Number.POSITIVE_INFINITY, changes: 0 }));

vi.mock('node:fs', async (original) => {
  const real = (await original()) as Record<string, unknown>;
  const changing = [
    'openSync',
    'writeSync',
    'writeFileSync',
    'ftruncateSync',
    'fsyncSync',
    'renameSync',
    'rmSync',
    'linkSync',
    'symlinkSync',
    'mkdirSync',
    'chmodSync',
    'chownSync',
    'fchmodSync',
    'fchownSync',
  ];
  const cut = Object.fromEntries(
    changing.map((name) => [
      name,
      (...given: unknown[]) => {
        power.changes += 1;
        power.changesLeft -= 1;
        if (power.changesLeft < 0) throw new Error('the power is off');
        // Written data is visible to readers at once; waiting for the disk would only take time.
        if (name === 'fsyncSync') return;
        return (real[name] as (...given: unknown[]) => unknown)(...given);
      },
    ]),
  );
  return { ...real, ...cut };
});

// Some hundred systems are made and removed: in memory that takes a third of the time.
if (existsSync(MEMORY)) {
  const folder = makeOwnFolder(MEMORY);
  process.env['TMPDIR'] = folder;
  afterAll(() => rmSync(folder, { recursive: true }));
}

// Deriving a key takes thousands of rounds, and each boot needs some of a few keys: each is derived once.
vi.mock('node:crypto', async (original) => {
  const real = (await original()) as typeof import('node:crypto');
  const known = new Map<string, Buffer>();
  const pbkdf2Sync: typeof real.pbkdf2Sync = (...given) => {
    const what = JSON.stringify(given);
    const key = known.get(what) ?? real.pbkdf2Sync(...given);
    known.set(what, key);
    return Buffer.from(key);
  };
  return { ...real, pbkdf2Sync };
});

const boots = (system: System, changes = Number.POSITIVE_INFINITY): boolean => {
  power.changesLeft = changes;
  try {
    system.run();
    return true;
  } catch (error) {
    expect(String(error)).toContain('the power is off');
    return false;
  } finally {
    power.changesLeft = Number.POSITIVE_INFINITY;
  }
};
const outcome = (system: System) => {
  // Files in memory are gone at the next boot.
  rmSync(join(system.root, 'run'), { recursive: true, force: true });
  const { result } = system.run();
  return result.outcome === 'applied' || result.outcome === 'unchanged' ? 'in effect' : result;
};

/** @param prepare the device's earlier history */
function cutEverywhere(document: object, prepare: (system: System) => void): number {
  const whole = createSystem();
  prepare(whole);
  whole.write('dragoman.json', document);
  expect(outcome(whole)).toBe('in effect');
  const [reference, file] = [whole.everything(), JSON.parse(whole.read())];
  whole.remove();
  for (let changes = 0; ; changes += 1) {
    const system = createSystem();
    prepare(system);
    system.write('dragoman.json', document);
    const isThrough = boots(system, changes);
    const text = system.read();
    // While something is missing, the secrets are still in the file.
    if (!text.includes('correct horse')) expect(system.everything()).toEqual(reference);
    expect([changes, outcome(system)]).toEqual([changes, 'in effect']);
    expect(system.everything()).toEqual(reference);
    expect(JSON.parse(system.read())).toEqual(file);
    expect(readdirSync(system.boot).sort()).toEqual(['dragoman-status.txt', 'dragoman.json']);
    system.remove();
    if (isThrough) return changes;
  }
}

describe('a power cut', () => {
  it('is repaired at the next boot when it hits any disk change of a new device', () => {
    const changes = cutEverywhere(FULL, () => {});
    expect(changes).toBeGreaterThan(50);
  });

  it('is repaired at the next boot when it hits any change for a new passphrase and configuration', () => {
    const config = { ...FULL.config, log: { level: 'debug' } };
    const later = { ...FULL, config, wifi: { ...FULL.wifi, hidden: true } };
    const changes = cutEverywhere(later, (system) => {
      system.write('dragoman.json', { ...FULL, wifi: { ...FULL.wifi, passphrase: 'another one' } });
      system.run();
    });
    expect(changes).toBeGreaterThan(30);
  });

  it('is repaired at the next boot when it hits two boots in a row', () => {
    for (const [first, second] of [
      [40, 10],
      [70, 60],
      [95, 3],
      [60, 60],
    ]) {
      const system = createSystem();
      system.write('dragoman.json', FULL);
      boots(system, first);
      rmSync(join(system.root, 'run'), { recursive: true, force: true });
      boots(system, second);
      expect(outcome(system)).toBe('in effect');
      expect(JSON.parse(system.read())).toEqual(withoutSecrets(FULL));
      system.remove();
    }
  });
});
