import { appendFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** A skipped test, as a line of JSON in the file that SKIPS_FILE names. */
export interface Skip {
  readonly file: string;
  readonly name: string;
  /** Null: the test does not say why. */
  readonly reason: string | null;
}

/** Prints how many tests were skipped for which reason, at the end of a run. */
export default class SkipReasons implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skips = modules.flatMap((module) => [...module.children.allTests('skipped')].map(describeSkip));
    const file = process.env['SKIPS_FILE'];
    if (file) appendFileSync(file, skips.map((skip) => `${JSON.stringify(skip)}\n`).join(''));
    const counts = new Map<string, number>();
    for (const { reason } of skips) {
      const said = reason ?? 'no reason given';
      counts.set(said, (counts.get(said) ?? 0) + 1);
    }
    for (const [reason, count] of counts) process.stdout.write(`skipped ${count}: ${reason}\n`);
  }
}

function describeSkip(test: TestCase): Skip {
  const { note } = test.result() as { note?: string };
  return {
    file: test.module.relativeModuleId,
    name: test.fullName,
    reason: note ?? test.meta().lacks ?? null,
  };
}
