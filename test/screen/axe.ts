import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'puppeteer-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RUN_AXE = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`;

/** What axe-core finds on the page as it is. */
export async function findings(page: Page): Promise<string[]> {
  // The page's own policy forbids scripts from elsewhere, so the debugger runs it.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(AXE);
  return (await page.evaluate(RUN_AXE)) as string[];
}
