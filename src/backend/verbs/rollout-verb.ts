import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { createSystemClock } from '../../adapters/clock.ts';
import { packageVersion, plainVersion } from '../../core/update/package-versions.ts';
import type { ConsoleStore } from '../../ports/console-store.ts';
import type { RolloutStore, StoredRollout } from '../../ports/rollout-store.ts';
import { StoreDown, StoreRefused } from '../../ports/store.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { examples, type Shell } from '../../program/program.ts';
import { wrapText } from '../../program/text.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import { jsonLine } from '../../protocol/common/plain-text.ts';
import { manifestUrlSchema, versionSchema } from '../../protocol/common/update.ts';
import { checked } from '../broker/option-values.ts';
import { CONFIG_OPTION, openConfig, openStoreConfig } from '../config/open-config.ts';
import { Unreadable, versionsAt, versionsInFolder } from '../releases/release-versions.ts';
import { countsOf, rolloutJson, rolloutLines } from '../rollout/report.ts';
import { type Asked, abort, pause, readWaves, resume, whyNotYet } from '../rollout/requests.ts';
import { createRollout, type Plan, type Rollout, readRollout } from '../rollout/rollout.ts';
import { insistOnUpdatable } from '../rollout/updatable.ts';
import { createConsoleStore } from '../store/console-store.ts';
import { openKeptEngine } from '../store/open-store.ts';
import { createRolloutStore } from '../store/rollout-store.ts';
import { audited } from './audited-work.ts';

interface StartOptions {
  config?: string;
  waves: string;
  group?: string;
  manifestUrl?: string;
}
interface Options {
  config?: string;
  json?: true;
}
interface Stores {
  readonly rollouts: RolloutStore;
  readonly audit: Pick<ConsoleStore, 'beginAudit' | 'endAudit'>;
}

const NONE = 'there is no roll-out: begin one with "dragoman-backend rollout start VERSION"';

/** `rollout`: brings a version to the devices in waves. The running backend does it; these verbs only write into its store. */
export function addRolloutVerb(program: Command, shell: Shell): void {
  const rollout = program
    .command('rollout')
    .description('roll a version out to all devices in waves; stops automatically when the version is bad');
  rollout
    .command('start')
    .description('begin a roll-out; a running backend sends the orders')
    .argument('<version>', 'exact version, such as "1.3.0"')
    .option(...CONFIG_OPTION)
    .option('--waves <shares>', 'rising shares of the devices, up to 100%', '1%,10%,100%')
    .option('--group <name>', 'only devices of this group of the configuration')
    .option('--manifest-url <address>', "signed list of the repository; left out: each device's own sources")
    .addHelpText(
      ...examples(
        'dragoman-backend rollout start 1.3.0 --config backend.json',
        'dragoman-backend rollout start 1.3.0 --config backend.json \\\n    --waves 5%,100% --group lobby',
      ),
    )
    .action((version: string, options: StartOptions) => start(shell, version, options));
  rollout
    .command('status')
    .description('show how far the roll-out is')
    .option(...CONFIG_OPTION)
    .option('--json', 'print one line: {"rollout": {"version", "state", "wave", "live", ...}}')
    .addHelpText(...examples('dragoman-backend rollout status --config backend.json'))
    .action((options: Options) => status(shell, options));
  const verb = (name: string, says: string, ask: Ask): void => {
    rollout
      .command(name)
      .description(says)
      .option(...CONFIG_OPTION)
      .addHelpText(...examples(`dragoman-backend rollout ${name} --config backend.json`))
      .action((options: Options) => change(shell, options, name, ask));
  };
  verb('pause', 'send no orders and begin no wave until "resume"', pause);
  verb('resume', 'continue after "pause", or after an automatic stop', resume);
  verb('abort', 'send no more orders; devices that have the version keep it', (one) => abort(one, now()));
}

type Ask = (rollout: Rollout) => Asked;

async function start(shell: Shell, version: string, options: StartOptions): Promise<void> {
  await withStores(shell, options.config, async ({ rollouts, audit }, config) => {
    const plan = planOf(version, options, config);
    const before = await rollouts.current();
    const running = before === null ? null : readRollout(before.body);
    const refusal = running === null ? null : whyNotYet(running);
    if (refusal !== null) throw new Failure(refusal);
    const unchecked = await whyUnchecked(plan, config);
    await insistOnUpdatable(openConfig(shell, options.config, null), plan.group);
    const next = createRollout(randomUUID(), plan, now());
    const { waves, group, manifestUrl: manifest_url } = plan;
    await audited(audit, 'rollout.start', plan.version, { waves, group, manifest_url }, async () => {
      if (!(await rollouts.replace(before, { id: next.id, body: JSON.stringify(next) })))
        throw new Failure('another person has just begun a roll-out: see "dragoman-backend rollout status"');
    });
    if (config.signingKeyFile === null)
      say(shell, 'signingKeyFile is not set: devices with owner keys will refuse the orders', true);
    if (unchecked !== null)
      say(
        shell,
        `not checked whether the repository has ${plan.version}: ${unchecked}; the first wave stops if devices do not find it`,
        true,
      );
    const shares = waves.map((share) => `${share} %`).join(', ');
    const whom = group === null ? 'of all devices' : `of the devices in group ${group}`;
    say(shell, `the roll-out of ${plan.version} begins: ${shares} ${whom}`);
    say(shell, 'a running backend sends the orders; "dragoman-backend rollout status" shows how far it is');
  });
}

