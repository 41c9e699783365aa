import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Machine } from './container.ts';
import { lastingProcesses } from './unit-processes.ts';

const UNITS = fileURLToPath(new URL('../../systemd/', import.meta.url));
const NAME = 'dragoman/v1/museum/kiosk-01';
const PASSWORDS = { kiosk: 'kiosk-password', backend: 'backend-password' };
const API_KEY = 'api-key-of-the-tests';

export const SERVICE = 'dragoman.service';
export const BROKER = 'mosquitto.service';
export const BACKEND = 'dragoman-backend.service';
export const EMULATOR = 'emulator.service';
const OTHERS = [BROKER, EMULATOR, BACKEND];
/** Default limit for waiting (ms): long enough for slow machines, so that only a hang exceeds it. */
const LIMIT_MS = 150_000;

/** The agent's default audio: files. */
export const FILES = {
  capture: { driver: 'file', path: '/opt/dragoman/visitor.wav', loop: true },
  playback: { driver: 'file', path: '/var/lib/dragoman/spoken.wav' },
};

/** A device that is set up like an owner's, with broker, backend and service on the same machine. */
export interface Kiosk {
  readonly machine: Machine;
  /** Replaces the agent's configuration by one with these lanes. */
  configure(...lanes: object[]): Promise<void>;
  /** The same, with any other part of the configuration. */
  configureAll(
    parts: { readonly lanes: readonly object[] } & Readonly<Record<string, unknown>>,
  ): Promise<void>;
  /** Replaces the configuration by any text. */
  configureText(text: string): Promise<void>;
  /** Lines for the agent's unit, as `systemctl edit` would add them; they end with `reset`. */
  edit(lines: readonly string[]): Promise<void>;
  /** Restores the installed state: agent stopped and without stored data; broker, backend and service running. */
  reset(): Promise<void>;
  /** Encrypts broker (8883) and service (8443) with this certificate for 127.0.0.1, until `reset`. */
  encrypt(files: { readonly certificate: string; readonly key: string }): Promise<void>;
  systemctl(...words: string[]): Promise<string>;
  /** Steers the service (`POST /emulator/faults`), until `reset`. */
  fault(order: object): Promise<void>;
  /** Restarts the service with these options and the backend with these settings, until `reset`. */
  serve(options: string, backend?: object): Promise<void>;
  /** Stops or freezes the broker, the backend or the service, until `reset`. */
  disturb(how: 'stop' | 'freeze', unit: string): Promise<void>;
  /** A property of the agent's unit. */
  show(property: string, unit?: string): Promise<string>;
  /** Process id of the agent, in the container; 0 for none. */
  mainPid(): Promise<number>;
  /**
   * The lasting processes of the agent's unit: id and program. Short-lived children are left out, and so are forks that have not
   * become their program yet, or have already ended.
   */
  processes(): Promise<Map<number, string>>;
  /** Waits until exactly these programs run, each as often as it is named. */
  untilPrograms(...programs: string[]): Promise<Map<number, string>>;
  /**
   * Stops a unit. @returns the milliseconds from SIGTERM to its end, by systemd's clock, so that delays of the test do not count.
   */
  stop(unit?: string): Promise<number>;
  /** The content of a retained topic of the device; null if empty. */
  retained(topic: 'status' | 'state'): Promise<unknown>;
  /** Phase of the only lane; null if the agent that published it is gone. */
  phase(): Promise<string | null>;
  /** Waits until the lane is live. @returns the milliseconds */
  live(): Promise<number>;
  /** Waits until `systemctl status` shows this text, which the agent sends by a short-lived program. */
  untilStatus(text: string): Promise<void>;
  /** The device's last answer to a command; null if there is none within this time (default: 60 s). */
  command(name: string, patienceS?: number): Promise<unknown>;
  /** Publishes below the device's topics: each line of `payload` as a message, or the whole as one. */
  publish(topic: string, payload: string, how: 'lines' | 'whole'): Promise<void>;
  /** The journal of the agent's unit since `reset`; `priority` as in journalctl. */
  journal(priority?: string): Promise<string>;
  /** Diagnostics for a failed test. */
  lastWords(): Promise<string>;
}

