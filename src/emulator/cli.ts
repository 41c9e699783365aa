import { createSecureContext } from 'node:tls';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { readPem, UnreadablePem } from '../adapters/config/pem.ts';
import { tlsReason } from '../adapters/network/tls-reason.ts';
import { listenTrouble, systemCode } from '../adapters/system-error.ts';
import { tlsAdvice } from '../core/network/tls-advice.ts';
import { EXIT, Failure } from '../program/problem.ts';
import { examples, runProgram, type Shell, type Terminal } from '../program/program.ts';
import { type EndSignals, untilAskedToEnd } from '../program/signals.ts';
import { jsonLine } from '../protocol/common/plain-text.ts';
import { CHOICES, type ChoiceName, isChoiceName, PROFILES, type Profile } from './core/choices.ts';
import { createDoor } from './listener.ts';
import { readPhrases } from './own-phrases.ts';
import { requestLine } from './request-log.ts';
import {
  DEFAULT_API_KEY,
  DEFAULT_JWT,
  type Emulator,
  type EmulatorOptions,
  startEmulator,
} from './server.ts';

interface RunFlags {
  host: string;
  allowHost?: string[];
  port: number;
  profile: Profile;
  apiKey?: string[];
  jwt?: string[];
  client?: { id: string; secret: string }[];
  tlsCert?: string;
  tlsKey?: string;
  set: Record<string, unknown>;
  translate?: string;
  setupMs?: unknown;
  heartbeatMs?: unknown;
  concurrent?: unknown;
  pending?: unknown;
  verbose?: boolean;
  phrases?: string;
}

export const NAME = 'dragoman-emulator';

function explain(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('it must be 0 to 65535.');
  return port;
}

function readHost(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError(
    'it must be an address: 0.0.0.0 listens everywhere, 127.0.0.1 on this machine only.',
  );
}

function readName(text: string, before: string[] = []): string[] {
  try {
    createDoor('127.0.0.1', [text]);
  } catch {
    throw new InvalidArgumentError('it must be the name of a host, without a port.');
  }
  return [...before, text];
}

function readChoice(name: ChoiceName): (text: string) => unknown {
  return (text) => {
    const parsed = CHOICES[name].schema.safeParse(text);
    if (parsed.success) return parsed.data;
    throw new InvalidArgumentError(`it ${parsed.error.issues[0]?.message ?? 'is wrong'}.`);
  };
}

function readSetting(text: string, before: Record<string, unknown>): Record<string, unknown> {
  const [name = '', ...rest] = text.split('=');
  if (rest.length === 0) throw new InvalidArgumentError('it must be NAME=VALUE.');
  if (!isChoiceName(name)) {
    throw new InvalidArgumentError(`there is no option "${name}"; "${NAME} choices" lists them.`);
  }
  return { ...before, [name]: readChoice(name)(rest.join('=')) };
}

function readClient(
  text: string,
  before: { id: string; secret: string }[] = [],
): { id: string; secret: string }[] {
  const [id = '', ...secret] = text.split(':');
  if (id === '' || secret.length === 0) throw new InvalidArgumentError('it must be ID:SECRET.');
  return [...before, { id, secret: secret.join(':') }];
}

/** Collects credentials. An empty one means that a script's variable is not set. */
function collect(text: string, before: string[] = []): string[] {
  if (text.trim() === '') throw new InvalidArgumentError('it must not be empty.');
  return [...before, text];
}

/** Reads certificate and key; a usage error if one is missing, cannot be read, or is not PEM. */
function readTls(
  tlsCert: string | undefined,
  tlsKey: string | undefined,
): { cert: string; key: string } | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    const [given, missing] =
      tlsCert === undefined ? ['--tls-key', '--tls-cert'] : ['--tls-cert', '--tls-key'];
    throw new Failure(`${given} needs ${missing}: give both for https and wss`, EXIT.usage);
  }
  const tls = { cert: pemOf('--tls-cert', tlsCert), key: pemOf('--tls-key', tlsKey) };
  try {
    createSecureContext(tls);
  } catch (problem) {
    const why = tlsReason(problem) ?? explain(problem);
    const fix = tlsAdvice(why) ?? 'give a PEM certificate and its private key';
    throw new Failure(`--tls-cert and --tls-key cannot be used together (${why}); ${fix}`, EXIT.usage);
  }
  return tls;
}

function pemOf(option: string, file: string): string {
  try {
    return readPem(option, file).toString('utf8');
  } catch (problem) {
    if (!(problem instanceof UnreadablePem)) throw problem;
    throw new Failure(`${problem.message}; give a PEM file`, EXIT.usage);
  }
}