/** @throws Failure that names the field */
function planOf(version: string, options: StartOptions, config: BackendConfig): Plan {
  checked('<version>', versionSchema, version);
  const waves = readWaves(options.waves);
  if (typeof waves === 'string') throw new Failure(`--waves: ${waves}`, EXIT.usage);
  const { group = null, manifestUrl = null } = options;
  if (manifestUrl !== null) checked('--manifest-url', manifestUrlSchema, manifestUrl);
  if (group !== null) checkGroup(group, config);
  return { version, waves: [...waves], group, manifestUrl, by: userInfo().username };
}

function checkGroup(group: string, { groups }: BackendConfig): void {
  if (groups.some(({ name }) => name === group)) return;
  const names = groups.map(({ name }) => name).join(', ');
  const known = names === '' ? 'has no groups' : `has ${names}`;
  throw new Failure(
    `--group: there is no group "${group}": the configuration ${known}; add it to "groups" there, or leave --group out`,
    EXIT.usage,
  );
}

const MOST_LISTED = 5;

/** @returns why it is unknown whether devices find the version; null: they find it. @throws Failure if they do not */
async function whyUnchecked({ version, manifestUrl }: Plan, config: BackendConfig): Promise<string | null> {
  const { path } = config.releases;
  if (manifestUrl === null && path === null) return 'each device has its own sources, which only it can read';
  const insist = (versions: readonly string[], where: string): null => {
    if (versions.includes(packageVersion(version))) return null;
    const last = versions.slice(-MOST_LISTED).map(plainVersion).join(', ');
    throw new Failure(
      `<version>: ${version} is not in the signed index of ${where}, which has ${last === '' ? 'none' : last}; add it with scripts/release, or name one of these`,
      EXIT.usage,
    );
  };
  if (manifestUrl === null) return insist(await versionsInFolder(path ?? ''), `releases.path (${path})`);
  try {
    return insist(await versionsAt(manifestUrl), manifestUrl);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    if (error.isMissing)
      throw new Failure(`--manifest-url: there is no list at ${manifestUrl} (${error.message})`, EXIT.usage);
    return `${manifestUrl} cannot be read from here (${error.message})`;
  }
}

async function status(shell: Shell, options: Options): Promise<void> {
  await withStores(shell, options.config, async ({ rollouts }) => {
    const stored = await rollouts.current();
    if (options.json) {
      const shown = stored === null ? null : rolloutJson(understood(stored), stored.isDriven);
      return shell.print(jsonLine({ rollout: shown }));
    }
    if (stored === null) return say(shell, NONE);
    for (const line of rolloutLines(understood(stored), stored.isDriven))
      shell.print(
        line.startsWith(' ') ? `  ${wrapText(line.trimStart(), INDENT, WIDTH)}` : wrapText(line, '  '),
      );
  });
}
const INDENT = ' '.repeat(12);
const WIDTH = 78;

async function change(shell: Shell, options: Options, name: string, ask: Ask): Promise<void> {
  await withStores(shell, options.config, async ({ rollouts, audit }) => {
    const found = await rollouts.current();
    if (found === null) throw new Failure(NONE);
    await audited(audit, `rollout.${name}`, understood(found).plan.version, {}, async () => {
      // Retries, because the backend may write at the same time.
      for (let row: StoredRollout | null = found; row !== null; row = await rollouts.current()) {
        const asked = ask(understood(row));
        if (!asked.ok) throw new Failure(`the roll-out of ${understood(row).plan.version}: ${asked.why}`);
        if ((await rollouts.save(row, JSON.stringify(asked.rollout))) === null) continue;
        return say(shell, changed(name, asked.rollout));
      }
      throw new Failure(NONE);
    });
  });
}

function changed(name: string, rollout: Rollout): string {
  const { plan } = rollout;
  const { live, under_way } = countsOf(rollout);
  if (name === 'resume') return `the roll-out of ${plan.version} goes on`;
  const rest = `${live} ${live === 1 ? 'device has' : 'devices have'} ${plan.version} and ${live === 1 ? 'keeps' : 'keep'} it, ${under_way} ${under_way === 1 ? 'has' : 'have'} the order and ${under_way === 1 ? 'continues' : 'continue'}`;
  const advice = name === 'abort' ? '; "dragoman ctl DEVICE rollback" returns one of them' : '';
  return `the roll-out of ${plan.version} is ${rollout.state}: no more orders are sent; ${rest}${advice}`;
}

/** @throws Failure */
function understood({ body }: StoredRollout): Rollout {
  const rollout = readRollout(body);
  if (rollout === null)
    throw new Failure('this version cannot read the roll-out in the store: "rollout start" replaces it');
  return rollout;
}

const say = (shell: Shell, sentence: string, isWarning = false): void => {
  const text = wrapText(isWarning ? `warning: ${sentence}` : sentence, '  ');
  if (isWarning) shell.complain(text);
  else shell.print(text);
};

function now(): number {
  const wall = createSystemClock().wall();
  if (wall === null) throw new Failure('the clock of this machine is not set: set it first');
  return wall;
}

async function withStores(
  shell: Shell,
  file: string | undefined,
  use: (stores: Stores, config: BackendConfig) => Promise<void>,
): Promise<void> {
  const { config, storePassword } = openStoreConfig(shell, file);
  const engine = openKeptEngine(config.store, storePassword);
  try {
    await use({ rollouts: createRolloutStore(engine), audit: createConsoleStore(engine) }, config);
  } catch (error) {
    if (error instanceof StoreDown || error instanceof StoreRefused) throw new Failure(error.message);
    throw error;
  } finally {
    await engine.close();
  }
}
