import { createSystemClock } from '../adapters/clock.ts';
import { createLogger } from '../adapters/log.ts';
import { createAgentUnit } from '../adapters/update/agent-unit.ts';
import { createAptRepository } from '../adapters/update/apt.ts';
import { createUpdateFiles } from '../adapters/update/folder.ts';
import { createOrderFiles } from '../adapters/update/order-files.ts';
import { createReleases, readRelease } from '../adapters/update/releases.ts';
import { runProgram } from '../adapters/update/run-program.ts';
import type { NodePrograms } from './obtain.ts';
import { runUpdater } from './updater.ts';
import { faster, TIMES } from './updater-times.ts';

const INSTALLED = '/usr/lib/dragoman';
const QUERY_LIMIT_MS = 30_000;
const SYSTEM_NODE = '/usr/bin/node';

const log = createLogger({ level: 'info', format: 'journal', sink: process.stdout });

async function nodePrograms(): Promise<NodePrograms> {
  const query = ['--status', 'dragoman-node'];
  const installed = await runProgram('dpkg-query', query, { limitMs: QUERY_LIMIT_MS });
  const system = await runProgram(SYSTEM_NODE, ['--version'], { limitMs: QUERY_LIMIT_MS });
  return {
    private: /^Status: .* installed$[\s\S]*^Version: (\S+)$/m.exec(installed.stdout)?.[1] ?? null,
    system: /^v([\d.]+)/.exec(system.stdout)?.[1] ?? null,
  };
}

async function main(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const { STATE_DIRECTORY: root = '', RUNTIME_DIRECTORY: memory = '', DRAGOMAN_UPDATE_FASTER: factor } = env;
  if (root === '' || memory === '') {
    log.error(
      {},
      'this is a part of the unit dragoman-update.service; to order an update, see docs/updates.md',
    );
    process.exitCode = 2;
    return;
  }
  const own = await readRelease(INSTALLED);
  if (own === null) {
    log.error({}, `${INSTALLED} is damaged: install the package dragoman again`);
    process.exitCode = 1;
    return;
  }
  const clock = createSystemClock();
  const runtime = '/run/dragoman';
  await runUpdater({
    own,
    log,
    nodes: await nodePrograms(),
    clock,
    files: createUpdateFiles(root),
    releases: createReleases(root),
    repository: createAptRepository({
      root,
      sources: ['/etc/dragoman/update/dragoman.sources', '/etc/apt/sources.list.d/dragoman.sources'],
      keyring: '/usr/share/keyrings/dragoman-archive-keyring.gpg',
    }),
    unit: createAgentUnit({ unit: 'dragoman.service', runtime, kernel: '/' }, clock),
    orders: createOrderFiles({ state: '/var/lib/dragoman', runtime, own: memory }, log),
    ...(factor === undefined ? {} : { times: faster(TIMES, Math.max(1, Number(factor) || 1)) }),
  });
}

await main(process.env);
