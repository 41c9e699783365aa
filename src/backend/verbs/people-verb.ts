import { type Command, Option } from 'commander';
import { createSystemClock } from '../../adapters/clock.ts';
import { readPassword } from '../../adapters/config/secret.ts';
import { createPasswordHasher } from '../../adapters/console/password-hash.ts';
import type { ConsoleStore, PersonOutcome, StoredAttempts } from '../../ports/console-store.ts';
import { StoreDown, StoreRefused } from '../../ports/store.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { examples, type Shell } from '../../program/program.ts';
import { jsonLine, textLine } from '../../protocol/common/plain-text.ts';
import { newPasswordSchema, personNameSchema } from '../../protocol/console-owner.ts';
import { CONSOLE_ROLES, type ConsoleRole } from '../../protocol/console-routes.ts';
import { CONFIG_OPTION, openStoreConfig } from '../config/open-config.ts';
import { OF_NAME, waitFor } from '../console/login-limits.ts';
import { openKeptConsoleStore } from '../store/open-store.ts';
import { audited } from './audited-work.ts';

/** Asks a question whose answer is not shown. Null: no person is at the terminal. */
export type AskSecretly = (question: string) => Promise<string | null>;

interface PeopleOptions {
  config?: string;
  role: ConsoleRole;
  passwordFile?: string;
  json?: true;
}

/** `people`: who may use the console. The first administrator can only be created here. */
export function addPeopleVerb(program: Command, shell: Shell, ask: AskSecretly): void {
  const people = program.command('people').description("people who may sign in at the owner's console");
  people
    .command('add')
    .description('add a person; the password is typed, or read from a file')
    .argument('<name>', 'a-z, 0-9 and "._@-", at most 64 characters')
    .option(...CONFIG_OPTION)
    .addOption(
      new Option('--role <role>', 'what the person may do; each role includes the one before')
        .choices(CONSOLE_ROLES)
        .makeOptionMandatory(),
    )
    .option('--password-file <file>', 'file that contains only the password')
    .addHelpText(
      ...examples(
        'dragoman-backend people add ann --role administrator \\\n    --config /etc/dragoman-backend/config.json',
      ),
    )
    .action((name: string, options: PeopleOptions) => add(shell, ask, name, options));
  people
    .command('list')
    .description('list the people, their roles, and when they last signed in')
    .option(...CONFIG_OPTION)
    .option('--json', 'print one line: {"people": [{"name", "role", "since", "last_seen", "locked_until"}]}')
    .addHelpText(...examples('dragoman-backend people list --config backend.json'))
    .action((options: PeopleOptions) => list(shell, options));
  people
    .command('remove')
    .description('remove a person, and end their sessions')
    .argument('<name>', 'as "people list" shows it')
    .option(...CONFIG_OPTION)
    .addHelpText(...examples('dragoman-backend people remove ann --config backend.json'))
    .action((name: string, options: PeopleOptions) => remove(shell, name, options));
  people
    .command('unlock')
    .description('let a person sign in again at once, after too many wrong passwords')
    .argument('<name>', 'as "people list" shows it')
    .option(...CONFIG_OPTION)
    .addHelpText(...examples('dragoman-backend people unlock ann --config backend.json'))
    .action((name: string, options: PeopleOptions) => unlock(shell, name, options));
}

async function add(shell: Shell, ask: AskSecretly, name: string, options: PeopleOptions): Promise<void> {
  const named = personNameSchema.safeParse(name);
  if (!named.success) throw new Failure(`"${name}": ${named.error.issues[0]?.message}`, EXIT.usage);
  await withStore(shell, options.config, async (store) => {
    if ((await store.person(name)) !== null)
      throw new Failure(`there is a person "${name}" already: remove it first, or choose another name`);
    const password = await passwordFor(shell, ask, name, options.passwordFile);
    const passwordHash = await createPasswordHasher().hash(password);
    await audited(store, 'people.add', name, { role: options.role }, async () => {
      const isNew = await store.addPerson({ name, role: options.role, passwordHash });
      if (!isNew) throw new Failure(`there is a person "${name}" already: choose another name`);
    });
    shell.print(textLine(`${name} may sign in as ${options.role}`));
  });
}

