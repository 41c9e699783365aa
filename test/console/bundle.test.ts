import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { bundleConsole } from '../../scripts/bundle-page.mjs';

/** Of all scripts together, also those that are loaded only when they are needed. */
const MOST_BYTES = 64 * 1024;

describe("the console's bundle", () => {
  it('is small, and has nothing from elsewhere', async () => {
    const { files, metafile } = await bundleConsole();
    const scripts = Object.entries(files).filter(([name]) => name.endsWith('.js'));
    const zipped = scripts.map(([, text]) => gzipSync(text, { level: 9 }).byteLength);
    expect(zipped.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(MOST_BYTES);
    for (const [, text] of scripts) expect(text.match(/https?:\/\/(?!www\.w3\.org)[^\s"'`]+/g)).toBeNull();
    expect(files['console.css']).not.toMatch(/@import|url\(/);
    const packages = Object.keys(metafile.inputs).flatMap(
      (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
    );
    expect([...new Set(packages)].sort()).toEqual([
      '@preact/signals',
      '@preact/signals-core',
      'preact',
      'uplot',
    ]);
  });

  it('loads the plots and other languages only when they are needed', async () => {
    const { metafile } = await bundleConsole();
    const [, first] = Object.entries(metafile.outputs).find(([name]) => name.endsWith('/console.js')) ?? [];
    const inFirst = Object.keys(first?.inputs ?? {});
    expect(inFirst.some((path) => path.includes('uplot') && path.endsWith('.js'))).toBe(false);
    expect(inFirst).not.toContain('src/page/console/texts/de.ts');
  });
});
