import { readFile } from 'node:fs/promises';
import { type PageFiles, readPageFiles } from '../../adapters/screen/page-files.ts';

/** The kiosk's page, on which the demo's visitor also reads back. @throws if a file is not beside the program */
export async function readDemoPage(): Promise<PageFiles> {
  const { script, style } = await readPageFiles();
  const readsBack = await readFile(new URL('./screen-demo.js', import.meta.url), 'utf8');
  return { script: `${script}\n${readsBack}`, style };
}