async function run(flags: RunFlags, shell: Shell, signals: EndSignals): Promise<void> {
  const {
    host,
    allowHost,
    port,
    profile,
    apiKey,
    jwt,
    client,
    set,
    tlsCert,
    tlsKey,
    verbose,
    phrases,
    ...named
  } = flags;
  const tls = readTls(tlsCert, tlsKey);
  const options = {
    ...named,
    ...set,
    host,
    port,
    profile,
    ...(allowHost === undefined ? {} : { allowedHosts: allowHost }),
    ...(apiKey === undefined ? {} : { apiKeys: apiKey }),
    ...(jwt === undefined ? {} : { jwts: jwt }),
    ...(client === undefined ? {} : { clients: client }),
    ...(tls === undefined ? {} : { tls }),
    ...(phrases === undefined ? {} : { phrases: readPhrases(phrases) }),
    ...(verbose === true ? { onRequest: (entry) => shell.complain(`${requestLine(entry)}\n`) } : {}),
  } as EmulatorOptions;
  const asked = untilAskedToEnd(signals);
  let emulator: Emulator;
  try {
    emulator = await startEmulator(options);
  } catch (problem) {
    throw new Failure(
      systemCode(problem) === null
        ? explain(problem)
        : `--host ${host} --port ${port} ${listenTrouble(problem)}`,
    );
  }
  shell.print(jsonLine({ listening: emulator.url }));
  await asked;
  await emulator.close();
}

function listChoices(asJson: boolean, shell: Shell): void {
  const rows = Object.entries(CHOICES).map(([name, { spec, live, about }]) => ({ name, spec, live, about }));
  if (asJson) shell.print(jsonLine({ choices: rows }));
  else {
    for (const { name, spec, live, about } of rows) {
      shell.print(`${name} (spec ${spec ?? 'none'}, live ${live ?? 'none'})\n    ${about}\n`);
    }
  }
}

function addRunVerb(program: Command, shell: Shell, signals: EndSignals): void {
  program
    .command('run')
    .description('serve HTTP and WebSocket on one port until SIGTERM or SIGINT')
    .option('--host <address>', 'address to listen on', readHost, '127.0.0.1')
    .option(
      '--allow-host <name>',
      'another host name under which clients reach this address, or the host of a web page that may use it; may be repeated',
      readName,
    )
    .option('--port <number>', 'port to listen on; 0 takes a free one', readPort, 0)
    .addOption(
      new Option(
        '--profile <name>',
        'spec follows the specification only; live adds what public clients show of a live service',
      )
        .choices(PROFILES)
        .default('spec'),
    )
    .addOption(
      new Option('--translate <mode>', CHOICES.translate.about).choices([
        'transform',
        'echo',
        'silence',
        'speak',
      ]),
    )
    .option('--api-key <key>', `account API key; may be repeated (default: ${DEFAULT_API_KEY})`, collect)
    .option('--jwt <token>', `account JWT; may be repeated (default: ${DEFAULT_JWT})`, collect)
    .option(
      '--client <id:secret>',
      'ClientId and ClientSecret of a legacy caller; may be repeated',
      readClient,
    )
    .option('--tls-cert <file>', 'PEM certificate chain: serves https and wss only; needs --tls-key')
    .option('--tls-key <file>', 'PEM private key of --tls-cert')
    .option(
      '--phrases <file>',
      'phrases that the visitors say, instead of the built-in phrase book: [{"en": "Hello.", "es": "Hola."}]',
    )
    .option('--verbose', 'log each request, refusal and ended stream on standard error, without credentials')
    .option('--setup-ms <ms>', CHOICES.setupMs.about, readChoice('setupMs'))
    .option('--heartbeat-ms <ms>', CHOICES.heartbeatMs.about, readChoice('heartbeatMs'))
    .option('--concurrent <number>', CHOICES.concurrent.about, readChoice('concurrent'))
    .option('--pending <number>', CHOICES.pending.about, readChoice('pending'))
    .option(
      '--set <name=value>',
      `any other choice (see "${NAME} choices"); may be repeated`,
      readSetting,
      {},
    )
    .addHelpText(
      ...examples(
        `${NAME} run --port 8080`,
        `${NAME} run --profile live --set noAudioTimeoutMs=30000`,
        `${NAME} run --translate echo --setup-ms 0`,
      ),
    )
    .action((flags: RunFlags) => run(flags, shell, signals));
}

function addChoicesVerb(program: Command, shell: Shell): void {
  program
    .command('choices')
    .description(
      'list everything that the specification leaves open and that --set can change; numbers in parentheses are sections of docs/service.md',
    )
    .option('--json', 'print one line: {"choices": [{"name", "spec", "live", "about"}]}')
    .addHelpText(...examples(`${NAME} choices --json`))
    .action((flags: { json?: boolean }) => listChoices(flags.json === true, shell));
}

/**
 * Runs one command line. Never rejects; resolves with the exit code once the verb has ended.
 * @param argv the arguments after the program's name
 */
export function runEmulatorProgram(
  argv: readonly string[],
  given: Terminal & { readonly signals: EndSignals },
): Promise<number> {
  const { signals, ...terminal } = given;
  return runProgram({
    name: NAME,
    summary: 'An emulator of the speech translation service, for development and tests.',
    verbs: [
      { register: (program, shell) => addRunVerb(program, shell, signals) },
      { register: addChoicesVerb },
    ],
    argv,
    ...terminal,
  });
}
