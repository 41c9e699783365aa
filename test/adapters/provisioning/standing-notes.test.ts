import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createSystem, FULL } from './fixture.ts';

it('tells what the image has found of the card, and forgets it when it is over', () => {
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
