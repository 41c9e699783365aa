/**
 * Runs test files of a copy of the repository on request, as a child process with a channel. It keeps vitest and the transformed
 * files, so that a run takes about a second.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createVitest } from 'vitest/node';

const root = process.cwd();
/** Suites with their own configuration; all other tests use the configuration of the root. */
const CONFIGS = ['test/screen', 'test/console'];
const LEFT_OUT = ['long', 'in-time'];
const running = new Map();

function configOf(file) {
  const folder = CONFIGS.find((one) => file.startsWith(`${one}/`));
  return folder === undefined ? 'vitest.config.ts' : `${folder}/vitest.config.ts`;
}

async function vitestWith(config) {
  if (!running.has(config)) {
    const options = {
      root,
      config: join(root, config),
      watch: false,
      bail: 1,
      maxWorkers: 1,
      reporters: [{}],
    };
    running.set(config, await createVitest('test', options));
  }
  return running.get(config);
}

/** @returns the failed files, and each finished file's milliseconds */
async function run({ files, changed }) {
  const failed = [];
  const took = {};
  for (const config of new Set(files.map(configOf))) {
    const vitest = await vitestWith(config);
    for (const path of changed) vitest.invalidateFile(join(root, path));
    const wanted = files.filter((file) => configOf(file) === config).map((file) => join(root, file));
    const found = await vitest.globTestSpecifications(wanted);
    const specifications = found.filter(
      ({ moduleId, project }) => wanted.includes(moduleId) && !LEFT_OUT.includes(project.name),
    );
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
    for (const module of testModules.filter(({ moduleId }) => wanted.includes(moduleId))) {
      const file = module.moduleId.slice(root.length + 1);
      took[file] = Math.round(module.diagnostic().duration);
      if (!['passed', 'skipped'].includes(module.state())) failed.push(file);
    }
    if (unhandledErrors.length > 0 && failed.length === 0) failed.push(...files);
    // Files that tests make once per run depend on the sources, so each run needs new ones.
    const folder = process.env.TESTS_RUN_FOLDER;
    if (folder !== undefined)
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
    if (failed.length > 0) break;
  }
  return { failed, took };
}

process.on('message', (request) => {
  run(request).then(
    (result) => process.send(result),
    (error) => process.send({ failed: request.files, took: {}, error: String(error.stack ?? error) }),
  );
});
process.on('disconnect', () => process.exit());
