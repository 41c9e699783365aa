import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createFakeDeps } from '../fake-deps.ts';
import { createMemoryFile } from '../memory-file.ts';

/** As version 1 of the file was left by the program that wrote it. */
const WRITTEN = readFileSync(new URL('./records/desired-1.json', import.meta.url), 'utf8');

it('what was desired is read as version 1 of its file has it', () => {
  const file = createMemoryFile();
  file.fill(WRITTEN);
  const deps = createFakeDeps(undefined, { desiredFile: file.file });
  expect(deps.agent.lanes[0]?.state.options).toMatchObject({ echo: 'off', standbyAfterMs: 45_000 });
});