/** Installs everything as the comments at the top of the units say. */
export async function openKiosk(machine: Machine): Promise<Kiosk> {
  const { must, write } = machine;
  for (const file of readdirSync(UNITS)) {
    const text = readFileSync(`${UNITS}${file}`, 'utf8');
    const place = /^# Install as (\S+)/m.exec(text)?.[1] ?? `/etc/systemd/system/${file}`;
    await write(place.replace(/[,.]$/, ''), text);
  }
  await must(['systemd-sysusers']);
  await write('/etc/dragoman/secrets/mqtt-password', PASSWORDS.kiosk, '0600');
  await write('/etc/dragoman-backend/secrets/mqtt-password', PASSWORDS.backend, '0600');
  await write('/etc/dragoman-backend/secrets/api-key', API_KEY, '0600');
  await write('/etc/systemd/system/dragoman-backend.service.d/password.conf', credential('dragoman-backend'));
  for (const [index, [user, password]] of Object.entries(PASSWORDS).entries())
    await must([
      'mosquitto_passwd',
      '-b',
      ...(index === 0 ? ['-c'] : []),
      '/etc/mosquitto/passwords',
      user,
      password,
    ]);
  await must(['chown', 'mosquitto', '/etc/mosquitto/passwords']);
  const kiosk = createKiosk(machine);
  await kiosk.reset();
  return kiosk;
}

const credential = (name: string) =>
  `[Service]\nLoadCredential=mqtt-password:/etc/${name}/secrets/mqtt-password\n`;

/** The broker queues a flood for a slow client instead of dropping it. */
const BROKER_CONFIG = `listener 1883 127.0.0.1
allow_anonymous false
password_file /etc/mosquitto/passwords
max_queued_messages 0
`;

const EMULATOR_UNIT = `[Service]
ExecStart=/usr/bin/node /opt/dragoman/emulator.mjs run --api-key ${API_KEY} --translate echo --setup-ms 200`;

const BACKEND_CONFIG = {
  mqtt: { url: 'mqtt://127.0.0.1:1883', username: 'backend', passwordFile: 'mqtt-password' },
  allow: ['museum/*'],
  // The tests start the agent very often.
  limits: { sessionsPerHour: 3600, sessionsAtOnce: 64 },
};

const serviceAt = (host: string, secure: 's' | '') => ({
  url: `http${secure}://${host}`,
  streamUrl: `ws${secure}://${host}/streaming-api/{random_hash}/v1/speech-to-speech/stream`,
  apiKeyFile: 'api-key',
});
const IN_CLEAR = { emulator: '--port 8080', service: serviceAt('127.0.0.1:8080', '') };

const AGENT = {
  device: { id: 'kiosk-01', tenant: 'museum' },
  mqtt: { url: 'mqtt://127.0.0.1:1883', username: 'kiosk', passwordFile: 'mqtt-password' },
  service: { hosts: ['127.0.0.1:8080'] },
};
const LANE = { source: 'en', targets: ['es'], echo: 'off' };
const LOGIN = ['-h', '127.0.0.1', '-u', 'kiosk', '-P', PASSWORDS.kiosk];
/** Ends `mosquitto_sub` after the first line that matches a pattern. The pattern is the first argument. */
const FOLLOW = `last=$1; shift; pipe=$(mktemp -u); mkfifo "$pipe"
mosquitto_sub "$@" >"$pipe" & child=$!
while read -r line; do printf '%s\\n' "$line"; case $line in $last) break ;; esac; done <"$pipe"
kill $child 2>/dev/null; rm "$pipe"`;
/** Values of the retained status when the agent that published the retained state is gone. */
const GONE = ['lost', 'offline'];
/** Message ids of systemd for a unit (sd-messages.h): before SIGTERM, and after the last process has ended. */
const [STOPPING, STOPPED] = ['de5b426a63be47a7b6ac3eaac82e2f6f', '9d1aaa27d60140bd96365438aad20286'];
const DROP_INS = `/etc/systemd/system/${SERVICE}.d`;

