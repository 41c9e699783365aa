import type { Clock } from '../../ports/clock.ts';
import type { OpenKeyDevice } from '../../ports/keys.ts';
import { jsonLine } from '../../protocol/common/plain-text.ts';
import { keyName } from '../../protocol/key-names.ts';

/** Interval of the search for new input devices (ms). */
const LOOK_EACH_MS = 1000;

export interface ShowKeysDeps {
  readonly clock: Clock;
  readonly openKeyDevice: OpenKeyDevice;
  readonly isJson: boolean;
  listDevices(): Promise<readonly string[]>;
  print(text: string): void;
  complain(text: string): void;
}

/** Shows each pressed key of every input device, as an entry of `keys`, until `askedToEnd`. */
export async function showKeys(deps: ShowKeysDeps, askedToEnd: Promise<void>): Promise<void> {
  const { clock, isJson, print, complain } = deps;
  const devices = new Map<string, { close(): void }>();
  let isOver = false;
  let cancel = (): void => {};

  const show = (device: string, code: number): void => {
    const key = keyName(code);
    if (isJson) return print(jsonLine({ device, key, code }));
    if (key === null) return print(`A key of ${device} has no name (code ${code}) and cannot be bound.\n`);
    print(`${entryOf(device, key)},\n`);
  };
  const read = (device: string): void => {
    let lastProblem = '';
    const reader = deps.openKeyDevice(device, {
      changed: ({ code, isDown }) => void (isDown && !isOver && show(device, code)),
      opened: () => {},
      lost(problem) {
        if (lastProblem === problem || isOver) return;
        lastProblem = problem;
        complain(`${device}: ${problem}.\n`);
      },
    });
    devices.set(device, reader);
  };
  const look = async (): Promise<void> => {
    const inputDevices = await deps.listDevices();
    if (isOver) return;
    for (const device of inputDevices) if (!devices.has(device)) read(device);
    cancel = clock.at(clock.now() + LOOK_EACH_MS, () => void look());
  };

  await look();
  if (devices.size === 0) complain('There is no input device yet. Plug one in.\n');
  await askedToEnd;
  isOver = true;
  cancel();
  for (const device of devices.values()) device.close();
}

/** An entry of `keys`; its command is an example. */
function entryOf(device: string, key: string): string {
  const [path, name] = [JSON.stringify(device), JSON.stringify(key)];
  return `{ "device": ${path}, "key": ${name}, "on": "press", "do": { "command": "languages", "args": { "step": 1 } } }`;
}
