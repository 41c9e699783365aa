import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DESIRED_FILE_VERSION, readDesired, writeDesired } from '../../../src/device/config/desired-file.ts';
import { createFakeDeps } from '../fake-deps.ts';
import { createMemoryFile } from '../memory-file.ts';

const FOLDER = new URL('../state-files/', import.meta.url);
/** Version 1 of the file, as the program of that time wrote it. */
const WRITTEN = readFileSync(new URL('desired-1.json', FOLDER), 'utf8');

const restart = (text: string) => {
  const file = createMemoryFile();
  file.fill(text);
  return createFakeDeps(undefined, { desiredFile: file.file });
};

describe('the kept documents', () => {
  it('are readable in version 1 of the file', () => {
    const deps = restart(WRITTEN);
    expect(deps.agent.lanes[0]?.state.options).toMatchObject({ echo: 'off', standbyAfterMs: 45_000 });
  });

  it('are readable in the present version, with its number', () => {
    const kept = {
      lanes: [{ id: 'main', volume: 55 }],
      schedule: { timeZone: 'Europe/Berlin', open: [] },
      budget: { minutesPerDay: 9 },
      update: { window: { from: '02:00', to: '04:00' } },
      log: { level: 'warn' },
      screen: { operator: 'Museum' },
    };
    const documents = [
      { from: 'group:lobby', version: 4, body: { version: 4, log: { level: 'debug' } } },
      { from: 'device', version: 2, body: { version: 2, update: { window: 5 } }, kept },
    ];
    const text = writeDesired(documents);
    expect(JSON.parse(text)).toMatchObject({ version: DESIRED_FILE_VERSION });
    expect(readDesired(text)).toEqual({ kind: 'kept', content: documents });
  });

  it('have a stored example of each version', () => {
    const kept = Array.from({ length: DESIRED_FILE_VERSION }, (_, index) => `desired-${index + 1}.json`);
    expect(readdirSync(FOLDER).filter((file) => file.startsWith('desired'))).toEqual(kept);
  });

  it('of a later program are recognised, and the agent starts without them', () => {
    const later = JSON.stringify({ version: DESIRED_FILE_VERSION + 1, places: {} });
    expect(readDesired(later)).toEqual({ kind: 'newer', version: DESIRED_FILE_VERSION + 1 });
    const file = createMemoryFile();
    file.fill(later);
    const { agent } = createFakeDeps(undefined, { desiredFile: file.file });
    expect(agent.lanes[0]?.state.options).toMatchObject({ echo: 'half-duplex' });
    // After the next update the later program could need it.
    expect(file.aside).toBe(later);
  });

  it.each(['', '{}', 'null', '{"version":0,"documents":[]}', '{"version":1}'])(
    'are rejected when the file holds %s',
    (text) => {
      expect(readDesired(text)).toEqual({ kind: 'unreadable' });
    },
  );
});