function createKiosk(machine: Machine): Kiosk {
  const { must, run, write } = machine;
  let since = '';
  let isDisturbed = true;
  let isChanged = true;
  let commands = 0;
  const systemctl = (...words: string[]) => must(['systemctl', ...words]);
  const configureText = (text: string) => write('/etc/dragoman/config.json', text);
  const configureAll: Kiosk['configureAll'] = ({ lanes, ...parts }) =>
    configureText(JSON.stringify({ ...AGENT, ...parts, lanes: lanes.map((lane) => ({ ...LANE, ...lane })) }));
  const configure = (...lanes: object[]) => configureAll({ lanes });
  const edit = async (lines: readonly string[]) => {
    await write(`${DROP_INS}/test.conf`, `[Service]\n${lines.join('\n')}\n`);
    await systemctl('daemon-reload');
  };
  const show = async (property: string, unit = SERVICE) =>
    (await systemctl('show', '--value', '-p', property, unit)).trim();
  /** Lines of `mosquitto_sub`, up to the first that matches this shell pattern. */
  const follow = async (last: string, words: readonly string[]): Promise<string[]> => {
    const { stdout } = await run(['sh', '-c', FOLLOW, 'sh', last, ...words]);
    return stdout.split('\n').filter((line) => line !== '');
  };
  const retainedOf = async (...topics: string[]): Promise<unknown[]> => {
    // The broker's version is always retained, and arrives after the topics that were subscribed before it.
    const marker = '$SYS/broker/version';
    const filters = [...topics.map((topic) => `${NAME}/${topic}`), marker].flatMap((topic) => ['-t', topic]);
    const lines = await follow(`${marker} *`, [...LOGIN, ...filters, '-v', '-W', '60']);
    return topics.map((topic) => {
      const found = lines.find((line) => line.startsWith(`${NAME}/${topic} `));
      return found === undefined ? null : JSON.parse(found.slice(found.indexOf(' ') + 1));
    });
  };
  const retained = async (topic: string): Promise<unknown> => (await retainedOf(topic))[0];
  const phase = async () => {
    const [status, state] = (await retainedOf('status', 'state')) as [
      { status: string; boot_id: string } | null,
      { boot_id: string; lanes?: { phase: string }[] } | null,
    ];
    const isThere = status?.boot_id === state?.boot_id && !GONE.includes(status?.status ?? '');
    return (isThere ? state?.lanes?.[0]?.phase : null) ?? null;
  };
  const processes = async (): Promise<Map<number, string>> => {
    const cgroup = await show('ControlGroup');
    return cgroup === '' ? new Map() : lastingProcesses(machine, cgroup);
  };
  const installOthers = async (
    broker: string,
    { emulator, ...backend }: { readonly emulator: string; readonly service: object },
  ): Promise<void> => {
    await write('/etc/mosquitto/conf.d/kiosk.conf', broker);
    await write('/etc/systemd/system/emulator.service', `${EMULATOR_UNIT} ${emulator}\n`);
    await write('/etc/dragoman-backend/config.json', JSON.stringify({ ...BACKEND_CONFIG, ...backend }));
    await systemctl('daemon-reload');
  };
  const restartOthers = async (): Promise<void> => {
    await run(['systemctl', 'kill', '--signal=SIGKILL', ...OTHERS]);
    await systemctl('restart', ...OTHERS);
    for (const [unit, words] of [
      [EMULATOR, '"listening":'],
      [BACKEND, 'listening for token requests'],
    ] as const)
      await until(`${unit} listens`, async () => {
        const invocation = await show('InvocationID', unit);
        const { stdout } = await run(['journalctl', '-o', 'cat', `_SYSTEMD_INVOCATION_ID=${invocation}`]);
        return stdout.includes(words);
      });
    isDisturbed = false;
  };
  return {
    machine,
    configure,
    configureAll,
    configureText,
    edit,
    async encrypt({ certificate, key }) {
      isDisturbed = true;
      isChanged = true;
      const files = `certfile ${certificate}\nkeyfile ${key}\n`;
      await installOthers(`${BROKER_CONFIG}listener 8883 127.0.0.1\n${files}`, {
        emulator: `--port 8443 --tls-cert ${certificate} --tls-key ${key}`,
        service: { ...serviceAt('127.0.0.1:8443', 's'), caFile: certificate },
      });
      await restartOthers();
      isDisturbed = true;
    },
    systemctl,
    show,
    retained,
    phase,
    async fault(order) {
      isDisturbed = true;
      const url = 'http://127.0.0.1:8080/emulator/faults';
      const script = `fetch('${url}', {method: 'POST', headers: {'content-type': 'application/json'}, body: process.argv[1]}).then((answer) => process.exit(answer.ok ? 0 : 1))`;
      await must(['/usr/bin/node', '-e', script, JSON.stringify(order)]);
    },
    async serve(options, backend = {}) {
      isChanged = true;
      const { emulator, service } = IN_CLEAR;
      await installOthers(BROKER_CONFIG, { emulator: `${emulator} ${options}`, service, ...backend });
      await restartOthers();
      isDisturbed = true;
    },
    async disturb(how, unit) {
      isDisturbed = true;
      await (how === 'stop' ? systemctl('stop', unit) : systemctl('kill', '--signal=SIGSTOP', unit));
    },
    async reset() {
      await run(['systemctl', 'kill', '--signal=SIGKILL', SERVICE]);
      await run(['systemctl', 'stop', SERVICE]);
      await run(['sh', '-c', 'umount /var/lib/dragoman; rm -rf /var/lib/dragoman']);
      await must(['rm', '-rf', DROP_INS]);
      await write(`${DROP_INS}/password.conf`, credential('dragoman'));
      await systemctl('daemon-reload');
      await run(['systemctl', 'reset-failed']);
      if (isChanged) await installOthers(BROKER_CONFIG, IN_CLEAR);
      isChanged = false;
      if (isDisturbed) await restartOthers();
      for (const topic of ['status', 'state'])
        await must(['mosquitto_pub', ...LOGIN, '-t', `${NAME}/${topic}`, '-r', '-n']);
      await configure(FILES);
      // Writes earlier messages to the journal first, so that they do not count as new.
      await must(['journalctl', '--sync']);
      since = `--since=@${(await must(['date', '+%s.%6N'])).trim()}`;
    },
    mainPid: async () => Number(await show('MainPID')),
    processes,
    async untilPrograms(...programs) {
      const wanted = programs.sort().join(' ');
      let found = new Map<number, string>();
      await until(`the unit runs: ${wanted}`, async () => {
        found = await processes();
        return [...found.values()].sort().join(' ') === wanted;
      });
      return found;
    },
    async stop(unit = SERVICE) {
      await systemctl('stop', unit);
      // systemd forgets an unreferenced unit that has ended successfully.
      await must(['journalctl', '--sync']);
      const saidAt = async (id: string): Promise<number> => {
        const matches = [`UNIT=${unit}`, `MESSAGE_ID=${id}`];
        const entry = JSON.parse(await must(['journalctl', '-o', 'json', since, '-n', '1', ...matches]));
        return Number(entry['_SOURCE_REALTIME_TIMESTAMP']) / 1000;
      };
      return (await saidAt(STOPPED)) - (await saidAt(STOPPING));
    },
    live: () => until('the lane is live', async () => (await phase()) === 'live'),
    untilStatus: async (text) =>
      void (await until(`the status contains "${text}"`, async () =>
        (await show('StatusText')).includes(text),
      )),
    async command(name, patienceS = 60) {
      const topic = `${NAME}/cmd/${name}`;
      const id = `test-${++commands}`;
      // Subscribes before the command, so that the broker queues all answers.
      const session = [...LOGIN, '-i', id, '-q', '1', '-t', `${topic}/res`];
      await must(['mosquitto_sub', ...session, '-c', '-E']);
      await must(['mosquitto_pub', ...LOGIN, '-q', '1', '-t', topic, '-s'], JSON.stringify({ id, args: {} }));
      const last = `*"id":"${id}"*"status":"[!a]*`;
      const answers = await follow(last, [...session, '-c', '-W', String(patienceS)]);
      await must(['mosquitto_sub', ...session, '-E']);
      return answers.map((line) => JSON.parse(line)).findLast((answer) => answer.id === id) ?? null;
    },
    async publish(topic, payload, how) {
      const words = ['mosquitto_pub', ...LOGIN, '-q', '1', '-t', `${NAME}/${topic}`];
      await must([...words, how === 'lines' ? '-l' : '-s'], payload);
    },
    async journal(priority) {
      const words = ['journalctl', '-o', 'cat', since, '-u', SERVICE];
      await must(['journalctl', '--sync']);
      return must([...words, ...(priority === undefined ? [] : ['-p', priority])]);
    },
    async lastWords() {
      const { stdout } = await run(['journalctl', '-o', 'short-precise', since, '-n', '60']);
      return `${machine.suite}\n${stdout}${(await run(['systemctl', 'status', '--no-pager', SERVICE])).stdout}`;
    },
  };
}

/** Pause between two questions (ms): each starts programs in the container, and tests that wait a minute would keep processors busy. */
const PAUSE_MS = { first: 100, longest: 500 };

/** Waits for a condition that must become true, even on a slow machine. */
export async function until(what: string, isSo: () => Promise<boolean>, limitMs = LIMIT_MS): Promise<number> {
  const startedAt = performance.now();
  for (let pauseMs = PAUSE_MS.first; !(await isSo()); pauseMs = Math.min(PAUSE_MS.longest, pauseMs * 1.2)) {
    if (performance.now() > startedAt + limitMs)
      throw new Error(`after ${limitMs / 1000} s still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return performance.now() - startedAt;
}
