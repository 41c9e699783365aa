/** A copy of the repository in which one mutant at a time is put in and judged by tests. */
import { execFileSync, fork, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../import-typescript.mjs';

/** @param postgres whether tests may start PostgreSQL; those of both stores take several times as long with it */
export function makeCopy(postgres) {
  const folder = fs.mkdtempSync(join(tmpdir(), 'dragoman-mutate-'));
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: ROOT,
    maxBuffer: 1e8,
  });
  const paths = String(listed)
    .split('\n')
    .filter((path) => path !== '' && fs.existsSync(join(ROOT, path)));
  spawnSync('tar', ['-cf', join(folder, 'all.tar'), '-T', '-'], { cwd: ROOT, input: paths.join('\n') });
  spawnSync('tar', ['-xf', 'all.tar'], { cwd: folder });
  fs.rmSync(join(folder, 'all.tar'));
  fs.symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const change = changesIn(folder);
  shortenPatience(change);
  if (!postgres) change('test/backend/store/postgres-server.ts', /'\/usr\/lib\/postgresql'/, "'/not/there'");
  return new Copy(folder);
}

/** Returns a function that changes a text which must be in a file. */
function changesIn(folder) {
  return (path, pattern, replacement) => {
    const text = fs.readFileSync(join(folder, path), 'utf8');
    if (!pattern.test(text)) throw new Error(`${path}: ${pattern} is not there`);
    fs.writeFileSync(join(folder, path), text.replace(pattern, replacement));
  };
}

/** Shortens the timeouts of tests: they are minutes for slow machines, and a mutant that causes one should not take as long. */
function shortenPatience(change) {
  change('test/setup/patience.ts', /timeout: [\d_]+/, 'timeout: 15_000');
  change('vitest.config.ts', /testTimeout: [\d_]+/, 'testTimeout: 30_000');
  for (const suite of ['screen', 'console'])
    change(`test/${suite}/vitest.config.ts`, /testTimeout: [\d_]+/, 'testTimeout: 60_000');
}

class Copy {
  #folder;
  #child = null;
  #changed = new Set();

  constructor(folder) {
    this.#folder = folder;
  }

  write(path, text) {
    fs.writeFileSync(join(this.#folder, path), text);
    this.#changed.add(path);
  }

  /** @returns the failed files and each file's milliseconds; null if it takes longer than `longestMs` */
  run(files, longestMs) {
    const changed = [...this.#changed];
    this.#changed.clear();
    this.#child ??= this.#start();
    const child = this.#child;
    return new Promise((resolve) => {
      const end = (result) => {
        clearTimeout(timer);
        child.removeAllListeners();
        if (result === null || result.error !== undefined) this.#stop();
        resolve(result);
      };
      const timer = setTimeout(() => end(null), longestMs);
      child.once('message', end);
      // Code that ends the process of the tests has failed.
      child.once('exit', () => end({ failed: files, took: {}, error: 'the process of the tests has ended' }));
      child.send({ files, changed });
    });
  }

  #start() {
    const env = { ...process.env };
    delete env.TESTS_RUN_FOLDER;
    return fork(join(this.#folder, 'scripts/mutate/run-tests.mjs'), [], {
      cwd: this.#folder,
      env,
      stdio: 'ignore',
      execArgv: [],
    });
  }

  #stop() {
    if (this.#child !== null) killTree(this.#child.pid);
    this.#child = null;
  }

  remove() {
    this.#stop();
    fs.rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Ends a process and all that it has started: browsers and servers have process groups of their own. */
function killTree(pid) {
  const parents = new Map();
  for (const name of fs.readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      const parent = / [A-Z] (\d+) /.exec(fs.readFileSync(`/proc/${name}/stat`, 'latin1'))?.[1];
      parents.set(Number(name), Number(parent));
    } catch {
      // The process has just ended.
    }
  }
  const tree = new Set([pid]);
  for (const above of tree) for (const [child, parent] of parents) if (parent === above) tree.add(child);
  for (const one of tree) {
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // The process has just ended.
    }
  }
}
