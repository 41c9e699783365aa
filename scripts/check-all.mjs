/**
 * Runs the checks for a release that take too long for `.ci/run`, one after the other, and lists those that failed:
 * `npm run check:all [-- NAME ...]`; the names are below. Several need root and Debian packages (docs/testing.md).
 */
import { spawnSync } from 'node:child_process';

const CHECKS = {
  check: ['check'],
  long: ['test:long'],
  card: ['test:card'],
  'older-debian': ['test:systemd', '--project', '*-again'],
  'older-packages': ['test:packages', '--project', '*-again'],
  mutants: ['mutate', '--sample', '40', '--least', '80'],
  voices: ['voices'],
  echo: ['echo'],
  hours: ['sim', '--seeds', '200', '--hours', '1'],
  'cancelled-hours': ['sim', '--seeds', '40', '--hours', '1', '--cancel'],
  'virtual-machine': ['test:device', '--project', 'virtual'],
  machine: ['test:device', '--project', 'trixie'],
  'arm64-machine': ['test:device', '--project', 'trixie-arm64', 'daily', '-t', 'lines|recording'],
  image: ['test:image'],
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in CHECKS));
if (unknown.length > 0) {
  process.stderr.write(
    `There is no check ${unknown.join(', ')}. There are: ${Object.keys(CHECKS).join(', ')}\n`,
  );
  process.exit(2);
}
const results = Object.entries(CHECKS)
  .filter(([name]) => names.length === 0 || names.includes(name))
  .map(([name, [script, ...words]]) => {
    process.stdout.write(`\n== ${name}: npm run ${[script, '--', ...words].join(' ')}\n`);
    const startedAt = performance.now();
    const { status } = spawnSync('npm', ['run', script, '--', ...words], { stdio: 'inherit' });
    return { name, passed: status === 0, seconds: Math.round((performance.now() - startedAt) / 1000) };
  });
process.stdout.write('\n');
for (const { name, passed, seconds } of results)
  process.stdout.write(`${passed ? 'passed' : 'FAILED'}  ${name}, ${seconds} s\n`);
const failed = results.filter(({ passed }) => !passed).length;
process.stdout.write(`${results.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
