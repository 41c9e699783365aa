import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { needs } from '../../needs.ts';
import { makeFakeRoot } from './fake-root.ts';
import { buildImage, imageIn, missing } from './made-image.ts';

it('an image of a tiny root matches its checksum and is reproducible', needs(missing), async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-image-test-'));
  try {
    const root = join(folder, 'debian');
    makeFakeRoot(root);
    const [first, again] = [join(folder, 'first'), join(folder, 'again')];
    await buildImage(root, first, '--compress', 'none');
    const sum = `${basename(imageIn(first))}.sha256`;
    expect(execFileSync('sha256sum', ['-c', sum], { cwd: first }).toString()).toContain('OK');
    await buildImage(root, again, '--compress', 'none');
    expect(execFileSync('cmp', [imageIn(again), imageIn(first)]).toString()).toBe('');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