/** @throws Failure */
async function passwordFor(
  shell: Shell,
  ask: AskSecretly,
  name: string,
  file: string | undefined,
): Promise<string> {
  let password: string | null;
  if (file === undefined) {
    password = await ask(`Password for ${name}: `);
    if (password === null)
      throw new Failure(
        'this is not a terminal where a password can be typed: give --password-file',
        EXIT.usage,
      );
    if (password !== (await ask('Repeat the password: ')))
      throw new Failure('the two passwords differ: try again');
  } else {
    const read = readPassword(file, shell.env);
    if (!read.ok) throw new Failure(`--password-file: ${read.message}`, EXIT.usage);
    password = read.secret;
  }
  const checked = newPasswordSchema.safeParse(password);
  if (!checked.success) throw new Failure(`the password ${checked.error.issues[0]?.message}`, EXIT.usage);
  return checked.data;
}

async function list(shell: Shell, options: PeopleOptions): Promise<void> {
  await withStore(shell, options.config, async (store) => {
    const people = await store.people();
    const time = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
    if (options.json) {
      const lines = people.map(({ name, role, since, seenAt, attempts }) => ({
        name,
        role,
        since: time(since),
        last_seen: time(seenAt),
        locked_until: time(lockedUntil(attempts)),
      }));
      shell.print(jsonLine({ people: lines }));
      return;
    }
    for (const { name, role, seenAt, attempts } of people) {
      const seen = seenAt === null ? 'never signed in' : `last signed in ${time(seenAt)}`;
      const until = time(lockedUntil(attempts));
      const lock =
        until === null ? '' : `; locked until ${until} (wrong passwords): "people unlock ${name}" lifts it`;
      shell.print(textLine(`${name}  ${role}  ${seen}${lock}`));
    }
    if (people.length === 0)
      shell.print('no people yet: "dragoman-backend people add NAME --role administrator" adds the first\n');
  });
}

function lockedUntil(attempts: StoredAttempts | null): number | null {
  const now = createSystemClock().wall() ?? 0;
  const waitMs = waitFor(attempts, OF_NAME, now);
  return waitMs > 0 ? now + waitMs : null;
}

async function remove(shell: Shell, name: string, options: PeopleOptions): Promise<void> {
  await withStore(shell, options.config, async (store) => {
    await audited(store, 'people.remove', name, {}, async () => settle(await store.removePerson(name), name));
    shell.print(textLine(`${name} may not sign in any more`));
  });
}

const OF_ADDRESS_LOCK =
  'If the page says "from this address", that lock ends within 15 minutes, or with a restart of the backend';

async function unlock(shell: Shell, name: string, options: PeopleOptions): Promise<void> {
  await withStore(shell, options.config, async (store) => {
    const person = await store.person(name);
    if (person === null) return settle('unknown', name);
    await audited(store, 'people.unlock', name, {}, () => store.clearAttempts(name));
    const again = `${name} may try to sign in again`;
    const isLocked = lockedUntil(person.attempts) !== null;
    shell.print(textLine(isLocked ? again : `${name} was not locked. ${OF_ADDRESS_LOCK}`));
  });
}

/** @throws Failure */
function settle(outcome: PersonOutcome, name: string): void {
  if (outcome === 'unknown') throw new Failure(`there is no person "${name}": "people list" shows all`);
  if (outcome === 'last')
    throw new Failure(`"${name}" is the last administrator: add another administrator first`);
}

async function withStore(
  shell: Shell,
  file: string | undefined,
  use: (store: ConsoleStore) => Promise<void>,
): Promise<void> {
  const { config, storePassword } = openStoreConfig(shell, file);
  const store = openKeptConsoleStore(config.store, storePassword);
  try {
    await use(store);
  } catch (error) {
    if (error instanceof StoreDown || error instanceof StoreRefused) throw new Failure(error.message);
    throw error;
  } finally {
    await store.close();
  }
}
