/** Maximum number of test files per batch: first the nearest, then others, and last the rest of their folders. */
const BATCHES = [3, 3, 14];
/** A test file that takes longer than this (ms) comes after quicker ones. */
const SLOW_MS = 10_000;
/** Longest run of a test file with a mutant (ms); without a mutant, half of that. Browsers start slowly. */
const LONGEST_MS = 120_000;
const LONGEST_IN_BROWSER_MS = 120_000;

const folderOf = (path) => path.slice(0, path.lastIndexOf('/'));
const longestMs = (test) => (/^test\/(screen|console)\//.test(test) ? LONGEST_IN_BROWSER_MS : LONGEST_MS);

/**
 * Judges mutants. A test counts only if it passes without the mutant; this is checked when the test first fails.
 * @param testsOf lists the tests of a source file, the nearest first
 */
export function makeJudge(testsOf) {
  const proven = new Set();
  const slow = new Set();
  /** Why a test does not count. */
  const unusable = new Map();
  const usable = (tests) => tests.filter((test) => !unusable.has(test));

  function note(result) {
    for (const [test, ms] of Object.entries(result?.took ?? {})) if (ms > SLOW_MS) slow.add(test);
  }

  async function proveAlone(copy, test) {
    const result = await copy.run([test], longestMs(test) / 2);
    note(result);
    if (result !== null && result.failed.length === 0) proven.add(test);
    else unusable.set(test, result?.error ?? (result === null ? 'takes too long' : 'fails without a mutant'));
  }

  /** @returns the test that noticed the mutant, or null */
  async function noticedBy(copy, mutant, tests) {
    if (tests.length === 0) return null;
    copy.write(mutant.file, mutant.mutated);
    const result = await copy.run(
      tests,
      tests.reduce((sum, test) => sum + longestMs(test), 0),
    );
    copy.write(mutant.file, mutant.text);
    note(result);
    if (result !== null && result.failed.length === 0) return null;
    const suspects = result === null ? tests : result.failed;
    for (const test of suspects) if (!proven.has(test)) await proveAlone(copy, test);
    const honest = usable(suspects);
    // After a run that timed out, all tests must be known to end without the mutant.
    if (honest.length > 0 && (result !== null || honest.length === tests.length)) return honest[0];
    return noticedBy(copy, mutant, usable(tests));
  }

  async function judge(copy, mutant) {
    const all = usable(testsOf(mutant.file));
    const near = all.slice(0, 2 * (BATCHES[0] + BATCHES[1]));
    const folders = new Set(near.map(folderOf));
    const tests = [
      ...near.filter((test) => !slow.has(test)),
      ...near.filter((test) => slow.has(test)),
      ...all.slice(near.length).filter((test) => folders.has(folderOf(test))),
    ];
    let from = 0;
    for (const size of BATCHES) {
      const by = await noticedBy(copy, mutant, usable(tests.slice(from, from + size)));
      if (by !== null) return { outcome: 'caught', by };
      from += size;
    }
    return { outcome: usable(tests).length === 0 ? 'untested' : 'survived', by: null };
  }

  return { judge, unusable };
}
