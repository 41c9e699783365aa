import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSystem, FULL, type System } from './system-folder.ts';

it('reports the image’s findings on the card, and drops them when they are over', () => {
  const system = createSystem();
  try {
    system.write('dragoman.json', FULL);
    const problems = join(system.root, 'run/dragoman-image/problems');
    const notes = () => system.run().result.notes.filter((note) => note.startsWith('The card: '));
    expect(notes()).toEqual([]);
    mkdirSync(join(system.root, 'run/dragoman-image'), { recursive: true });
    writeFileSync(problems, 'It can only be read.\n');
    expect(notes()).toEqual(['The card: It can only be read.']);
    expect(system.read('dragoman-status.txt')).toContain('- The card: It can only be read.\r\n');
    const written = statSync(join(system.boot, 'dragoman-status.txt')).mtimeMs;
    notes();
    expect(statSync(join(system.boot, 'dragoman-status.txt')).mtimeMs).toBe(written);
    rmSync(problems);
    notes();
    expect(system.read('dragoman-status.txt')).not.toContain('The card');
  } finally {
    system.remove();
  }
});

describe('a later file of conf.d', () => {
  const notes = (system: System) =>
    system.run().result.notes.filter((note) => note.startsWith('Not in effect'));
  const later = (system: System, value: object) =>
    writeFileSync(join(system.root, 'etc/dragoman/conf.d/zzz-local.json'), JSON.stringify(value));

  it('is reported with each key that it overrides, for as long as it does', () => {
    const system = createSystem();
    try {
      system.write('dragoman.json', FULL);
      expect(notes(system)).toEqual([]);
      later(system, {
        device: { id: 'kiosk-99', tenant: 'museum', label: 'Desk' },
        lanes: [{ echo: 'off' }],
      });
      const reported = [
        'Not in effect: config.device.id, because /etc/dragoman/conf.d/zzz-local.json:1:12 is read later and overrides it.',
        expect.stringMatching(/^Not in effect: config\.lanes\[0\]\.echo, because /),
      ];
      expect(notes(system)).toEqual(reported);
      expect(system.read('dragoman-status.txt')).toContain('- Not in effect: config.device.id');
      const written = statSync(join(system.boot, 'dragoman-status.txt')).mtimeMs;
      expect(notes(system)).toEqual(reported);
      expect(statSync(join(system.boot, 'dragoman-status.txt')).mtimeMs).toBe(written);
      later(system, {});
      expect(notes(system)).toEqual([]);
      expect(system.read('dragoman-status.txt')).not.toContain('Not in effect');
    } finally {
      system.remove();
    }
  });

  it('is counted when it overrides many keys', () => {
    const system = createSystem();
    try {
      const log = { level: 'debug' };
      const mqtt = { url: 'mqtts://a.example', username: 'b', prefix: 'c' };
      const config = {
        ...FULL.config,
        log,
        device: { id: 'a', tenant: 'b', label: 'c', site: 'd', groups: ['e'] },
      };
      system.write('dragoman.json', { ...FULL, config: { ...config, mqtt } });
      later(system, {
        device: { id: 'k', tenant: 'l', label: 'm', site: 'n', groups: ['o'] },
        log: { level: 'info' },
        mqtt: { url: 'mqtts://o.example', username: 'p', prefix: 'q' },
      });
      const found = notes(system);
      expect([found.length, found.at(-1)]).toEqual([
        9,
        'Not in effect: 1 more keys of "config", for the same reason.',
      ]);
    } finally {
      system.remove();
    }
  });
});
