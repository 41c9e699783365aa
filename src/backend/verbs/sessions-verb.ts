import type { Command } from 'commander';
import { suggestName } from '../../adapters/config/known-keys.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { examples, type Shell } from '../../program/program.ts';
import { jsonLine, textLine } from '../../protocol/common/plain-text.ts';
import type { Session } from '../../protocol/service/session.ts';
import { CONFIG_OPTION, openConfig, withService } from '../config/open-config.ts';
import { isOver, shortId } from '../issuing/session-upkeep.ts';
import type { ServiceClient } from '../service/service-client.ts';

interface ListOptions {
  config?: string;
  device?: string;
  reference?: string;
  json?: true;
}
type RevokeOptions = Pick<ListOptions, 'config' | 'device' | 'json'>;

/** Shortest accepted prefix of an id (characters); a shorter one could match any session. */
const SHORTEST_PREFIX = 6;

/** `sessions list|revoke`: lists and ends the account's sessions. Never shows tokens. */
export function addSessionsVerb(program: Command, shell: Shell): void {
  const sessions = program.command('sessions').description('list or revoke sessions of the account');
  sessions
    .command('list')
    .description('list sessions; their tokens are not shown')
    .option(...CONFIG_OPTION)
    .option('-d, --device <name>', 'only of this device: "tenant/device", or "device" of any tenant')
    .option('-r, --reference <text>', 'only with this client_reference_id: "tenant/device/lane"')
    .option('--json', 'print one line: {"sessions": [{"id", "status", ...}]}, without tokens')
    .addHelpText(...examples('dragoman-backend sessions list --config backend.json --device museum/kiosk-01'))
    .action((options: ListOptions) => list(shell, options));
  sessions
    .command('revoke')
    .description('revoke sessions: running streams end, tokens stop working')
    .argument('[id...]', `session ids, or beginnings of them (at least ${SHORTEST_PREFIX} characters)`)
    .option(...CONFIG_OPTION)
    .option('-d, --device <name>', 'every session of this device: "tenant/device", or "device" of any tenant')
    .option('--json', 'print one line: {"revoked": [{"id", "status", ...}]}')
    .addHelpText(
      ...examples(
        'dragoman-backend sessions revoke --config backend.json 5e1f2a3b',
        'dragoman-backend sessions revoke --config backend.json \\\n    --device museum/kiosk-01',
      ),
    )
    .action((ids: string[], options: RevokeOptions) => revoke(shell, ids, options));
}

async function list(shell: Shell, options: ListOptions): Promise<void> {
  const opened = openConfig(shell, options.config, 'apiKeyFile');
  const { reference, device } = options;
  const listed = await withService(opened, (service) =>
    service.listSessions(reference === undefined ? undefined : { clientReferenceId: reference }),
  );
  const shown = listed.filter((session) => {
    const { client_reference_id: label } = session;
    return (device === undefined || isOf(device, label)) && (reference === undefined || label === reference);
  });
  if (options.json) {
    shell.print(jsonLine({ sessions: shown.map(withoutToken) }));
    return;
  }
  const near = shown.length > 0 || device === undefined ? null : nearestOf(device, listed);
  if (shown.length === 0)
    shell.print(textLine(`no sessions${near === null ? '' : `; did you mean "${near}"?`}`));
  for (const session of shown) shell.print(textLine(describe(session)));
}

async function revoke(shell: Shell, ids: readonly string[], options: RevokeOptions): Promise<void> {
  const { device } = options;
  if ((ids.length === 0) === (device === undefined)) {
    throw new Failure('say what to revoke: either session ids or --device NAME', EXIT.usage);
  }
  const opened = openConfig(shell, options.config, 'apiKeyFile');
  const revoked = await withService(opened, async (service) => {
    const wanted = await choose(service, ids, device);
    const done: Session[] = [];
    for (const session of wanted) if (await service.deleteSession(session.id)) done.push(session);
    return done;
  });
  if (options.json) shell.print(jsonLine({ revoked: revoked.map(withoutToken) }));
  else if (revoked.length === 0) shell.print('nothing to revoke\n');
  else for (const session of revoked) shell.print(textLine(`revoked ${describe(session)}`));
}

async function choose(service: ServiceClient, ids: readonly string[], device: string | undefined) {
  const all = await service.listSessions();
  if (device !== undefined) {
    const near = nearestOf(device, all);
    if (near !== null) throw new Failure(`there is no session of "${device}"; did you mean "${near}"?`);
    return all.filter((session) => isOf(device, session.client_reference_id) && !isOver(session));
  }
  const chosen = new Map<string, Session>();
  for (const id of ids) {
    const session = all.find((candidate) => candidate.id === id) ?? (await startingWith(service, all, id));
    chosen.set(session.id, session);
  }
  return [...chosen.values()];
}

async function startingWith(service: ServiceClient, all: readonly Session[], id: string): Promise<Session> {
  const begun = id.replace(/\.+$/, '');
  const matching =
    begun.length < SHORTEST_PREFIX ? [] : all.filter((session) => session.id.startsWith(begun));
  if (matching.length > 1) throw new Failure(`several sessions begin with ${begun}: give more of the id`);
  // A list may be incomplete.
  const session = matching[0] ?? (await service.getSession(id));
  if (session === null) throw new Failure(`there is no session ${begun}; "sessions list" shows all sessions`);
  return session;
}

function isOf(device: string, reference: string | null | undefined): boolean {
  const [tenant, name] = (reference ?? '').split('/');
  return device.includes('/') ? device === `${tenant}/${name}` : device === name;
}

/** Of the devices with sessions, the one with the most similar name; null: none is similar. */
function nearestOf(device: string, all: readonly Session[]): string | null {
  if (all.some((session) => isOf(device, session.client_reference_id))) return null;
  const names = all.map(({ client_reference_id }) => (client_reference_id ?? '').split('/').slice(0, 2));
  return suggestName(
    device,
    names
      .map((parts) => (device.includes('/') ? parts.join('/') : (parts[1] ?? '')))
      .filter((name) => name !== ''),
  );
}

function withoutToken({ token: _, ...session }: Session): Omit<Session, 'token'> {
  return session;
}

function describe(session: Session): string {
  const streams = session.active_stream_count ? `, ${session.active_stream_count} streaming` : '';
  const whose = session.client_reference_id ?? '-';
  return `${shortId(session.id)}  ${whose}  ${session.status}${streams}  connect by ${session.connect_by}`;
}
